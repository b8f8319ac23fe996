"""The errors and warnings of conjunct.

A message is one line that says what is wrong, where, and what to do about it.
"""


def one_line(text: str) -> str:
    """Return a text with control characters escaped: a file may hold any."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


class ConjunctError(Exception):
    """Base of every error that conjunct raises on purpose."""


class InputError(ConjunctError, ValueError):
    """The data or an option cannot be used as given."""


class CellError(InputError):
    """One cell of a table cannot be used. Readers of files add the file and the line to it."""

    def __init__(self, column: str, row: int, value: object, problem: str, advice: str) -> None:
        super().__init__(column, row, value, problem, advice)
        self.column = column
        self.row = row
        self.value = value
        self.problem = problem
        self.advice = advice

    def __str__(self) -> str:
        return f"column {self.column!r}, row {self.row}: {self.problem}; {self.advice}"


class ModelFileError(InputError):
    """A model file is damaged, of another version, or not a model file at all."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class ClusterError(ConjunctError, RuntimeError):
    """A cluster was lost, or stalls."""


class ConjunctWarning(UserWarning):
    """The result is valid, but probably not what the user intended."""
