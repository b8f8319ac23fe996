"""The model file: versioned JSON, never pickle. docs/export.md describes its fields.

A file holds only sources: columns, merges, counts and settings. Reading checks their types and
ranges, and computes everything else by the code of a fit.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby, islice
from math import nan
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
import numpy as np

from conjunct.data import Binarizer, BinarizerRecord, Preparation, TagCleaner, TagsRecord
from conjunct.errors import InputError, ModelFileError
from conjunct.features import (
    CodeCounts,
    FeatureSet,
    Lineage,
    Made,
    SuggestionsRecord,
    Tally,
    complexity,
    mean_length_of,
    rms,
)
from conjunct.files.writing import write_atomically
from conjunct.ufc import (
    MOST_ROWS,
    Ending,
    Indicators,
    JoinedPair,
    Plan,
    Rows,
    Run,
    SourceError,
    Sources,
    Stop,
    Test,
    check_source,
    list_pairs,
    list_tests,
    restore_run,
)

FORMAT = "conjunct-model"
VERSION = 3
CLASSIFIER_FORMAT = "conjunct-classifier"
CLASSIFIER_VERSION = 2
GROUPS_FORMAT = "conjunct-groups"
GROUPS_VERSION = 1
UNDECODABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)

LARGEST = 1 << 28
"""Maximum bytes of a model file. Other files may be endless, such as /dev/zero."""

# Every feature may double a length, so a small file could require huge numbers.
_LONGEST = 1 << 4096
T = TypeVar("T", bound=msgspec.Struct)
FourCounts = tuple[Rows, Rows, Rows, Rows]
Probability = Annotated[float, msgspec.Meta(ge=0, le=1)]
Length = Annotated[float, msgspec.Meta(ge=0, le=1e18)]
# without the line ends of `str.splitlines` and the control characters of terminals
OneLine = Annotated[str, msgspec.Meta(pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*\Z")]
Literal = Annotated[int, msgspec.Meta(ge=-(1 << 31), lt=1 << 31)]
Setting = str | Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)] | float | bool | None


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A part of a file."""


class AddedFeature(Record, frozen=True):
    """An added feature: a conjunction of two literals, or a count of several."""

    literals: list[Literal]
    support: Rows
    # at least, or exactly, this number of literals must be true
    number: Rows | None = None
    exactly: bool = False

    def made(self) -> Made:
        """Return the parts of the feature."""
        n_literals = len(self.literals)
        if self.number is None:
            check_source(
                n_literals == 2 and not self.exactly, "a conjunction does not have two literals"
            )
            return self.literals[0], self.literals[1]
        check_source(n_literals >= 2, "a count has fewer than two literals")
        check_source(len(set(self.literals)) == n_literals, "a literal is counted twice")
        in_range = (0 if self.exactly else 1) <= self.number <= n_literals
        check_source(in_range, "the threshold of a count is out of range")
        return Tally(tuple(self.literals), self.number, self.exactly)


class CodeRecord(Record, frozen=True):
    """Counts of the complete code in the training rows that do not follow from supports.

    A place is the rest of a primitive, or of a merge's feature, after all merges.
    """

    # for each place, rows that ask for it and in which no other value of its variable is true
    asked: list[Rows]
    # with variables: rows in which another value is true, and rows in which both are true
    beside: list[tuple[Rows, Rows]] = []
    # the same for columns, without any merges
    columns_beside: list[tuple[Rows, Rows]] = []


class NewRows(Record, frozen=True):
    """The number of rows counted since the fit, and the four counts of ``CodeCounts`` in them."""

    n_rows: Annotated[int, msgspec.Meta(ge=1, le=MOST_ROWS)]
    features: list[FourCounts]
    columns: list[FourCounts]
    patterns: list[FourCounts]

    @classmethod
    def after(cls, earlier: NewRows | None, n_rows: int, counts: CodeCounts) -> NewRows:
        """Add rows to the earlier ones."""
        if earlier is not None:
            n_rows, counts = n_rows + earlier.n_rows, counts.plus(earlier.counts())
        return cls(n_rows, *([tuple(line) for line in part.T.tolist()] for part in counts))

    def counts(self) -> CodeCounts:
        lines = (self.features, self.columns, self.patterns)
        return CodeCounts(*(np.array(some, np.int64).reshape(-1, 4).T for some in lines))


