"""Lossless constructors: rows as chunks and back, and the code length of rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from conjunct import explain, files
from conjunct.columns import Columns, Counts
from conjunct.data import (
    MISSING,
    Backend,
    Baskets,
    BooleanData,
    Container,
    PartitionedContainer,
    Variables,
    as_table,
    container_of,
    group_by_variable,
    wrap_rows,
)
from conjunct.errors import ConjunctWarning, InputError
from conjunct.estimators.base import NotebookMixin, Table, with_weights
from conjunct.estimators.constructor import FeatureConstructor, PartitionTransformer, picklable
from conjunct.expressions import CHUNKS_BETWEEN, pattern_text
from conjunct.features import CodeCounts, FeatureSet, bits_of_rows
from conjunct.parameters import FLAG, Constraint, one_of

if TYPE_CHECKING:
    from conjunct.export import LazyColumns

FeatureNames = Literal["tags", "formula"]
FEATURE_NAMES: tuple[FeatureNames, ...] = ("tags", "formula")
HandleUnknown = Literal["warn", "keep"]
HANDLE_UNKNOWN: tuple[HandleUnknown, ...] = ("warn", "keep")
ChunkOutput = Literal["lists", "text", "long"]
CHUNK_OUTPUTS: tuple[ChunkOutput, ...] = ("lists", "text", "long")

Chunk = tuple[str, ...]
_Value = TypeVar("_Value")


class InvertibleConstructor(NotebookMixin, FeatureConstructor):
    """Base of the estimators that replace pairs by features from which they can be recovered."""

    _ways_with_missing = MISSING
    constraints: ClassVar[dict[str, Constraint]] = {
        "feature_names": one_of(FEATURE_NAMES),
        "handle_unknown": one_of(HANDLE_UNKNOWN),
        "keep_columns": FLAG,
    }

    feature_names: FeatureNames
    handle_unknown: HandleUnknown
    keep_columns: bool
    variables: Variables
    # rows counted since the fit
    new_rows_: files.NewRows | None = None

    @property
    def variables_(self) -> dict[str, tuple[str, ...]]:
        """Return the columns of each variable, by its name."""
        fitted = self.feature_set_
        return group_by_variable(zip(fitted.lineage.primitives, fitted.variables, strict=False))

    @property
    def patterns_(self) -> tuple[tuple[str, ...], ...]:
        """Return the tags that each feature asserts; no two features assert the same tags."""
        return self.feature_set_.patterns

    @property
    def description_length_(self) -> float:
        """Return the bits that describe the training data by the features, including their cost.

        Rows are encoded as in ``score``. In n rows, a column costs ½·log₂ n bits. The k-th merge
        costs ½·log₂ n for its count and log₂(N/k) for its name, among N pairs of features.
        """
        return self.feature_set_.description_length()

    @property
    def baseline_length_(self) -> float:
        """Return the bits without features, from independent columns and variables."""
        return self.feature_set_.baseline_length()

    @property
    def krimp_length_(self) -> float:
        """Return the bits of the training data in Krimp's code, which ``Bits`` shortens."""
        return self.feature_set_.krimp_length()

    @property
    def krimp_baseline_(self) -> float:
        """Return the bits of the training data by its columns alone, in Krimp's code."""
        return self.feature_set_.krimp_baseline()

    def transform(self, X: Any) -> Any:
        """Return the constructed features of the rows of ``X``, in a container of the same kind.

        With ``keep_columns``, the columns come first, then the features of two tags or more. If a
        row has a combination of tags that was not in the training data, some of its tags are in no
        feature. A warning counts such rows, unless the columns are kept. ``handle_unknown="keep"``
        adds a column for each combination; ``chunks`` never loses a tag. For a lazy table (Polars,
        DuckDB, Ibis or Spark) or a Dask collection, the result is lazy, too, and there is no
        warning.
        """
        container = self._check_container(X)
        is_lazy = container.lazy is not None or isinstance(container, PartitionedContainer)
        if self.handle_unknown == "keep" or self.keep_columns or is_lazy:
            return super().transform(container)
        columns = self.read_columns(container)
        n_rows = self._count_unseen(columns)
        if n_rows:
            warnings.warn(
                f"{n_rows} {'row holds' if n_rows == 1 else 'rows hold'} new combinations of "
                f"tags, so some tags are in no feature: use chunks(), which keeps all tags, or "
                f"handle_unknown='keep', which adds columns",
                ConjunctWarning,
                stacklevel=3,  # past scikit-learn's wrapper of transform
            )
        return self._transform_columns(container, columns)

    def inverse_transform(self, X: Any) -> Any:
        """Return the original columns, given the output of ``transform``.

        The result is exact for the training rows, and with ``handle_unknown="keep"`` for all
        possible rows. Features below ``min_support`` are treated as false, and a warning counts the
        lost cells. With missing cells the result is not exact: a cell may become missing because a
        partner was missing. With ``keep_columns`` the kept columns are returned unchanged.
        """
        suppressed = self.feature_set_.suppressed
        if suppressed and not self.keep_columns:
            warnings.warn(
                f"Treating {len(suppressed)} features below min_support as false: "
                f"{sum(self.feature_set_.lost_cells())} true cells of the training data become "
                f"false",
                ConjunctWarning,
                stacklevel=2,
            )
        texts, names = self._output_names(), self._primitive_names()
        recover: Callable[[Any], Any] = picklable(self._output_features(), merges=True).recover
        if self.keep_columns:
            recover = partial(_take_first, len(names))
        container = container_of(X)
        if container.lazy is not None:
            return recover(self._lazy_columns(container, texts)).rename_columns(names)
        has_order = container.has_names and not isinstance(container, Baskets)
        if has_order and list(container.names or ()) != texts:
            raise InputError("the columns must be the features of this model in the same order")
        if not isinstance(container, Baskets) and container.n_columns != len(texts):
            raise InputError(
                f"X has {container.n_columns} columns, but the model has {len(texts)} features"
            )
        rules = replace(self.reading_rules(), threshold=None)
        reader = BooleanData.without_rows(texts, rules)
        back = PartitionTransformer(reader, recover, names, self._is_nullable)
        return (
            back.map(container) if isinstance(container, PartitionedContainer) else back(container)
        )

    def get_rules(self, backend: Backend | None = None) -> Any:
        """Return a table of the merges in their order, with the reasons for each.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", "dict"}, optional
            Kind of table; by default the kind the model was fitted on, otherwise pandas.

        Returns
        -------
        data frame
            The ``chunk``, with its ``rows``, ``lift`` and ``evidence`` in all rows, as in a
            finding (missing if chance explains the chunk); the ``iteration``; the joined features
            ``left`` and ``right``. At the time of the merge: the rows with both (``joint``), the
            bits ``saved``, the correlation ``r``, ``p_value``, ``p_adjusted`` for the pairs tested
            (``family_size``), the ``score`` that orders pairs, and the ``threshold`` that one of
            these was ``compared`` with: ``"score"`` exceeds it, ``"r"`` reaches it, or
            ``"p_value"`` does not exceed it.

        Examples
        --------
        >>> from conjunct import UFC
        >>> baskets = [["water", "cascade"]] * 40 + [["water"]] * 20 + [["sky"]] * 60
        >>> rules = UFC().fit(baskets).get_rules("dict")
        >>> rules["chunk"], rules["rows"]
        (['cascade + water'], [40])
        """
        return self.make_table(rule_columns(self.feature_set_), backend)

    def chunks(
        self, X: Any, output: ChunkOutput = "lists", *, backend: Backend | None = None
    ) -> Any:
        """Return the chunks of each row: its tags, grouped.

        Each tag of a row is in exactly one chunk, even if the combination was not in the training
        data. Larger chunks come first. A missing cell is not a tag.

        Parameters
        ----------
        X : array, data frame, sparse matrix, list of baskets or Dask collection
            The data of ``fit``, or other rows with the same columns.
        output : {"lists", "text", "long"}, default="lists"
            ``"lists"``: a list of chunks per row, each a tuple of tags. ``"text"``: one text per
            row, such as ``tv + book · person``. ``"long"``: a table with one line per chunk, with
            its ``row`` number and ``chunk`` text.
        backend : {"pandas", "polars", "pyarrow", "dict"}, optional
            Kind of table for ``"text"`` and ``"long"``; by default that of ``X``. If ``X`` is not
            a table, ``"text"`` gives a list and ``"long"`` a pandas table.

        Examples
        --------
        >>> from conjunct import UFC
        >>> baskets = [["water", "cascade"]] * 40 + [["water"]] * 20 + [["sky"]] * 60
        >>> model = UFC().fit(baskets)
        >>> model.chunks([["sky", "cascade", "water"], ["cascade"]])
        [[('cascade', 'water'), ('sky',)], [('cascade',)]]
        """
        container = self._check_container(X)
        if container.lazy is not None:
            columns = self._lazy_columns(container, self._primitive_names())
            return lazy_chunks(self.full_feature_set, columns.fill_missing(), output)
        read_chunks = ChunkReader(self._row_reader(), self.full_feature_set)
        if isinstance(container, PartitionedContainer):
            return read_chunks.map(container, output)
        return format_chunks(container, read_chunks(container), output, backend)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the mean bits per row of ``X`` in the code of the features.

        A higher score means a better description of such rows. Like ``PCA.score``, it works with
        ``cross_val_score`` and ``GridSearchCV``. The code is complete: it includes absent tags, and
        the probabilities of all possible rows sum to 1. Larger features are encoded first. A
        feature is encoded in the rows where no true feature excludes it, by its share of such rows
        in training and ``check_drift``, smoothed by ½. The cost of the features is not included.

        Parameters
        ----------
        X : array, data frame, sparse matrix, list of baskets, stream or Dask collection
            The data of ``fit``, or other rows with the same columns.
        y : ignored
        sample_weight : array of shape (n_rows,), optional
            A row of weight w counts as w equal rows.
        """
        known = self._code_counts()
        columns = with_weights(self._read_store(X), sample_weight)
        counts: Counts = columns.total(self.feature_set_.row_code.count_with_patterns)[0]
        return -bits_of_rows(counts, known.features) / max(int(columns.n_rows), 1)

    def log_prob(self, X: Any) -> NDArray[np.float64]:
        """Return the natural logarithm of the probability of each row, in the code of ``score``.

        Features that are unknown because of missing cells are not encoded, so such rows are more
        probable. Compare only rows with the same missing cells.

        Parameters
        ----------
        X : array, data frame, sparse matrix or list of baskets
            The data of ``fit``, or other rows with the same columns.

        Examples
        --------
        >>> from conjunct import UFC
        >>> model = UFC().fit([["water", "cascade"]] * 40 + [["water"]] * 20 + [["sky"]] * 60)
        >>> model.log_prob([["sky"], ["cascade"]]).round(1).tolist()
        [-0.7, -10.3]
        """
        return self.log_prob_of_columns(self.read_columns(X))

    def log_prob_of_columns(self, columns: Columns) -> NDArray[np.float64]:
        """Return the ``log_prob`` of rows that are already read."""
        return self.feature_set_.row_code.log_probs(columns, self._code_counts().features)

    def _code_counts(self) -> CodeCounts:
        """Return the counts of all rows so far, in training and since."""
        counts = self.feature_set_.known_counts()
        return counts if self.new_rows_ is None else counts.plus(self.new_rows_.counts())

    @property
    def full_feature_set(self) -> FeatureSet:
        """Return all features that a row may have, with unseen and suppressed ones last."""
        return self.feature_set_.with_unseen.with_rare()

    def _output_features(self) -> FeatureSet:
        features = self.feature_set_
        if self.handle_unknown == "keep":
            features = features.with_unseen
        return features.beside_primitives() if self.keep_columns else features

    def _name_features(self, features: FeatureSet, kind: str | None = None) -> list[str]:
        kind = self.feature_names if kind is None else kind
        if kind == "tags":
            return list(features.pattern_texts)
        one_of(("tags", "formula", "number")).check("feature_names", kind)
        return super()._name_features(features, kind)

    def _count_unseen(self, store: Columns) -> int:
        """Count the rows with a complete combination that was not in the training data."""
        full, n_seen = self.feature_set_.with_unseen, len(self.feature_set_.features)
        unseen = full.features[n_seen:]
        if not unseen:
            return 0
        has_any = reduce(store.disjunction, full.evaluate(store, unseen).raw_columns)
        return int(store.with_raw_columns([has_any]).supports()[0])


def _take_first(number: int, columns: Any) -> Any:
    return columns.with_raw_columns(columns.raw_columns[:number])


@dataclass(frozen=True, eq=False)
class Chunks:
    """Chunks of rows: row k has those at positions ``numbers[starts[k]:starts[k + 1]]``."""

    patterns: Sequence[Chunk]
    starts: NDArray[np.intp]
    numbers: NDArray[np.intp]

    def lists(self) -> list[list[Chunk]]:
        """Return the chunks of each row as tuples of tags."""
        return self._split_by_row(self.patterns)

    def texts(self) -> list[str]:
        """Return one text per row."""
        texts = [pattern_text(pattern) for pattern in self.patterns]
        return [CHUNKS_BETWEEN.join(row) for row in self._split_by_row(texts)]

    def long(self) -> dict[str, list[Any]]:
        """Return a table with one line per chunk of each row."""
        texts = [pattern_text(pattern) for pattern in self.patterns]
        rows = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        return {"row": rows.tolist(), "chunk": [texts[k] for k in self.numbers.tolist()]}

    def _split_by_row(self, values: Sequence[_Value]) -> list[list[_Value]]:
        numbers = self.numbers.tolist()
        return [[values[k] for k in numbers[a:b]] for a, b in pairwise(self.starts.tolist())]


def row_chunks(every: FeatureSet, columns: Columns) -> Chunks:
    """Return the chunks of rows, larger chunks first; ``every`` holds all possible features."""
    patterns = every.patterns
    supports = columns.supports().tolist()
    # a feature is true only where all of its tags are, so few rows need few features
    present = {name for name, n in zip(every.lineage.primitives, supports, strict=True) if n}
    possible = [k for k, pattern in enumerate(patterns) if present.issuperset(pattern)]
    order = _sort_by_size(every, possible)
    features = every.evaluate(columns, [every.features[k] for k in order])
    rows_of_chunks = [features.true_rows(k) for k in range(features.n_columns)]
    rows = np.concatenate([np.empty(0, np.intp), *rows_of_chunks])
    chunks = np.repeat(np.arange(len(rows_of_chunks)), list(map(len, rows_of_chunks)))
    by_row = np.argsort(rows, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=columns.n_rows))])
    return Chunks([patterns[k] for k in order], starts, chunks[by_row])


def lazy_chunks(every: FeatureSet, columns: LazyColumns, output: ChunkOutput) -> Any:
    """Return a lazy table of the chunks of rows, as text."""
    if output != "text":
        raise InputError("chunks of a lazy table need output='text'")
    order = _sort_by_size(every, range(len(every.patterns)))
    features = every.evaluate(columns, [every.features[k] for k in order])
    texts = [pattern_text(every.patterns[k]) for k in order]
    return features.as_texts(texts, CHUNKS_BETWEEN, "chunks")


def _sort_by_size(every: FeatureSet, positions: Iterable[int]) -> list[int]:
    patterns = every.patterns
    return sorted(positions, key=lambda k: (-len(patterns[k]), patterns[k]))


@dataclass(frozen=True)
class ChunkReader:
    """Read rows as chunks, locally or on a worker; ``features`` are all possible features."""

    reader: BooleanData
    features: FeatureSet

    def __call__(self, container: Container) -> Chunks:
        return row_chunks(self.features, self.reader.read_like(container).columns.fill_missing())

    def map(self, container: PartitionedContainer, output: ChunkOutput) -> Any:
        """Return the chunks of a Dask data frame as lazy text."""
        if output != "text" or container.backend is None:
            raise InputError("chunks of Dask data need a data frame and output='text'")
        sent = replace(self, features=picklable(self.features))
        return container.engine.map_partitions(container.data, sent.as_texts, 1, object)

    def as_texts(self, data: Any) -> Any:
        """Return the chunks of one partition as text."""
        container = wrap_rows(data)
        return format_chunks(container, self(container), "text", None)


def format_chunks(
    container: Container, chunks: Chunks, output: ChunkOutput, backend: Backend | None
) -> Any:
    """Return chunks in the requested form, in a container of the same kind."""
    one_of(CHUNK_OUTPUTS).check("output", output)
    if output == "lists":
        return chunks.lists()
    kind = backend or container.backend
    if output == "long":
        return as_table(chunks.long(), kind or "pandas")
    texts = chunks.texts()
    if kind is None:
        return texts
    table = as_table({"chunks": texts}, kind)
    return table if backend is not None else container.adopt(table)


def rule_columns(fitted: FeatureSet) -> Table:
    """Return a table with one row per merge: its chunk in all rows, and its reasons."""
    pattern, merges = fitted.lineage.pattern, fitted.merges
    chunks = [tuple(sorted({*pattern(m.left), *pattern(m.right)})) for m in merges]
    found = {frozenset(one.tags): one for one in explain.every_finding(fitted)}
    facts = [found.get(frozenset(tags)) for tags in chunks]
    return {
        "chunk": list(map(pattern_text, chunks)),
        "rows": [one.rows if one else None for one in facts],
        "lift": [one.lift if one else math.nan for one in facts],
        "evidence": [one.evidence if one else math.nan for one in facts],
        "iteration": [fitted.iteration(m.made[0]) for m in merges],
        "left": [explain.describe_pattern(fitted, m.left) for m in merges],
        "right": [explain.describe_pattern(fitted, m.right) for m in merges],
        "joint": [m.joint for m in merges],
        "saved": [m.saved for m in merges],
        "r": [m.r for m in merges],
        "p_value": [m.p_value for m in merges],
        "p_adjusted": [m.p_adjusted for m in merges],
        "family_size": [m.family_size for m in merges],
        "score": [m.score for m in merges],
        "threshold": [m.threshold for m in merges],
        "compared": [m.compared for m in merges],
    }
