"""The model file: versioned JSON, never pickle. Its fields are described in docs/model-file.md."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from math import isnan
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
import numpy as np

from conjunct.data import Binarizer, BinarizerRecord, Preparation, TagCleaner, TagsRecord
from conjunct.errors import InputError, ModelFileError
from conjunct.features import CodeCounts, Compared, FeatureSet, Merge, Tally
from conjunct.files.atomic import write_atomically
from conjunct.files.consistency import build_features, check, check_counts
from conjunct.ufc import Indicators, Setting

FORMAT = "conjunct-model"
VERSION = 2
_READ = (1, 2)
_UNDECODABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)

LARGEST = 1 << 28
"""Bytes of a model file: what is not one may have no end, as /dev/zero."""

_CHUNK = 1 << 20
T = TypeVar("T", bound=msgspec.Struct)
Count = Annotated[int, msgspec.Meta(ge=1)]
Probability = Annotated[float, msgspec.Meta(ge=0, le=1)]
Rows = Annotated[int, msgspec.Meta(ge=0, lt=1 << 62)]
FourCounts = tuple[Rows, Rows, Rows, Rows]
CLASSIFIER_FORMAT = "conjunct-classifier"
CLASSIFIER_VERSION = 1


class MergeRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One replaced pair; numbers name features, null an empty conjunction."""

    iteration: int
    left: int
    right: int
    both: int | None
    right_only: int | None
    left_only: int | None
    joint: int
    r: float
    score: float
    p_value: Probability
    p_adjusted: Probability
    threshold: float
    compared: Compared
    family_size: Count
    # rows in which both are known, where cells were missing
    n_rows: Count | msgspec.UnsetType = msgspec.UNSET
    # bits by which the description became shorter; not in files of version 1
    saved: float | None = None


class IndicatorsRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the history; C0 and RMS are null where C0 has no meaning."""

    iteration: int
    n_features: int
    length: float
    oi: float
    c0: float | None
    rms: float | None
    # length of the description; not in files of version 1, and not looked at by all algorithms
    bits: float | None = None
    # what merges brought less what they cost, where they are chosen by evidence
    evidence: float | None = None


class TallyRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A feature that is true where at least, or exactly, a number of literals are."""

    literals: list[int]
    number: int
    exactly: bool


class CodeRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the complete code counted in some rows.

    For each feature that a row could have (what remains of each primitive, then of what each
    merge made): rows in which it is asked for, in which it is true then, and both again for the
    rows in which another value of a variable is true. The same of the primitives, as if nothing
    had been merged. For each merge: rows in which both patterns are known, and those with all tags
    of the left pattern, of the right one, and of both.
    """

    features: list[FourCounts]
    columns: list[FourCounts]
    patterns: list[FourCounts]

    @classmethod
    def of(cls, counts: CodeCounts) -> CodeRecord:
        return cls(*([tuple(line) for line in part.T.tolist()] for part in counts))

    def counts(self) -> CodeCounts:
        lines = (self.features, self.columns, self.patterns)
        return CodeCounts(*(np.array(some, np.int64).reshape(-1, 4).T for some in lines))


class NewRows(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Rows that were counted since the fit: how many, and what the code counted in them."""

    n_rows: Count
    code: CodeRecord

    @classmethod
    def after(cls, earlier: NewRows | None, n_rows: int, counts: CodeCounts) -> NewRows:
        """Return the earlier rows and some more."""
        if earlier is not None:
            n_rows, counts = n_rows + earlier.n_rows, counts.plus(earlier.code.counts())
        return cls(n_rows, CodeRecord.of(counts))


class ModelFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a model file holds, in the order written."""

    format: str = FORMAT
    version: int = VERSION
    kind: str
    parameters: dict[str, Setting | dict[str, Setting | list[str]]]
    n_rows: int
    named: bool
    threshold: float | None
    # why the run ended
    outcome: str = ""
    primitives: list[str]
    # what each primitive is a value of, null for a plain tag; empty if all are
    variables: list[str | None] = []
    # rows in which each primitive is true; what version 1 does not say follows from the features
    primitive_supports: list[int] = []
    conjunctions: list[tuple[int, int] | TallyRecord]
    iterations: list[int]
    features: list[int]
    supports: list[int]
    suppressed: list[int]
    suppressed_supports: list[int]
    # rows in which each feature is known, suppressed ones last, where cells were missing
    known: list[int] | msgspec.UnsetType = msgspec.UNSET
    merges: list[MergeRecord]
    history: list[IndicatorsRecord]
    # absent where the rows were not counted: the model was cut, or its kind has no code
    code: CodeRecord | msgspec.UnsetType = msgspec.UNSET
    new_rows: NewRows | msgspec.UnsetType = msgspec.UNSET
    binarizer: BinarizerRecord | msgspec.UnsetType = msgspec.UNSET
    tags: TagsRecord | msgspec.UnsetType = msgspec.UNSET

    def feature_set(self, *, only_adds: bool = False) -> FeatureSet:
        """Return the feature set, after checking that all parts of the file agree.

        ``only_adds``: the algorithm adds conjunctions to the primitives and replaces nothing.
        """
        merges = tuple(read_merge(record, self.n_rows) for record in self.merges)
        fitted = build_features(self, merges, self.indicators(), only_adds)
        if self.code is msgspec.UNSET:
            return fitted
        counts = self.code.counts()
        check_counts(counts, fitted, self.n_rows)
        fitted = replace(fitted, code_counts=counts)
        is_right = not fitted.has_code or fitted.is_code_of(self.n_rows)
        check(is_right, "its code is of other supports")
        return fitted

    def counted_since(self, fitted: FeatureSet) -> NewRows | None:
        """Return the rows counted since the fit, after checking that they are possible."""
        if self.new_rows is msgspec.UNSET:
            return None
        check(self.new_rows.n_rows < 1 << 62, "its new rows are not as many as they can be")
        check_counts(self.new_rows.code.counts(), fitted, self.new_rows.n_rows)
        return self.new_rows

    def preparation(self) -> Preparation:
        """Return what makes the primitives of raw data, after checking that it does."""
        binarizer, cleaner = None, None
        if self.binarizer is not msgspec.UNSET:
            binarizer = Binarizer.from_record(self.binarizer)
            made = binarizer.get_feature_names_out().tolist()
            check(made == self.primitives, "its binarizer makes other primitives")
        if self.tags is not msgspec.UNSET:
            cleaner = TagCleaner.from_record(self.tags)
            known = set(cleaner.mapping_.values())
            check(set(self.primitives) <= known, "its tags are not those of its primitives")
        return Preparation(binarizer, cleaner)

    def indicators(self) -> tuple[Indicators, ...]:
        return read_indicators(self.history)


def read_indicators(history: Iterable[IndicatorsRecord]) -> tuple[Indicators, ...]:
    """Return the lines of a history as they were before they were written."""
    nan = float("nan")
    return tuple(
        Indicators(
            line.iteration,
            line.n_features,
            line.length,
            line.oi,
            nan if line.c0 is None else line.c0,
            nan if line.rms is None else line.rms,
            nan if line.bits is None else line.bits,
            nan if line.evidence is None else line.evidence,
        )
        for line in history
    )


def read_merge(record: MergeRecord, n_rows: int) -> Merge:
    """Return a merge as it was before it was written; ``n_rows`` are all rows."""
    fields = msgspec.structs.asdict(record)
    if record.n_rows is msgspec.UNSET:
        fields["n_rows"] = n_rows
    if record.saved is None:
        fields["saved"] = float("nan")
    return Merge(**fields)


def model_file(
    kind: str,
    parameters: dict[str, Any],
    feature_set: FeatureSet,
    history: tuple[Indicators, ...],
    *,
    threshold: float | None,
    named: bool,
    outcome: str,
    preparation: Preparation,
    new_rows: NewRows | None = None,
) -> ModelFile:
    """Describe a fitted model."""
    binarizer, cleaner = preparation.binarizer, preparation.cleaner
    counts = feature_set.code_counts
    return ModelFile(
        kind=kind,
        parameters=parameters,
        n_rows=feature_set.n_rows,
        named=named,
        threshold=threshold,
        outcome=outcome,
        primitive_supports=list(feature_set.primitive_supports),
        primitives=list(feature_set.lineage.primitives),
        variables=list(feature_set.variables),
        conjunctions=[
            TallyRecord(list(made.literals), made.number, made.exactly)
            if isinstance(made, Tally)
            else made
            for made in feature_set.lineage.made
        ],
        iterations=list(feature_set.iterations),
        features=list(feature_set.features),
        supports=list(feature_set.supports),
        suppressed=list(feature_set.suppressed),
        suppressed_supports=list(feature_set.suppressed_supports),
        known=msgspec.UNSET if feature_set.known is None else list(feature_set.known),
        merges=[_make_merge_record(merge, feature_set.n_rows) for merge in feature_set.merges],
        history=[msgspec.convert(line, IndicatorsRecord, from_attributes=True) for line in history],
        code=msgspec.UNSET if counts is None else CodeRecord.of(counts),
        new_rows=msgspec.UNSET if new_rows is None else new_rows,
        binarizer=msgspec.UNSET if binarizer is None else binarizer.record(),
        tags=msgspec.UNSET if cleaner is None else cleaner.record(),
    )


def _make_merge_record(merge: Merge, n_rows: int) -> MergeRecord:
    record = msgspec.convert(merge, MergeRecord, from_attributes=True)
    if merge.n_rows == n_rows:
        record = msgspec.structs.replace(record, n_rows=msgspec.UNSET)
    # not known of a model that was read from a file of version 1
    return msgspec.structs.replace(record, saved=None) if isnan(merge.saved) else record


def write_model(path: str | os.PathLike[str], model: ModelFile) -> None:
    """Write a model file, whole or not at all."""
    text = model_json(model)
    if len(text) > LARGEST:
        raise InputError(
            f"the model takes {len(text) >> 20} MB and a model file has at most "
            f"{LARGEST >> 20}: choose max_length or fewer iterations"
        )
    write_atomically(path, lambda part: part.write_bytes(text))


def model_json(model: ModelFile) -> bytes:
    """Return the content of a model file."""
    try:
        encoded = msgspec.json.encode(model, enc_hook=_to_plain)
    except UnicodeEncodeError:
        raise InputError("a name holds a lone surrogate, which a file cannot: rename it") from None
    if not _reads_back(encoded, model):
        raise InputError("the model holds a number that a file cannot: infinity or NaN")
    return msgspec.json.format(encoded, indent=1) + b"\n"


def _reads_back(encoded: bytes, model: ModelFile) -> bool:
    """Return True if the text reads back as the model: infinity and NaN would become null.

    In the history null is meant.
    """
    try:
        read = msgspec.json.decode(encoded, type=ModelFile)
    except msgspec.MsgspecError:
        return False
    parts = ("parameters", "threshold", "merges", "binarizer")
    return all(getattr(read, part) == getattr(model, part) for part in parts)


def model_schema() -> bytes:
    """Return the JSON Schema of a model file: docs/model-schema.json."""
    schema = msgspec.json.schema(ModelFile)
    return msgspec.json.format(msgspec.json.encode(schema), indent=1) + b"\n"


def _to_plain(value: Any) -> Any:
    """Convert NumPy's numbers, which a parameter may be, to Python's."""
    if isinstance(value, np.generic):
        return value.item()
    raise InputError(f"a parameter cannot be saved: {value!r}")


def read_model(path: str | os.PathLike[str]) -> ModelFile:
    """Read a model file; anything but a whole one of this version is refused."""
    return decode_file(path, ModelFile, FORMAT, _READ)


def decode_file(
    path: str | os.PathLike[str], kind: type[T], format: str, versions: tuple[int, ...]
) -> T:
    """Return the content of a file that conjunct wrote, if it has that format."""
    try:
        with Path(path).open("rb") as opened:
            chunks = list(islice(iter(lambda: opened.read(_CHUNK), b""), LARGEST // _CHUNK + 1))
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be read ({error.strerror})") from None
    content = b"".join(chunks)
    if len(content) > LARGEST:
        raise ModelFileError(f"{path}: a model file has at most {LARGEST >> 20} MB")
    try:
        header = msgspec.json.decode(content, type=_Header)
    except _UNDECODABLE as error:
        raise ModelFileError(f"{path}: not a conjunct model file ({error})") from None
    if header.format != format:
        known = header.format.startswith("conjunct-")
        what = (
            f"a {header.format} file, not a {format} file" if known else "not a conjunct model file"
        )
        raise ModelFileError(f"{path}: {what}")
    if header.version not in versions:
        plural = "s" * (len(versions) > 1)
        raise ModelFileError(
            f"{path}: version {header.version} of the model file; "
            f"this conjunct reads version{plural} {' and '.join(map(str, versions))}"
        )
    try:
        return msgspec.json.decode(content, type=kind)
    except _UNDECODABLE as error:
        raise ModelFileError(f"{path}: damaged model file ({error})") from None


class _Header(msgspec.Struct):
    format: str
    version: int


class ClassifierFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the file of a classifier holds, in the order written."""

    format: str = CLASSIFIER_FORMAT
    version: int = CLASSIFIER_VERSION
    smoothing: float
    # how much of each bit counts in probabilities
    trust: float
    classes: list[str | int | float | bool]
    # training rows of each class
    class_rows: list[int]
    # for each feature that a row could have (what remains of each primitive, then of what each
    # merge made): in how many rows of each class it is true, and false though it could be true;
    # with variables, then the same of the rows in which another value is true
    true: list[list[int]]
    false: list[list[int]]
    vocabulary: ModelFile


