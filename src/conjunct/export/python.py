"""Features as the source of a Python function that needs nothing but Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conjunct.export.raw import NO, YES, Check, Flag, HasTag, OneOf, PartOneOf
from conjunct.export.steps import write_formulas
from conjunct.expressions import Expression

_HEAD = '''\
"""Features constructed by conjunct. This file needs nothing but Python."""


def features(row):
    """The features of one row, by name: True, False, or None where a missing cell decides.

    ``row`` maps the names of the columns to {values}.
    A missing cell is None or NaN.
    """
'''

_TRUTH = """

def _truth(row, name):
    value = row[name]
    if value is None or value != value:
        return None
{truth}"""

_TAIL = """

def _not(value):
    return None if value is None else not value


def _and(*values):
    return False if False in values else None if None in values else True


def _or(*values):
    return True if True in values else None if None in values else False
"""

_COUNTS = """

def _at_least(number, *values):
    if values.count(True) >= number:
        return True
    return None if len(values) - values.count(False) >= number else False


def _exactly(number, *values):
    return _and(_at_least(number, *values), _not(_at_least(number + 1, *values)))
"""

# every check of a raw column; an unknown word is none of those asked for
_RAW = """

def _cell(row, name):
    value = row[name]
    return None if value is None or value != value else value


def _text(row, name):
    value = _cell(row, name)
    if value is None or isinstance(value, str):
        return (value or "").strip() or None
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
        return "true" if value else "false"
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e16 else repr(number)


def _number(row, name):
    value = _cell(row, name)
    text = value.strip() if isinstance(value, str) else value
    if isinstance(text, str) and ("_" in text or not text.isascii()):
        return text  # float would read 1_000
    try:
        number = None if text is None or text == "" else float(text)
    except ValueError:
        return text
    except OverflowError:  # a whole number beyond all floats
        number = float("inf") if text > 0 else -float("inf")
    return None if number != number else number


def _flag(row, name):
    word = _text(row, name)
    if word is None:
        return None
    if word.casefold() in {words}:
        return word.casefold() in {yes}
    number = _number(row, name)
    if number not in (0, 1, None):
        raise ValueError(f"{name!r}: {word!r} is not Boolean")
    return None if number is None else number == 1


def _one_of(value, words):
    return None if value is None else value in words


def _between(value, low, high):
    if value is None:
        return None
    if isinstance(value, str):
        raise ValueError(f"{value!r} is not a number")
    return (low is None or value >= low) and (high is None or value < high)


def _date(row, name, part):
    value = _cell(row, name)
    if value is None:
        return None
    if part == "weekday":
        return value.isoweekday()
    return getattr(value, part, 0) if part == "hour" else getattr(value, part)


def _digits(row, name, part):
    number = _number(row, name)
    if number is None:
        return None
    import datetime

    return _date({name: datetime.datetime.strptime(str(int(number)), "%Y%m%d")}, name, part)


def _has_tag(row, name, tag, separator):
    value = row[name]
    if isinstance(value, str) and separator == "[]":
        import json

        try:
            value = json.loads(value)
        except ValueError:  # as Python writes lists
            parts = value.strip().removeprefix("[").removesuffix("]").split(",")
            value = [part.strip().strip("'\\"") for part in parts]
    elif isinstance(value, str):
        value = [value] if separator is None else value.split(separator)
    elif value is None or not hasattr(value, "__iter__"):
        return False
    return tag in [_text({0: item}, 0) for item in value]
"""

_BOOLEAN = """\
    if value not in (0, 1):
        raise ValueError(f"{name!r}: {value!r} is not Boolean")
    return bool(value)
"""


def to_python(
    features: Mapping[str, Expression],
    *,
    cut: float | None = None,
    raw: Mapping[str, Check] | None = None,
    fill: bool = False,
) -> str:
    """Write a function ``features(row)`` from a mapping of columns to one of features.

    Each part of a formula is computed once, however often it occurs. Names appear as string
    literals only. With ``cut``, values above it are true; with ``raw``, the columns are those of a
    raw table, with a check for each primitive; with ``fill``, missing cells are false.
    """
    target = _Function(raw, fill)
    written = write_formulas(features.values(), target)
    values = "True and False, or 1 and 0" if cut is None else f"numbers, true above {cut!r}"
    truth = _BOOLEAN if cut is None else f"    return float(value) > {cut!r}\n"
    tail = _TRUTH.replace("{truth}", truth)
    if raw is not None:
        values = "what the table that the model was fitted on holds"
        tail = _RAW.replace("{words}", repr((*NO, *YES))).replace("{yes}", repr(YES))
    returned = [
        f"        {name!r}: {value}," for name, value in zip(features, written, strict=True)
    ]
    body = "\n".join([*target.lines, "    return {", *returned, "    }", ""])
    return _HEAD.replace("{values}", values) + body + tail + _TAIL + _COUNTS * target.has_counts


class _Function:
    """The lines of a function: each part of a formula is a variable."""

    def __init__(self, raw: Mapping[str, Check] | None, fill: bool) -> None:
        self.raw, self.fill = raw, fill
        self.lines: list[str] = []
        self.has_counts = False

    def _assign(self, code: str) -> str:
        name = f"v{len(self.lines)}"
        self.lines.append(f"    {name} = {code}")
        return name

    def primitive(self, name: str) -> str:
        code = f"_truth(row, {name!r})" if self.raw is None else _write_check(self.raw[name])
        return self._assign(f"bool({code})" if self.fill else code)

    def constant(self, value: bool) -> str:
        return self._assign(repr(value))

    def negate(self, value: str) -> str:
        return self._assign(f"_not({value})")

    def join(self, values: Sequence[str], *, is_or: bool) -> str:
        return self._assign(f"{'_or' if is_or else '_and'}({', '.join(values)})")

    def count(self, values: Sequence[str], least: int, most: int) -> str:
        self.has_counts = True
        call = "_at_least" if most >= len(values) else "_exactly"
        return self._assign(f"{call}({least}, {', '.join(values)})")


def _write_check(check: Check) -> str:
    if isinstance(check, Flag):
        return f"_flag(row, {check.column!r})"
    if isinstance(check, OneOf):
        if check.are_numbers:
            numbers = "".join(f"float({word!r}), " for word in check.words)
            return f"_one_of(_number(row, {check.column!r}), ({numbers}))"
        return f"_one_of(_text(row, {check.column!r}), {check.words!r})"
    if isinstance(check, HasTag):
        return f"_has_tag(row, {check.column!r}, {check.tag!r}, {check.separator!r})"
    value = f"_number(row, {check.column!r})"
    if check.part is not None:
        read = "_digits" if check.are_digits else "_date"
        value = f"{read}(row, {check.column!r}, {check.part!r})"
    if isinstance(check, PartOneOf):
        return f"_one_of({value}, {check.numbers!r})"
    return f"_between({value}, {check.low!r}, {check.high!r})"
