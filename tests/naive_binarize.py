"""What the name of a feature says, read as a person would; imports nothing from conjunct."""

import re


def says(name, column, value):
    """Whether a feature called ``name`` of a column is true for a value; None if it is missing."""
    if value is None or value != value:
        return None
    if name == column:
        return str(value).strip().lower() in ("1", "1.0", "true", "t", "yes", "y", "on", "present")
    rest = name.removeprefix(column)
    interval = re.fullmatch(r" in \[(.+), (.+)\)", rest)
    if interval:
        return float(interval[1]) <= value < float(interval[2])
    if rest.startswith(" < "):
        return value < float(rest[3:])
    if rest.startswith(" ≥ "):
        return value >= float(rest[3:])
    word = rest.removeprefix(" = ")
    try:
        return float(value) == float(word)
    except ValueError:
        return str(value).strip() == word