class ModelFile(Record, frozen=True, kw_only=True):
    """The content of a model file, in the order of its fields."""

    format: str
    version: int
    kind: str
    parameters: dict[str, Setting | dict[str, Setting | list[str]]]
    n_rows: Annotated[int, msgspec.Meta(ge=1, le=MOST_ROWS)]
    n_distinct_rows: Annotated[int, msgspec.Meta(ge=1, le=MOST_ROWS)]
    # rows in which no column is true, if the paper's feature "null" is counted
    null_rows: Rows | None = None
    # names, or the number of columns if the data had no names
    columns: list[str] | Annotated[int, msgspec.Meta(ge=1, lt=1 << 31)]
    # rows in which each column is true
    supports: list[Rows]
    # rows in which each column is known, if cells were missing
    known: list[Rows] | None = None
    # the variable of each column, null for a plain tag; empty without variables
    variables: list[str | None] = []
    # pairs tested in each iteration, and the number of significant ones if that decides
    tests: list[Test] = []
    # the pairs that each iteration replaced
    merges: list[list[JoinedPair]] = []
    # features added in each iteration, if nothing is replaced, and columns that are not features
    added: list[list[AddedFeature]] = []
    dropped: list[Rows] = []
    ending: Ending = Ending()
    code: CodeRecord | None = None
    new_rows: NewRows | None = None
    binarizer: BinarizerRecord | None = None
    tags: TagsRecord | None = None
    # how often tags occur together, and how to compute scores from that
    suggestions: SuggestionsRecord | None = None

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        if isinstance(self.columns, list):
            return self.columns
        check_source(
            self.columns == len(self.supports), "the numbers of supports and columns differ"
        )
        return [f"x{k}" for k in range(self.columns)]

    def restore(
        self,
        plan: Plan,
        stop: Stop,
        ending: Ending,
        *,
        max_iter: int | None = None,
        max_features: int | None = None,
        min_support: float | None = None,
    ) -> Run:
        """Restore the run from the file."""
        check_source(not self.added and not self.dropped, "this kind of model cannot add features")
        self._check()
        has_null = self.null_rows is not None
        check_source(
            has_null == stop.counts_null, "its null feature does not match its stopping rule"
        )
        sources = Sources(
            self.names,
            self.n_rows,
            lambda: self.n_distinct_rows,
            self.null_rows,
            self.supports,
            self.known,
            self.tests,
            self.merges,
        )
        bounds: dict[str, Any] = {"max_iter": max_iter, "max_features": max_features}
        run, replay = restore_run(sources, plan, stop, ending, **bounds, variables=self.variables)
        check_source(run.ending == ending, "its stop reason does not match its merges")
        n_merges = len(run.feature_set.merges)
        check_source(replay.pattern_tables.shape[1] == n_merges, "counts of patterns are missing")
        fitted = run.feature_set
        if min_support is not None:
            fitted = fitted.without_rare(min_support)
        counts = self._restore_code(fitted, replay.places(fitted), replay.pattern_tables)
        return replace(run, feature_set=replace(fitted, code_counts=counts))

    def _restore_code(self, fitted: FeatureSet, places: Sequence[int], patterns: Any) -> CodeCounts:
        """Return the counts of the complete code, some of which are supports."""
        code, m = self.code, len(self.supports)
        if code is None:
            check_source(self.new_rows is None, "it has new rows but no code")
            return CodeCounts(np.zeros((4, 0), np.int64), np.zeros((4, 0), np.int64), patterns)
        n_places = m + len(fitted.merges)
        sizes = (len(code.asked), len(code.beside), len(code.columns_beside))
        expected = (n_places, n_places, m) if self.variables else (n_places, 0, 0)
        check_source(sizes == expected, "its code does not match its features")
        supports = np.zeros(n_places, np.int64)
        supports[list(places)] = fitted.supports + fitted.suppressed_supports
        known = [self.n_rows] * m if self.known is None else self.known
        columns = np.array(known, np.int64), np.array(self.supports, np.int64)
        features = np.array(code.asked, np.int64), supports
        given = (code.beside, n_places), (code.columns_beside, m)
        other = [np.array(pairs or [(0, 0)] * n, np.int64).reshape(-1, 2).T for pairs, n in given]
        # a column is asked for in all rows in which it is known, with one of two probabilities
        counted = CodeCounts(
            np.stack([features[0], features[1] - other[0][1], *other[0]]),
            np.stack([columns[0] - other[1][0], columns[1] - other[1][1], *other[1]]),
            patterns,
        )
        _check_counts(counted, self.n_rows)
        if self.new_rows is not None:
            new = self.new_rows.counts()
            same = [part.shape for part in new] == [part.shape for part in counted]
            check_source(same, "its new rows do not match its features")
            _check_counts(new, self.new_rows.n_rows)
        return counted

    def restore_growth(self) -> tuple[FeatureSet, tuple[Indicators, ...]]:
        """Restore the features and the history of an algorithm that only adds features."""
        has_merges = self.merges or self.tests or self.known is not None or self.variables
        more = self.code, self.new_rows, self.null_rows, self.suggestions
        has_more = any(more) or self.ending != Ending()
        check_source(not has_merges and not has_more, "this kind of model cannot have merges")
        self._check()
        check_source(all(s <= self.n_rows for s in self.supports), "a support is out of range")
        dropped = set(self.dropped)
        is_right = sorted(dropped) == self.dropped and max(dropped, default=0) < len(self.names)
        check_source(is_right, "a dropped column does not exist")
        lineage, supports = Lineage(self.names), list(self.supports)
        features = [k for k in range(len(supports)) if k not in dropped]
        check_source(bool(features), "it has no features")
        total, length = sum(supports[k] for k in features), len(features)
        iterations: list[int] = []
        history = [self._indicators(0, len(features), length, total)]
        for iteration, some in enumerate(self.added, start=1):
            n_before = len(lineage)
            check_source(bool(some), "an iteration adds nothing")
            for added in some:
                parts = added.literals
                in_range = all(-n_before <= x < n_before for x in parts)
                check_source(in_range, "a feature refers to later ones")
                check_source(added.support <= self.n_rows, "a support is out of range")
                made = added.made()
                rows = [supports[x] if x >= 0 else self.n_rows - supports[~x] for x in parts]
                fits = added.number is not None or added.support <= min(rows)
                check_source(fits, "a feature has more rows than one of its parts")
                number = lineage.make(made)
                check_source(number == len(supports), "a feature occurs twice")
                check_source(lineage.length(number) <= _LONGEST, "a formula is too long")
                supports.append(added.support)
                features.append(number)
                iterations.append(iteration)
                total, length = total + added.support, length + lineage.length(number)
            history.append(self._indicators(iteration, len(features), length, total))
        fitted = FeatureSet(
            lineage,
            tuple(features),
            tuple(supports[number] for number in features),
            self.n_rows,
            tuple(iterations),
            primitive_supports=tuple(self.supports),
        )
        return fitted, tuple(history)

    def _indicators(self, iteration: int, n_features: int, length: int, total: int) -> Indicators:
        oi = 0.0
        if n_features > 1:
            oi = (total - self.n_rows) / (self.n_rows * (n_features - 1))
        c0, m = nan, len(self.supports)
        if self.n_distinct_rows > m:
            c0 = complexity(n_features, m, self.n_distinct_rows)
        return Indicators(
            iteration, n_features, mean_length_of(length, n_features), oi, c0, rms(oi, c0)
        )

    def _check(self) -> None:
        check_source(self.n_distinct_rows <= self.n_rows, "it has more distinct rows than rows")
        n_columns = len(self.names)
        same = n_columns == len(self.supports) >= 1
        check_source(same, "the numbers of supports and columns differ")
        check_source(len(set(self.names)) == n_columns, "two columns have the same name")
        same = len(self.variables) in (0, len(self.supports))
        check_source(same, "the numbers of variables and columns differ")
        sizes = Counter(variable for variable in self.variables if variable is not None)
        check_source(all(size > 1 for size in sizes.values()), "a variable has only one column")
        check_source(not self.variables or bool(sizes), "no column has a variable")

    def preparation(self) -> Preparation:
        """Return the steps from raw data to columns, after checking that they fit."""
        binarizer, cleaner = None, None
        if self.binarizer is not None:
            binarizer = Binarizer.from_record(self.binarizer)
            made = binarizer.get_feature_names_out().tolist()
            check_source(made == self.names, "its binarizer does not match its columns")
        if self.tags is not None:
            cleaner = TagCleaner.from_record(self.tags)
            known = set(cleaner.mapping_.values())
            check_source(set(self.names) <= known, "it has tags without a column")
        return Preparation(binarizer, cleaner)


