"""The errors and warnings of conjunct, each with a message of one line."""


def one_line(text: str) -> str:
    """Escape control characters, because text from files may contain them."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


class ConjunctError(Exception):
    """Base of all errors that conjunct raises on purpose.

    Examples
    --------
    >>> from conjunct import UFC, ConjunctError
    >>> try:
    ...     UFC(max_iter=-1).fit([[True, False], [False, True]])
    ... except ConjunctError as error:
    ...     print(error)
    max_iter must be None or a whole number, at least 0; got -1
    """


class InputError(ConjunctError, ValueError):
    """The data or an option is invalid.

    Examples
    --------
    >>> from conjunct import UFC
    >>> UFC(max_iter=-1).fit([[True, False], [False, True]])
    Traceback (most recent call last):
    conjunct.errors.InputError: max_iter must be None or a whole number, at least 0; got -1
    """


class CellError(InputError):
    """A cell of a table is invalid. Readers of files add the file and the line.

    Examples
    --------
    >>> from conjunct import UFC, CellError
    >>> try:
    ...     UFC().fit([[1, 0], [0, 2]])
    ... except CellError as error:
    ...     print(error.column, error.row, error.problem)
    x1 1 2 is not Boolean
    """

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
    """A model file is damaged, has another version, or is not a model file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from conjunct import UFC, ModelFileError
    >>> _ = Path("model.json").write_text("[]")
    >>> try:
    ...     UFC.load("model.json")
    ... except ModelFileError as error:
    ...     print(error)
    model.json: not a conjunct model file (Expected `object`, got `array`)
    """

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class ClusterError(ConjunctError, RuntimeError):
    """A cluster was lost or has stalled.

    Examples
    --------
    >>> from conjunct import ClusterError
    >>> try:
    ...     raise ClusterError("the Dask scheduler at tcp://node1:8786 has no workers left")
    ... except RuntimeError as error:
    ...     print(error)
    the Dask scheduler at tcp://node1:8786 has no workers left
    """


class ConjunctWarning(UserWarning):
    """The result is valid, but probably not what the user intended.

    Examples
    --------
    >>> import warnings
    >>> from conjunct import UFC, ConjunctWarning
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", ConjunctWarning)
    ...     model = UFC().fit([[True, False], [False, True]])
    >>> print(caught[0].message)
    No chunk was found: no row has two of the columns that vary between the rows.
    """
