"""Lossless constructors: rows as chunks and back, and the code length of rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from conjunct import files
from conjunct.columns import Columns, Counts
from conjunct.counting import Store, WeightedColumns
from conjunct.data import (
    MISSING,
    Backend,
    Baskets,
    BooleanData,
    Container,
    InParts,
    Variables,
    as_table,
    container_of,
    group_by_variable,
    recognise_variables,
    unchecked,
    variables_by_column,
)
from conjunct.errors import ConjunctWarning, InputError
from conjunct.estimators.base import FeatureConstructor, PartitionTransformer, picklable
from conjunct.estimators.mixins import NotebookMixin
from conjunct.expressions import CHUNKS_BETWEEN, pattern_text
from conjunct.features import CodeCounts, FeatureSet, bits_of_rows
from conjunct.parameters import check_choice
from conjunct.ufc import FindVariables

if TYPE_CHECKING:
    from conjunct.export import LazyColumns


# products of two counts fit into 64 bits up to here
_LARGEST = 1 << 31


def weighted(store: Store, sample_weight: Any) -> Store:
    """The columns, with weights if there are any."""
    if sample_weight is None:
        return store
    if not isinstance(store, Columns):
        raise InputError("sample_weight needs all rows in memory: repeat the rows, or read them")
    weights = checked_weights(sample_weight, store.n_rows)
    return store if (weights == 1).all() else WeightedColumns.of(store, weights)


def checked_weights(sample_weight: Any, n_rows: int) -> NDArray[np.int64]:
    """Weights as whole numbers; anything else is refused, for counts are whole numbers."""
    try:
        given = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight must be numbers, one for each row") from None
    if given.shape != (n_rows,):
        raise InputError(
            f"sample_weight has shape {given.shape}: there must be one weight for each of the "
            f"{n_rows} rows"
        )
    wrong = np.flatnonzero(~((given >= 0) & (given <= _LARGEST) & (np.floor(given) == given)))
    if len(wrong):
        row = int(wrong[0])
        raise InputError(
            f"sample_weight: that of row {row} is {given[row]:g}, and a row of weight w counts as "
            f"w rows: give whole numbers from 0, or multiply by a common factor and round"
        )
    if not given.any():
        raise InputError("Sample weights must contain at least one non-zero number: all are 0")
    if given.sum() > _LARGEST:
        raise InputError(f"sample_weight: the sum exceeds {_LARGEST}: divide by a common factor")
    return given.astype(np.int64)


ChunkForm = Literal["lists", "text", "long"]
CHUNK_FORMS: tuple[ChunkForm, ...] = ("lists", "text", "long")

Chunk = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Chunks:
    """The chunks of some rows: which ones there are, and those of each row, one row after the
    other. Row k has the chunks from ``starts[k]`` to ``starts[k + 1]``."""

    patterns: Sequence[Chunk]
    starts: NDArray[np.intp]
    which: NDArray[np.intp]

    def lists(self) -> list[list[Chunk]]:
        which = self.which.tolist()
        return [[self.patterns[k] for k in which[a:b]] for a, b in pairwise(self.starts.tolist())]

    def texts(self) -> list[str]:
        each = [pattern_text(pattern) for pattern in self.patterns]
        which = self.which.tolist()
        rows = pairwise(self.starts.tolist())
        return [CHUNKS_BETWEEN.join([each[k] for k in which[a:b]]) for a, b in rows]

    def long(self) -> dict[str, list[Any]]:
        each = [pattern_text(pattern) for pattern in self.patterns]
        rows = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        return {"row": rows.tolist(), "chunk": [each[k] for k in self.which.tolist()]}


def row_chunks(every: FeatureSet, columns: Columns) -> Chunks:
    """The chunks of rows given by their columns, larger ones first.

    ``every`` are all features that a row could have.
    """
    patterns = every.patterns
    supports = columns.supports().tolist()
    # a feature is true only where all that it asserts is: of few rows, most need no look
    present = {name for name, n in zip(every.lineage.primitives, supports, strict=True) if n}
    found = [k for k, pattern in enumerate(patterns) if present.issuperset(pattern)]
    order = _larger_first(every, found)
    features = every.evaluate(columns, [every.features[k] for k in order])
    rows = [features.true_rows(k) for k in range(features.n_columns)]
    true = np.concatenate([np.empty(0, np.intp), *rows])
    chunk = np.repeat(np.arange(len(rows)), [len(some) for some in rows])
    by_row = np.argsort(true, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(true, minlength=columns.n_rows))])
    return Chunks([patterns[k] for k in order], starts, chunk[by_row])


def lazy_chunks(every: FeatureSet, columns: LazyColumns, form: ChunkForm) -> Any:
    """The chunks of a lazy table as another, of texts."""
    if form != "text":
        raise InputError("chunks of a lazy table are texts: ask for form='text'")
    order = _larger_first(every, range(len(every.patterns)))
    features = every.evaluate(columns, [every.features[k] for k in order])
    texts = [pattern_text(every.patterns[k]) for k in order]
    return features.as_texts(texts, CHUNKS_BETWEEN, "chunks")


def _larger_first(every: FeatureSet, positions: Iterable[int]) -> list[int]:
    patterns = every.patterns
    return sorted(positions, key=lambda k: (-len(patterns[k]), patterns[k]))


@dataclass(frozen=True)
class RowChunks:
    """Reads rows as chunks, here or on a worker. ``features`` are all that a row could have."""

    like: BooleanData
    features: FeatureSet

    def __call__(self, container: Container) -> Chunks:
        return row_chunks(self.features, self.like.like(container).columns.filled())

    def over(self, container: InParts, form: ChunkForm) -> Any:
        """The chunks of a data frame of Dask, lazily, as texts."""
        if form != "text" or container.backend is None:
            raise InputError(
                "chunks of a Dask collection are texts: give a data frame, form='text'"
            )
        sent = replace(self, features=picklable(self.features))
        return container.engine.mapped(container.data, sent.as_texts, 1, object)

    def as_texts(self, data: Any) -> Any:
        container = unchecked(data)
        return written_chunks(container, self(container), "text", None)


def written_chunks(
    container: Container, chunks: Chunks, form: ChunkForm, backend: Backend | None
) -> Any:
    """Chunks in the form wanted, in a container of the same kind."""
    check_choice("form", form, CHUNK_FORMS)
    if form == "lists":
        return chunks.lists()
    kind = backend or container.backend
    if form == "long":
        return as_table(chunks.long(), kind or "pandas")
    texts = chunks.texts()
    if kind is None:
        return texts
    table = as_table({"chunks": texts}, kind)
    return table if backend is not None else container.adopted(table)


Names = Literal["pattern", "formula"]
NAMES: tuple[Names, ...] = ("pattern", "formula")
Unseen = Literal["warn", "keep"]
UNSEEN: tuple[Unseen, ...] = ("warn", "keep")


class InvertibleConstructor(NotebookMixin, FeatureConstructor):
    """Base of the estimators that replace each pair by what it can be recovered from."""

    _ways_with_missing = MISSING

    names: Names = "formula"
    unseen: Unseen = "warn"
    # rows that were counted since the fit
    new_rows_: files.NewRows | None = None
    keep_columns: bool = False
    variables: Variables

    @property
    def variables_(self) -> dict[str, tuple[str, ...]]:
        """The columns that are values of one variable, by its name."""
        check_is_fitted(self)
        fitted = self.feature_set_
        return group_by_variable(zip(fitted.lineage.primitives, fitted.variables, strict=False))

    @property
    def patterns_(self) -> tuple[tuple[str, ...], ...]:
        """The columns that each feature asserts, by name: its tags. No two features share them."""
        check_is_fitted(self)
        return self.feature_set_.patterns

    @property
    def description_length_(self) -> float:
        """Bits that describe the training data by the features, the features included.

        Rows are written in the complete code (``score``); a merge costs ½·log₂ n bits for its
        number in n rows, and log₂(N/k) for its name, the k-th of N pairs of columns; a column
        costs ½·log₂ n.
        """
        check_is_fitted(self)
        return self.feature_set_.description_length()

    @property
    def baseline_length_(self) -> float:
        """The same without features: each column by itself, and each variable."""
        check_is_fitted(self)
        return self.feature_set_.baseline_length()

    @property
    def krimp_length_(self) -> float:
        """Bits that describe the training data in Krimp's code, which ``Bits`` makes shorter."""
        check_is_fitted(self)
        return self.feature_set_.krimp_length()

    @property
    def krimp_baseline_(self) -> float:
        """Bits that describe the training data by its columns as they are in Krimp's code."""
        check_is_fitted(self)
        return self.feature_set_.krimp_baseline()

    def transform(self, X: Any) -> Any:
        """The constructed features of the rows of ``X``, in a container of the same kind.

        With ``keep_columns`` the columns come first, and then the features of two tags or more.
        Rows may hold combinations of tags that training never saw: no feature has these tags
        then. Unless the columns are kept, a warning says in how many rows; ``unseen="keep"``
        gives them columns of their own, and ``chunks`` never loses a tag. A lazy table, of Polars,
        DuckDB, Ibis or Spark, and a collection of Dask give another, which is computed when it is
        used, without a warning.
        """
        check_is_fitted(self)
        container = self._container(X)
        is_lazy = container.lazy is not None or isinstance(container, InParts)
        if self.unseen == "keep" or self.keep_columns or is_lazy:
            return super().transform(container)
        columns = self._read(container)
        n_rows = self._count_unseen(columns)
        if n_rows:
            # past what scikit-learn wraps transform in
            warnings.warn(_what_was_unseen(n_rows), ConjunctWarning, stacklevel=3)
        return self._features_of(container, columns)

    def inverse_transform(self, X: Any) -> Any:
        """The original columns of rows given by their constructed features.

        Undoes ``transform`` exactly for every row of the training data, and with
        ``unseen="keep"`` for every row there could be. Features below ``min_support`` are
        taken as false, with a warning that says how much that loses. With missing cells it is not
        exact: a cell may come back missing where that of a partner was. With ``keep_columns`` it
        is always exact: the columns are taken as they are, whatever the features say.
        """
        check_is_fitted(self)
        if self.feature_set_.suppressed and not self.keep_columns:
            warnings.warn(_what_was_lost(self.feature_set_), ConjunctWarning, stacklevel=2)
        texts, names = self._column_names(), self._primitive_names()
        recover: Callable[[Any], Any] = picklable(self._made_features(), merges=True).recover
        if self.keep_columns:
            recover = partial(_first_columns, len(names))
        container = container_of(X)
        if container.lazy is not None:
            return recover(self._lazy_columns(container, texts)).named(names)
        has_order = container.has_names and not isinstance(container, Baskets)
        if has_order and list(container.names or ()) != texts:
            raise InputError("the columns are not the features of this model, in their order")
        if not isinstance(container, Baskets) and container.n_columns != len(texts):
            raise InputError(
                f"X has {container.n_columns} columns, the model {len(texts)} features"
            )
        rules = replace(self._rules(), binarize=None)
        back = PartitionTransformer(BooleanData.without_rows(texts, rules), recover, names)
        return back.over(container) if isinstance(container, InParts) else back(container)

    def chunks(self, X: Any, form: ChunkForm = "lists", *, backend: Backend | None = None) -> Any:
        """Each row as its chunks: its tags, in groups that belong together.

        Every tag of every row is in exactly one chunk, also in rows with combinations that
        training never saw. The larger chunks of a row come first. A missing cell is no tag.

        Parameters
        ----------
        X : array, data frame, sparse matrix, list of baskets or collection of Dask
            The data of ``fit``, or other rows with the same columns.
        form : {"lists", "text", "long"}, default="lists"
            ``"lists"``: a list a row of chunks, each a tuple of tags. ``"text"``: a text a row,
            as in ``tv + book · person``. ``"long"``: a table with the number of the ``row`` and
            the text of the ``chunk``, one chunk a line.
        backend : {"pandas", "polars", "pyarrow", "dict"}, optional
            What kind of table ``"text"`` and ``"long"`` give. By default the kind of ``X`` if it
            is one; otherwise texts are a list, and the long form is of pandas.

        Examples
        --------
        >>> from conjunct import UFC
        >>> baskets = [["water", "cascade"]] * 40 + [["water"]] * 20 + [["sky"]] * 60
        >>> model = UFC().fit(baskets)
        >>> model.chunks([["sky", "cascade", "water"], ["cascade"]])
        [[('cascade', 'water'), ('sky',)], [('cascade',)]]
        """
        check_is_fitted(self)
        chunks_of = RowChunks(self._like_fitted(), self._every_feature)
        container = self._container(X)
        if container.lazy is not None:
            columns = self._lazy_columns(container, self._primitive_names())
            return lazy_chunks(self._every_feature, columns.filled(), form)
        if isinstance(container, InParts):
            return chunks_of.over(container, form)
        return written_chunks(container, chunks_of(container), form, backend)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the bits that a row of ``X`` takes, on average, in the code of the features.

        The higher, the better the features describe rows like these; as ``PCA.score`` it can be
        used by ``cross_val_score`` and ``GridSearchCV``. The code is complete: absent tags are
        written too, and the probabilities of all rows there could be sum to 1. Each feature is
        asked for where nothing that is true already excludes it, larger ones first, with its
        share of such rows in training and ``update``, smoothed by ½. The features themselves are
        not counted: new rows do not pay for them.

        Parameters
        ----------
        X : array, data frame, sparse matrix, list of baskets, stream or collection of Dask
            The data of ``fit``, or other rows with the same columns.
        y : ignored
        sample_weight : array of shape (n_rows,), optional
            A row of weight w counts as w equal rows.
        """
        check_is_fitted(self)
        known = self._code_counts()
        columns = weighted(self._like_fitted().like(self._container(X)).columns, sample_weight)
        counts: Counts = columns.total(self.feature_set_.row_code.count)
        return -bits_of_rows(counts, known.features) / max(int(columns.n_rows), 1)

    def log_prob(self, X: Any) -> NDArray[np.float64]:
        """The natural logarithm of the probability of each row of ``X``, in the code of ``score``.

        A feature that is unknown for a missing cell is not asked for: such rows are likelier, and
        to be compared with rows that miss the same cells.

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
        check_is_fitted(self)
        known = self._code_counts()
        return self.feature_set_.row_code.log_probs(self._read(X), known.features)

    def _code_counts(self) -> CodeCounts:
        """The counts of all rows that were seen, in training and since."""
        counts = self.feature_set_.known_counts()
        return counts if self.new_rows_ is None else counts.plus(self.new_rows_.code.counts())

    def _find_variables(self, names: Sequence[str]) -> FindVariables | None:
        """Return what finds the variables of columns, after checking those that are given."""
        if self.variables is False:
            return None
        if self.variables is not None:
            given = variables_by_column(self.variables, names)
            return lambda first: given
        known = self.preparation_.variables_of(names)
        if known and None not in known:
            return lambda first: known
        return lambda first: recognise_variables(names, first(), known)

    @property
    def _every_feature(self) -> FeatureSet:
        """All features that a row could have: unseen and suppressed ones after the others."""
        return self.feature_set_.with_unseen.with_rare()

    def _made_features(self) -> FeatureSet:
        fitted = self.feature_set_
        made = fitted.with_unseen if self.unseen == "keep" else fitted
        return made.beside_primitives() if self.keep_columns else made

    def _names_of(self, fitted: FeatureSet) -> list[str]:
        return super()._names_of(fitted) if self.names == "formula" else list(fitted.pattern_texts)

    def _count_unseen(self, store: Columns) -> int:
        """In how many rows a combination is true that training never saw.

        One that is missing is not counted: training may have had such rows.
        """
        full, n_seen = self.feature_set_.with_unseen, len(self.feature_set_.features)
        numbers = full.features[n_seen:]
        if not numbers:
            return 0
        lines = iter(full.evaluate(store, numbers).lines)
        anywhere = next(lines)
        for line in lines:
            anywhere = store.disjunction(anywhere, line)
        return int(store.with_lines([anywhere]).supports()[0])


# the former name, until all folders use the new one
LosslessConstructor = InvertibleConstructor


def _first_columns(number: int, columns: Any) -> Any:
    return columns.with_lines(columns.lines[:number])


def _what_was_unseen(n_rows: int) -> str:
    return (
        f"{n_rows} {'row holds' if n_rows == 1 else 'rows hold'} combinations of tags that "
        f"training never saw, and some of their tags are in no feature: set unseen='keep' to give "
        f"them columns, or use chunks(), which loses none"
    )


def _what_was_lost(feature_set: FeatureSet) -> str:
    return (
        f"{len(feature_set.suppressed)} features below min_support are taken as false: "
        f"{sum(feature_set.lost_cells())} true cells of the training data come back false"
    )