def _check_counts(counts: CodeCounts, n_rows: int) -> None:
    """Check that counts of the code are possible in this number of rows."""
    for n, k, n_other, k_other in (counts.features, counts.columns):
        holds = (k >= 0) & (k <= n) & (k_other <= n_other) & (n + n_other <= n_rows)
        check_source(bool(holds.all()), "a count of its code is out of range")
    n, left, right, both = counts.patterns
    holds = (both <= np.minimum(left, right)) & (left + right - both <= n) & (n <= n_rows)
    check_source(bool(holds.all()), "a count of its patterns is out of range")


def model_file(
    kind: str,
    parameters: dict[str, Any],
    feature_set: FeatureSet,
    plan: Plan | None,
    *,
    n_distinct_rows: int,
    null_rows: int | None,
    named: bool,
    ending: Ending,
    preparation: Preparation,
    new_rows: NewRows | None = None,
) -> ModelFile:
    """Describe a fitted model. Without a plan, it is of a kind that only adds features."""
    binarizer, cleaner = preparation.binarizer, preparation.cleaner
    names, counts = list(feature_set.lineage.primitives), feature_set.lineage_counts
    parts: dict[str, Any] = {}
    if plan is None:
        supports = dict(zip(feature_set.features, feature_set.supports, strict=True))
        made = zip(feature_set.iterations, feature_set.lineage.made, strict=True)
        added: dict[int, list[AddedFeature]] = {}
        for number, (iteration, each) in enumerate(made, start=len(names)):
            record = AddedFeature([*each], supports[number])
            if isinstance(each, Tally):
                literals = [*each.literals]
                record = AddedFeature(literals, supports[number], each.number, each.exactly)
            added.setdefault(iteration, []).append(record)
        parts["added"] = [*added.values()]
        parts["dropped"] = [k for k in range(len(names)) if k not in supports]
    else:
        merges = [
            list(some) for _, some in groupby(feature_set.merges, key=lambda merge: merge.iteration)
        ]
        pairs = iter(list_pairs(plan, feature_set.merges, counts, feature_set.pattern_tables))
        parts["merges"] = [list(islice(pairs, len(some))) for some in merges]
        parts["tests"] = list_tests(plan, merges)
        if feature_set.has_code:
            known = feature_set.known_counts()
            beside = ([(n, k) for n, k in part[2:].T.tolist()] for part in known[:2])
            variable = beside if feature_set.variables else ()
            parts["code"] = CodeRecord(known.features[0].tolist(), *variable)
    return ModelFile(
        format=FORMAT,
        version=VERSION,
        kind=kind,
        parameters=parameters,
        n_rows=feature_set.n_rows,
        n_distinct_rows=n_distinct_rows,
        null_rows=null_rows,
        columns=names if named else len(names),
        supports=list(feature_set.primitive_supports),
        known=None if counts is None else [known for _, known in counts[: len(names)]],
        variables=list(feature_set.variables),
        ending=ending,
        new_rows=new_rows,
        binarizer=None if binarizer is None else binarizer.record(),
        tags=None if cleaner is None else cleaner.record(),
        **parts,
    )


