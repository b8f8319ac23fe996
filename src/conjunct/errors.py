"""What conjunct raises and warns of.

A message is one line that says what is wrong, where, and what to do about it.
"""


class ConjunctError(Exception):
    """Base of every error that conjunct raises on purpose."""


class InputError(ConjunctError, ValueError):
    """The data or an option cannot be used as given."""


class ModelFileError(InputError):
    """A model file is damaged, of another version, or not a model file at all."""


class ConjunctWarning(UserWarning):
    """The result is right, but probably not what was hoped for."""
