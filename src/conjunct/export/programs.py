"""Write features as programs: the source of a Python function, and an ONNX graph.

The function needs only Python, and the graph needs no Python. In the graph, true is 1, false is 0
and a conjunction is ``max(a − (1 − b), 0)``. It uses only Gather, Sub, Relu and Concat, which even
programs with little ONNX support, such as orbital, can read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, Protocol

from conjunct.errors import InputError
from conjunct.export.formulas import NO, YES, Check, Flag, HasTag, OneOf, PartOneOf, write_formulas
from conjunct.expressions import Expression

if TYPE_CHECKING:
    import onnx

_HEAD = '''\
"""Features constructed by conjunct. This file needs only Python."""


def features(row):
    """Return the features of one row, by name: True, False, or None if a missing cell decides.

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

# the checks of raw columns; an unknown word matches none of the words of a check
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
    except OverflowError:  # an integer too large for a float
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
    """Write a function ``features(row)`` from a mapping of columns to a mapping of features.

    Each part of a formula is computed once. Names appear only as string literals. With ``cut``,
    larger values are true. With ``raw``, the columns are those of a raw table, with a check for
    each primitive. With ``fill``, missing cells are false.
    """
    target = _Function(raw, fill)
    written = dict(zip(features, write_formulas(features.values(), target), strict=True))
    values = "True and False, or 1 and 0" if cut is None else f"numbers, true above {cut!r}"
    truth = _BOOLEAN if cut is None else f"    return float(value) > {cut!r}\n"
    tail = _TRUTH.replace("{truth}", truth)
    if raw is not None:
        values = "the values of the training table"
        tail = _RAW.replace("{words}", repr((*NO, *YES))).replace("{yes}", repr(YES))
    returned = [f"        {name!r}: {value}," for name, value in written.items()]
    body = "\n".join([*target.lines, "    return {", *returned, "    }", ""])
    return _HEAD.replace("{values}", values) + body + tail + _TAIL + _COUNTS * target.has_counts


class _Function:
    """A target that writes the lines of a function, with a variable for each part of a formula."""

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


OPSET, ML_OPSET, IR_VERSION = 17, 3, 8
"""Versions that runtimes since 2022 can read."""

_FLOAT, _DOUBLE, _INT64 = 1, 11, 7
_ML = "ai.onnx.ml"


class Graph(Protocol):
    """A graph that accepts new nodes."""

    def node(self, operator: str, inputs: Sequence[str], **attributes: Any) -> str:
        """Add a node; return the name of its output."""

    def constant(self, kind: int, values: Sequence[float]) -> str:
        """Add a one-dimensional constant; return its name."""


def to_onnx(
    features: Mapping[str, Expression],
    columns: Sequence[str],
    *,
    cut: float | None = None,
    fill: bool = False,
) -> onnx.ModelProto:
    """Build a model with an input ``columns`` and an output ``features``.

    Both hold 0 and 1 as 32-bit floats. With ``cut`` the input holds 64-bit floats, and larger ones
    are true. With ``fill`` NaN is false; otherwise the input must not contain NaN. The metadata has
    the names of columns and features as JSON.
    """
    import onnx
    from onnx import TensorProto, helper

    graph = _NewGraph(helper)
    columns_of_features(list(features.values()), columns, "columns", graph, cut=cut, fill=fill)
    # the last node concatenates all features
    graph.nodes[-1].output[0] = "features"
    kind = TensorProto.FLOAT if cut is None else TensorProto.DOUBLE
    body = helper.make_graph(
        graph.nodes,
        "conjunct",
        [helper.make_tensor_value_info("columns", kind, [None, len(columns)])],
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, [None, len(features)])],
        graph.constants,
    )
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(_ML, ML_OPSET)]
    model = helper.make_model(body, opset_imports=opsets, producer_name="conjunct")
    model.ir_version = IR_VERSION
    names = {"columns": [*columns], "features": [*features]}
    # as ASCII: protobuf has no lone surrogates
    helper.set_model_props(model, {key: json.dumps(value) for key, value in names.items()})
    onnx.checker.check_model(model)
    return model