def write_model(
    path: str | os.PathLike[str], model: ModelFile | ClassifierFile | GroupsFile
) -> None:
    """Write a file atomically."""
    text = model_json(model)
    write_atomically(path, lambda part: part.write_bytes(text))


def model_json(model: ModelFile | ClassifierFile | GroupsFile) -> bytes:
    """Return the content of a file, after checking that reading it gives the same model."""

    def to_plain(value: Any) -> Any:
        # a parameter may be a number of NumPy
        if isinstance(value, np.generic):
            return value.item()
        raise InputError(f"a parameter cannot be saved: {value!r}")

    try:
        encoded = msgspec.json.encode(model, enc_hook=to_plain)
    except UnicodeEncodeError:
        raise InputError(
            "a name contains a lone surrogate, which cannot be saved: rename it"
        ) from None
    try:
        is_same = msgspec.json.decode(encoded, type=type(model)) == model
    except msgspec.MsgspecError as error:
        raise InputError(f"the model cannot be saved: {error}") from None
    if not is_same:
        raise InputError("the model contains infinity or NaN, which cannot be saved")
    text = msgspec.json.format(encoded, indent=1) + b"\n"
    if len(text) > LARGEST:
        raise InputError(
            f"the model takes {len(text) >> 20} MB, but a model file may take {LARGEST >> 20} MB: "
            "use max_length or fewer iterations"
        )
    return text


