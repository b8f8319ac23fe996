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


def amount(word):
    """The number that a person reads, sign by sign; None if it is none."""
    try:
        if "_" not in word and word.isascii():
            return float(word)
    except ValueError:
        pass
    sign = word[:1] if word[:1] in ("+", "-") else ""
    rest = word[len(sign) :]
    before = rest[:1] in ("$", "€")
    rest = rest[before:].removeprefix(" ") if before else rest
    for unit in ("%", "$", "€"):
        if rest.endswith(unit):
            rest = rest[:-1].removesuffix(" ")
            break
    factor = {"k": 1e3, "K": 1e3, "M": 1e6}.get(rest[-1:])
    rest = rest if factor is None else rest[:-1]
    mantissa, e, power = rest.lower().partition("e")
    if e and not re.fullmatch(r"[+-]?[0-9]+", power):
        return None
    whole, _, part = mantissa.partition(".")
    groups = whole.split(",")
    if len(groups) > 1 and not (1 <= len(groups[0]) <= 3 and all(len(g) == 3 for g in groups[1:])):
        return None
    digits = "".join(groups) + part
    if not digits or any(c not in "0123456789" for c in digits):
        return None
    return float(f"{sign}{''.join(groups) or 0}.{part or 0}{e}{power}") * (factor or 1)
