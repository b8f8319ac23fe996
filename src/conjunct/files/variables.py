"""Files that say which columns are values of one variable."""

from __future__ import annotations

import msgspec

from conjunct.data import check_variables
from conjunct.errors import InputError
from conjunct.files.raw import StrPath, filled_file


def read_variables(path: StrPath) -> dict[str, list[str]]:
    """Read variables with their columns from a JSON object: ``{"colour": ["red", "blue"]}``."""
    file = filled_file(path, "a JSON object of variables with lists of their columns")
    try:
        variables = msgspec.json.decode(file.read_bytes(), type=dict[str, list[str]])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(
            f"{path}: not a JSON object of variables with lists of their columns ({error})"
        ) from None
    check_variables(variables)
    return variables