def model_schema() -> bytes:
    """Return the JSON Schema of a model file: docs/model-schema.json."""
    # before Python 3.13, docstrings are indented
    schema = re.sub(rb"\\n +", rb"\\n", msgspec.json.encode(msgspec.json.schema(ModelFile)))
    return msgspec.json.format(schema, indent=1) + b"\n"


class Labels(Record, frozen=True):
    """The classes of a classifier with their NumPy type. Times are whole numbers."""

    type: str
    values: list[str | Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)] | float | bool]

    @classmethod
    def of(cls, classes: Any) -> Labels:
        """Return classes to write. Refuse classes that reading would change."""
        name = "str" if classes.dtype.kind == "U" else classes.dtype.name
        values = (classes.astype(np.int64) if classes.dtype.kind in "mM" else classes).tolist()
        types = set(map(type, values))
        if not types <= {str, int, float, bool} or name not in _LABEL_TYPES or len(types) > 1:
            raise InputError(
                f"classes of type {name} cannot be saved: y must hold text, numbers, Booleans, or "
                "NumPy dates and times"
            )
        return cls(name, values)

    def array(self) -> Any:
        """Return the classes, after checking that they are sorted and distinct."""
        check_source(self.type in _LABEL_TYPES, "its classes have an unknown type")
        expected = _LABEL_TYPES[self.type]
        types = set(map(type, self.values))
        check_source(len(types) == 1 and types <= set(expected), "its classes have the wrong type")
        dtype = np.dtype(np.int64 if self.type[-1] == "]" else self.type)
        try:
            classes = np.array(self.values, dtype).astype(self.type)
        except OverflowError:
            raise SourceError("a class is out of range") from None
        is_same = (classes.astype(dtype) if self.type[-1] == "]" else classes).tolist()
        check_source(is_same == self.values, "a class is out of range")
        rises = bool(np.all(classes[:-1] < classes[1:]))
        is_time = classes.dtype.kind in "mM" and bool(np.isnat(classes).any())
        check_source(rises and not is_time, "its classes are unsorted or not distinct")
        return classes


_UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as")
_LABEL_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "bool": (bool,),
    "object": (str, int, float, bool),
    **{f"{sign}int{bits}": (int,) for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{f"float{bits}": (float,) for bits in (16, 32, 64)},
    **{f"{kind}64[{unit}]": (int,) for kind in ("datetime", "timedelta") for unit in _UNITS},
}


class ClassifierFile(Record, frozen=True, kw_only=True):
    """The content of a classifier file, in the order of its fields."""

    format: str
    version: int
    smoothing: float
    # the weight of a bit in probabilities
    calibration: float
    classes: Labels
    # training rows of each class
    class_rows: list[Annotated[int, msgspec.Meta(ge=1, le=MOST_ROWS)]]
    # for each place (the rest of a primitive, then of a merge's feature): the number of rows of
    # each class in which it is true, and in which it is observed false; with variables, the same
    # again for rows in which another value is true
    true: list[list[Rows]]
    false: list[list[Rows]]
    vocabulary: ModelFile


def read_model(path: str | os.PathLike[str]) -> ModelFile:
    """Read a model file. Refuse damaged files and other versions."""
    return decode_file(path, ModelFile, FORMAT, VERSION)


def read_classifier(path: str | os.PathLike[str]) -> ClassifierFile:
    """Read a classifier file. Refuse damaged files and other versions."""
    read = decode_file(path, ClassifierFile, CLASSIFIER_FORMAT, CLASSIFIER_VERSION)
    if (read.vocabulary.format, read.vocabulary.version) != (FORMAT, VERSION):
        raise ModelFileError(f"{path}: damaged classifier: its vocabulary is not a model file")
    return read