def columns_of_features(
    features: Sequence[Expression],
    columns: Sequence[str],
    source: str,
    graph: Graph,
    *,
    cut: float | None = None,
    fill: bool = False,
) -> str:
    """Add the nodes that compute features from a tensor; return the name of their tensor."""
    target = _Nodes(graph, source, columns)
    if cut is not None:
        above = graph.node("Greater", [source, graph.constant(_DOUBLE, [cut])])
        target.source = graph.node("Cast", [above], to=_FLOAT)
    elif fill:
        filled = {"imputed_value_floats": [0.0], "replaced_value_float": float("nan")}
        target.source = graph.node("Imputer", [source], domain=_ML, **filled)
    return graph.node("Concat", write_formulas(features, target), axis=1)


class _Nodes:
    """A target that adds nodes to a graph on the tensor ``source``; values are single columns."""

    def __init__(self, graph: Graph, source: str, columns: Sequence[str]) -> None:
        self.graph, self.source = graph, source
        self.position = {name: k for k, name in enumerate(columns)}
        self.one = graph.constant(_FLOAT, [1.0])
        self.opposite: dict[str, str] = {}

    def _subtract(self, value: str, other: str) -> str:
        return self.graph.node("Sub", [value, other])

    def _excess(self, value: str, other: str) -> str:
        """Write ``max(value − other, 0)``."""
        return self.graph.node("Relu", [self._subtract(value, other)])

    def _gather(self, position: int) -> str:
        index = self.graph.constant(_INT64, [position])
        return self.graph.node("Gather", [self.source, index], axis=1)

    def primitive(self, name: str) -> str:
        return self._gather(self.position[name])

    def constant(self, value: bool) -> str:
        column = self._gather(0)  # for the number of rows
        false = self._subtract(column, column)
        return self.negate(false) if value else false

    def negate(self, value: str) -> str:
        if value not in self.opposite:
            self.opposite[value] = negated = self._subtract(self.one, value)
            self.opposite[negated] = value
        return self.opposite[value]

    def join(self, values: Sequence[str], *, is_or: bool) -> str:
        if is_or:
            return self.negate(self.join([*map(self.negate, values)], is_or=False))
        return reduce(lambda both, value: self._excess(both, self.negate(value)), values)

    def count(self, values: Sequence[str], least: int, most: int) -> str:
        # a − (1 − b) is one less than a + b
        total = reduce(lambda sum_, value: self._subtract(sum_, self.negate(value)), values)

        def at_least(number: int) -> str:
            # for whole numbers: max(x − m + 1, 0) − max(x − m, 0)
            limits = (number - len(values), number - len(values) + 1)
            over = [self.graph.constant(_FLOAT, [float(limit)]) for limit in limits]
            return self._subtract(*(self._excess(total, limit) for limit in over))

        if most >= len(values):
            return at_least(least)
        return self._subtract(at_least(least), at_least(most + 1))


def check_exportable(*, is_raw: bool, has_missing: bool) -> None:
    """Refuse models whose rows a tensor of 0 and 1 cannot hold."""
    if is_raw:
        raise InputError(
            "ONNX needs Boolean columns, but this model reads raw ones: make them Boolean with a "
            "Binarizer, and fit on its output"
        )
    if has_missing:
        raise InputError(
            "ONNX has no missing cells, but this model uses missing='pairwise': fit with "
            "missing='false' or 'raise', or export as SQL, Polars or Python"
        )


class _NewGraph:
    """The nodes and constants of a new model."""

    def __init__(self, helper: Any) -> None:
        self.helper = helper
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def node(self, operator: str, inputs: Sequence[str], **attributes: Any) -> str:
        name = f"n{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(operator, inputs, [name], **attributes))
        return name

    def constant(self, kind: int, values: Sequence[float]) -> str:
        name = f"k{len(self.constants)}"
        self.constants.append(self.helper.make_tensor(name, kind, [len(values)], values))
        return name