def write_classifier(path: str | os.PathLike[str], model: ClassifierFile) -> None:
    """Write the file of a classifier, whole or not at all."""
    model_json(model.vocabulary)  # refuses what a file cannot hold
    text = msgspec.json.format(msgspec.json.encode(model), indent=1) + b"\n"
    write_atomically(path, lambda part: part.write_bytes(text))


def read_classifier(path: str | os.PathLike[str]) -> ClassifierFile:
    """Read the file of a classifier; anything but a whole one of this version is refused."""
    read = decode_file(path, ClassifierFile, CLASSIFIER_FORMAT, (CLASSIFIER_VERSION,))
    positive = all(rows > 0 for rows in read.class_rows)
    counts = [count for line in (*read.true, *read.false) for count in line]
    whole = sum(read.class_rows) == read.vocabulary.n_rows and all(k >= 0 for k in counts)
    if not read.classes or not positive or not whole:
        raise ModelFileError(f"{path}: damaged classifier: its counts are not of its rows")
    if not 0 < read.trust <= 1:
        raise ModelFileError(f"{path}: damaged classifier: its trust is not above 0 and at most 1")
    if len({type(name) for name in read.classes}) > 1:
        raise ModelFileError(f"{path}: damaged classifier: its classes are of several types")
    return read