def read_bytes(path: str | os.PathLike[str], error: type[InputError] = ModelFileError) -> bytes:
    """Return the content of a file, unless it is larger than any model."""
    try:
        with Path(path).open("rb") as opened:
            # read(n) would reserve n bytes at once
            content = b"".join(
                islice(iter(partial(opened.read, 1 << 20), b""), (LARGEST >> 20) + 1)
            )
    except OSError as problem:
        raise error(f"{path}: cannot be read ({problem.strerror})") from None
    if len(content) > LARGEST:
        raise error(f"{path}: a model file has at most {LARGEST >> 20} MB")
    return content


def decode_file(path: str | os.PathLike[str], kind: type[T], format: str, version: int) -> T:
    """Decode a file of conjunct, which must have this format and version."""
    content = read_bytes(path)
    try:
        header = msgspec.json.decode(content, type=_Header)
    except UNDECODABLE as error:
        raise ModelFileError(f"{path}: not a conjunct model file ({error})") from None
    if header.format != format:
        known = header.format in (FORMAT, CLASSIFIER_FORMAT, GROUPS_FORMAT, "conjunct-checkpoint")
        what = f"a {header.format} file, not a {format}" if known else "not a conjunct model"
        raise ModelFileError(f"{path}: {what} file")
    if 1 <= header.version < version:
        # models changed with each release, and classifiers came with the second one
        why = f"was written by conjunct 0.{3 - version + header.version}"
        raise ModelFileError(f"{path} {why}: fit again with this version")
    if header.version != version:
        raise ModelFileError(
            f"{path}: version {header.version} of the model file; "
            f"this conjunct reads version {version}"
        )
    try:
        return msgspec.json.decode(content, type=kind)
    except UNDECODABLE as error:
        raise ModelFileError(f"{path}: damaged model file ({error})") from None


class _Header(msgspec.Struct):
    format: str
    version: Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)]


class MarkRecord(Record, frozen=True):
    """A tag or a chunk, with its rows and shares inside and outside a group."""

    tags: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    rows: Rows
    rows_outside: Rows
    share: Probability
    share_outside: Probability
    evidence: Length
    is_absent: bool = False


class GroupRecord(Record, frozen=True):
    """A group of rows. Its share and the texts of its marks follow from other fields."""

    name: OneLine
    rows: Annotated[int, msgspec.Meta(ge=1, le=MOST_ROWS)]
    marks: list[MarkRecord]
    typical: tuple[Rows, ...] = ()
    borderline: tuple[Rows, ...] = ()


class GroupsFile(Record, frozen=True, kw_only=True):
    """The content of a file of row groups, in the order of its fields.

    Each group has either chunks, in a vocabulary, or probabilities of the outcomes of columns.
    """

    format: str
    version: int
    parameters: dict[str, Setting]
    shares: list[Annotated[float, msgspec.Meta(gt=0, le=1)]]
    groups: list[GroupRecord]
    description_length: Length
    baseline_length: Length
    stop_reason: OneLine
    # for each group: the columns, then several values of each variable; and no value, of each field
    outcomes: list[list[Probability]]
    none: list[list[Probability]]
    # a model without merges, for the columns, their variables and their preparation
    columns: ModelFile
    vocabularies: list[ModelFile]


def read_groups(path: str | os.PathLike[str]) -> GroupsFile:
    """Read a file of row groups. Refuse damaged files and other versions."""
    read = decode_file(path, GroupsFile, GROUPS_FORMAT, GROUPS_VERSION)
    if not 1 <= len(read.groups) == len(read.shares) or abs(sum(read.shares) - 1) > 1e-6:
        raise ModelFileError(f"{path}: damaged groups: their shares do not sum to 1")
    n_rows = sum(group.rows for group in read.groups)
    is_true = n_rows == read.columns.n_rows and all(
        mark.rows <= group.rows and mark.rows_outside <= n_rows - group.rows
        for group in read.groups
        for mark in group.marks
    )
    if not is_true:
        raise ModelFileError(f"{path}: damaged groups: their rows contradict each other")
    return read
