"""Suggest tags that a row probably lacks, and find doubtful tags.

Each tag is predicted from the other tags of a row by ridge regression without intercept. With the
joint counts G, the weights of all tags follow from P = (G + λI)⁻¹: −Pᵢⱼ / Pⱼⱼ (Steck 2019). The
values of a variable do not predict each other, because they exclude each other anyway. λ is chosen
by generalised cross-validation (Golub, Heath and Wahba 1979), which needs only the same counts and
no rows. A sample of rows then calibrates predictions as probabilities: it shows how often a tag is
true for each prediction, which is made without that row. A doubtful tag is judged by the curve of
tags with similar frequencies.

Tags are in the order of their names, and the sample is chosen and ordered by hashes of rows. The
result is therefore the same for any order of rows and columns, any partitions, and weights instead
of repeated rows.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import msgspec
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conjunct.columns import Columns, Counts, Positions
from conjunct.counting import RowSample, TagCounts
from conjunct.errors import InputError

if TYPE_CHECKING:
    from conjunct.features.feature_set import FeatureSet

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

KEPT_TAGS = 1000
"""Number of tags that a fitted model keeps, which limits the size of model files."""

# candidates for λ, for the most frequent tags; the error is flat around its minimum
_RIDGES = 2.0 ** np.arange(-4, 15)
_TAGS_FOR_RIDGE = 256

# predictions at which the share of rows with the tag is measured, with interpolation between them;
# more knots near 0, because most tags are rare
_KNOTS = np.concatenate([np.arange(-10, -1) / 40, np.arange(-10, 20) / 400, np.arange(2, 51) / 40])
_CELLS_AT_ONCE = 1 << 19

_REASONS = 3


class Suggestion(NamedTuple):
    """A tag and its probability in a row, given the other tags of the row.

    Attributes
    ----------
    tag : str
        The tag.
    score : float
        The estimated share of rows with the tag among the rows whose other tags give this score.
    because : tuple of str
        The strongest tags of the row in favour of it; for a doubtful tag, against it.
    """

    tag: str
    score: float
    because: tuple[str, ...]


class SuggestionsRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The data for suggestions and relations in a model file.

    Matrices are compressed (zlib) as little-endian 8-byte integers. Lines of symmetric matrices
    begin at the diagonal.
    """

    # positions of the tags among the columns, sorted by name
    tags: Annotated[
        list[Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)]], msgspec.Meta(max_length=KEPT_TAGS)
    ]
    joint: bytes
    ridge: Annotated[float, msgspec.Meta(gt=0, le=1e9)]
    # rising probabilities, for all tags and then for each frequency class that occurs
    curves: list[list[Annotated[float, msgspec.Meta(ge=0, le=1)]]]
    # only with missing cells
    alone: bytes | None = None
    known: bytes | None = None


@dataclass(frozen=True, eq=False)
class Suggester:
    """Predicts each tag of a row from the other tags."""

    counts: TagCounts
    ridge: float
    """λ."""
    curves: tuple[tuple[float, ...], ...]
    """Rising probabilities at the knots, of all tags and then of each frequency class."""

    @classmethod
    def learn(cls, counts: TagCounts, sample: RowSample) -> Suggester:
        """Learn from counts, and from a sample of the counted rows."""
        found = cls(counts, choose_ridge(counts), ())
        cells, true = found._count_cells(sample)
        curves = [_calibrate(cells.sum(axis=0), true.sum(axis=0))]
        curves += [_calibrate(*both) for both in zip(cells, true, strict=True)]
        return replace(found, curves=tuple(curves))

    def record(self) -> SuggestionsRecord:
        """Return the data for a model file."""
        counts = self.counts
        above = np.triu_indices(len(counts.tags))
        matrices = [counts.joint[above]]
        if counts.alone is not None and counts.known is not None:
            matrices += [counts.alone, counts.known[above]]
        lines = [np.ascontiguousarray(matrix, "<i8").tobytes() for matrix in matrices]
        joint, *others = (zlib.compress(each, 6) for each in lines)
        curves = [list(curve) for curve in self.curves]
        return SuggestionsRecord(list(counts.places), joint, self.ridge, curves, *others)

    @classmethod
    def from_record(cls, record: SuggestionsRecord, fitted: FeatureSet) -> Suggester:
        """Restore the data of a model file after checking that they are valid."""
        names, supports = fitted.lineage.primitives, fitted.primitive_supports
        n_rows, variables, of_cells = fitted.n_rows, fitted.variables, fitted.lineage_counts
        places, m = record.tags, len(record.tags)
        some = {k for k in places if k < len(names) and supports[k] > 0}
        _check(places == sorted(some, key=names.__getitem__), "tags")
        sizes = {len(_KNOTS), *map(len, record.curves)}
        rise = all(curve == sorted(curve) for curve in record.curves)
        _check(len(sizes) == 1 and rise, "curves")
        _check(record.ridge in _RIDGES, "ridge")
        are_complete = record.alone is None, record.known is None
        _check(are_complete == (of_cells is None,) * 2, "known cells")
        joint, alone, known = _expand(record.joint, m), None, None
        supports_here = np.diagonal(joint)
        one, other, n = supports_here[:, None], supports_here, np.full((m, m), n_rows)
        if record.alone is not None and record.known is not None:
            alone = np.frombuffer(_decompress(record.alone, 8 * m * m), "<i8").reshape(m, m)
            known = _expand(record.known, m)
            one, other, n = alone, alone.T, known
        known_rows = [n_rows if of_cells is None else of_cells[k][1] for k in places]
        is_right = supports_here.tolist() == [supports[k] for k in places]
        is_right = is_right and np.diagonal(n).tolist() == known_rows
        # sums of values in range do not overflow
        is_right &= bool(((joint >= 0) & (joint <= one) & (joint <= other)).all())
        is_right &= bool(((one <= supports_here[:, None]) & (n <= n_rows)).all())
        _check(is_right and bool((one + other - joint <= n).all()), "joint counts")
        place = {k: i for i, k in enumerate(places)}
        for merge in fitted.merges:
            if merge.left in place and merge.right in place:
                same = joint[place[merge.left], place[merge.right]] == merge.joint
                _check(bool(same), "joint counts")
        counts = TagCounts(
            tuple(places),
            tuple(names[k] for k in places),
            tuple(variables[k] for k in places) if variables else (None,) * m,
            n_rows,
            sum(support > 0 for support in supports),
            joint,
            alone,
            known,
        )
        _check(len(record.curves) == max(counts.strata, default=0) + 2, "curves")
        return cls(counts, record.ridge, tuple(map(tuple, record.curves)))

    @cached_property
    def _gram(self) -> Floats:
        return self.counts.gram()

    @cached_property
    def _inverse(self) -> Floats:
        """The matrix P, which solves the regressions of all tags."""
        gram, ridge = self._gram.copy(), self.ridge
        gram[np.diag_indices_from(gram)] += ridge
        if self.counts.known is None:
            inverse: Any = np.linalg.inv(gram)
        else:
            # counts from different rows may match no table, and give negative eigenvalues
            values, vectors = np.linalg.eigh(gram)
            inverse = (vectors / np.maximum(values, ridge)) @ vectors.T
        return np.asarray(inverse)

    @cached_property
    def weights(self) -> Floats:
        """The weights of the regressions: line i has the weight of tag i for each tag."""
        weights = -_divide(self._inverse, self._inverse, self.counts.groups)
        for some in self.counts.groups:
            weights[np.ix_(some, some)] = 0
        return weights

    def predict(self, raw: Floats) -> Floats:
        """Convert predictions to probabilities."""
        return np.interp(raw, _KNOTS, self.curves[0])

    def scores(self, columns: Columns) -> Iterator[tuple[int, Mask, Floats]]:
        """Yield for blocks of rows the first row, the true tags, and the predictions."""
        for start, true, known in _row_blocks(columns):
            rows: Any = sp.csr_array(self._fill(true, known))
            yield start, true, rows @ self.weights

    def suggest(self, columns: Columns, k: int, min_score: float = 0.0) -> list[list[Suggestion]]:
        """Return the most probable absent tags of each row, most probable first.

        A second value of a variable is not suggested.
        """
        found: list[list[Suggestion]] = []
        groups = [some for some in self.counts.groups if len(some) > 1]
        for _, true, raw in self.scores(columns):
            is_open = ~true
            for some in groups:
                is_open[:, some] &= ~true[:, some].any(axis=1, keepdims=True)
            if min_score > 0:
                is_open &= self.predict(raw) >= min_score
            rows, places = _take_first(np.where(is_open, raw, -np.inf), k)
            found += self._write(true, rows, places, self.predict(raw[rows, places]), 1)
        return found

    def doubt(self, columns: Columns, k: int) -> list[list[Suggestion]]:
        """Return the tags of each row that are less probable there than in all rows.

        The least probable tag comes first. Rows are judged as if they had not been counted.
        """
        found: list[list[Suggestion]] = []
        strata, shares = self.counts.strata, self.counts.shares
        for _, true, known in _row_blocks(columns):
            raw = self._predict_without(true, known)
            scores = np.empty_like(raw)
            for stratum, curve in enumerate(self.curves[1:]):
                some = strata == stratum
                scores[:, some] = np.interp(raw[:, some], _KNOTS, curve)
            # with equal probabilities, the lower prediction comes first
            values = np.where(true & (scores < shares), -scores - 1e-6 * raw, -np.inf)
            rows, places = _take_first(values, k)
            found += self._write(true, rows, places, scores[rows, places], -1)
        return found

    def _write(
        self, true: Mask, rows: Positions, places: Positions, scores: Floats, sign: int
    ) -> Iterator[list[Suggestion]]:
        """Yield the suggestions of each row: tags, scores and reasons."""
        names = map(self.counts.tags.__getitem__, places.tolist())
        reasons = self._reasons(true, rows, places, sign)
        every = [*map(Suggestion, names, scores.tolist(), reasons)]
        ends = np.searchsorted(rows, np.arange(len(true) + 1))
        for start, stop in pairwise(ends.tolist()):
            yield every[start:stop]

    def _reasons(
        self, true: Mask, rows: Positions, places: Positions, sign: int
    ) -> Iterator[tuple[str, ...]]:
        """Yield the strongest tags in favour of each tag (``sign`` 1) or against it (−1).

        Tags in favour are ranked by weight. Tags against are those in whose rows the tag is rarer
        than in all rows, most certain first.
        """
        _, tags = np.nonzero(true)
        n_tags = true.sum(axis=1)
        starts = np.cumsum(n_tags) - n_tags
        # limit the memory of a step to about that of a block of rows
        before = np.cumsum(n_tags[rows])
        n_parts = int(before[-1]) // _CELLS_AT_ONCE + 1 if len(rows) else 0
        edges = np.searchsorted(before, _CELLS_AT_ONCE * np.arange(n_parts))
        for start, stop in pairwise([*edges.tolist(), len(rows)]):
            some, own = rows[start:stop], places[start:stop]
            which = np.repeat(np.arange(stop - start), n_tags[some])
            ends = np.cumsum(n_tags[some])
            there = tags[np.arange(len(which)) + (starts[some] - ends + n_tags[some])[which]]
            strength = self._strengths(there, own[which], sign)
            rounded = np.round(strength, 9)
            found = np.flatnonzero((rounded > 0) & (there != own[which]))
            # ties by name
            found = found[np.lexsort((-rounded[found], which[found]))]
            which = which[found]
            rank = np.arange(len(which)) - np.searchsorted(which, which)
            first = (rank < _REASONS) & (strength[found] > 1e-9)
            names = [*map(self.counts.tags.__getitem__, there[found[first]].tolist())]
            ends = np.searchsorted(which[first], np.arange(stop - start + 1))
            for one, other in pairwise(ends.tolist()):
                yield tuple(names[one:other])

    def _strengths(self, there: Positions, places: Positions, sign: int) -> Floats:
        """Return the strengths of tags as reasons for other tags (``sign`` 1) or against (−1)."""
        if sign > 0:
            return self.weights[there, places]
        rows = self._gram[there, there]
        strength: Floats = self.counts.shares[places] * np.sqrt(rows)
        strength -= self._gram[there, places] / np.sqrt(np.maximum(rows, 1e-12))
        return strength

    def _predict_without(self, true: Mask, known: Mask | None) -> Floats:
        """Return the predictions of regressions on all rows except the predicted row."""
        filled = self._fill(true, known)
        rows: Any = sp.csr_array(filled)
        solved: Floats = rows @ self._inverse
        residual = _divide(solved, self._inverse, self.counts.groups)
        explained = solved * residual
        for some in self.counts.groups:
            if len(some) > 1:
                explained[:, some] = explained[:, some].sum(axis=1, keepdims=True)
        # 1 minus the leverage of the row among the other tags; positive for counted rows
        rest = 1 - (filled * solved).sum(axis=1, keepdims=True) + explained
        without: Floats = filled - residual / np.where(rest > 1e-6, rest, 1.0)
        return without

    def _fill(self, true: Mask, known: Mask | None) -> Floats:
        """Return rows as numbers, with the overall share of a tag in place of missing cells."""
        missing = 0.0 if known is None else np.where(known, 0.0, self.counts.shares)
        return np.where(true, 1.0, missing)

    def _count_cells(self, sample: RowSample) -> tuple[Floats, Floats]:
        """Count all cells and true cells of each stratum at each knot of their predictions.

        A cell between two knots counts partly for each knot.
        """
        strata, n_knots = self.counts.strata, len(_KNOTS)
        n_places = n_knots * (max(strata, default=0) + 1)
        counts = np.zeros((2, n_places))
        for start, true, known in _row_blocks(sample.rows):
            raw = np.clip(self._predict_without(true, known), _KNOTS[0], _KNOTS[-1])
            low = np.minimum(np.searchsorted(_KNOTS, raw, "right") - 1, n_knots - 2)
            high_part = (raw - _KNOTS[low]) / (_KNOTS[low + 1] - _KNOTS[low])
            place = (low + n_knots * strata).ravel()
            weights = sample.weights[start : start + len(true), None]
            for k, cells in enumerate((np.ones_like(true) if known is None else known, true)):
                own = cells * weights
                counts[k] += np.bincount(place, ((1 - high_part) * own).ravel(), n_places)
                counts[k] += np.bincount(place + 1, (high_part * own).ravel(), n_places)
        every, is_true = counts.reshape(2, -1, n_knots)
        return every, is_true


def choose_ridge(counts: TagCounts) -> float:
    """Return the λ with the least error by generalised cross-validation, for frequent tags.

    Without a tag's group V, the regression on m' tags has the residuals X·P_V·(P_VV)⁻¹ and
    m' − λ·(tr P − tr (P_VV)⁻¹(P²)_VV) degrees of freedom.
    """
    order = sorted(range(len(counts.tags)), key=lambda k: (-counts.supports[k], counts.tags[k]))
    few = counts.take(np.sort(np.array(order[:_TAGS_FOR_RIDGE], np.intp)))
    gram, groups, n_rows = few.gram(), few.groups, few.n_rows
    values, vectors = np.linalg.eigh(gram)
    errors = []
    for ridge in _RIDGES.tolist():
        inverse = (vectors / np.maximum(values + ridge, ridge)) @ vectors.T
        solved = _divide(inverse, inverse, groups)
        squares = ((gram @ solved) * solved).sum(axis=0)
        traces = (solved * inverse).sum(axis=0)
        error = 0.0
        for some in groups:
            n_others = len(few.tags) - len(some)
            freedom = n_others - ridge * (np.trace(inverse) - traces[some].sum())
            error += n_rows * squares[some].sum() / max(n_rows - freedom, 1e-9) ** 2
        errors.append(error)
    return float(_RIDGES[int(np.argmin(errors))])


def _take_first(values: Floats, k: int) -> tuple[Positions, Positions]:
    """Return the rows and places of the k largest finite values of each row, largest first."""
    k = min(k, values.shape[1])
    # ties by name
    keys = np.round(values, 9) - 1e-14 * np.arange(values.shape[1])
    first = np.argpartition(-keys, k - 1, axis=1)[:, :k] if k else np.empty((len(keys), 0), int)
    first = np.take_along_axis(
        first, np.argsort(-np.take_along_axis(keys, first, axis=1), axis=1), axis=1
    )
    rows, columns = np.nonzero(np.take_along_axis(values, first, axis=1) > -np.inf)
    return rows, first[rows, columns]


def _divide(solved: Floats, inverse: Floats, groups: Sequence[Positions]) -> Floats:
    """Multiply the columns of each group by the inverse of P restricted to the group."""
    divided: Floats = solved / np.diagonal(inverse)
    for some in groups:
        if len(some) > 1:
            within = np.linalg.inv(inverse[np.ix_(some, some)])
            # not a matrix product, because its last digits depend on the number of lines
            divided[:, some] = np.einsum("ri,ij->rj", solved[:, some], within)
    return divided


def _calibrate(cells: Floats, true: Floats) -> tuple[float, ...]:
    """Return the share of true cells at each knot, made non-decreasing."""
    from scipy.optimize import isotonic_regression

    # add one cell at each knot that agrees with the prediction
    shares = (true + np.clip(_KNOTS, 0, 1)) / (cells + 1)
    rising = isotonic_regression(shares, weights=cells + 1).x
    return tuple(np.round(rising, 6).tolist())


def _check(is_right: bool, what: str) -> None:
    if not is_right:
        raise InputError(f"its suggestions do not match its columns ({what})")


def _decompress(content: bytes, size: int) -> bytes:
    reader = zlib.decompressobj()
    try:
        # limit the size, because a small file could demand any amount of memory
        found = reader.decompress(content, size + 1)
    except zlib.error:
        found = b""
    _check(len(found) == size and reader.eof and not reader.unused_data, "joint counts")
    return found


def _expand(content: bytes, m: int) -> Counts:
    """Return the symmetric matrix from its compressed lines."""
    matrix = np.zeros((m, m), np.int64)
    above = np.triu_indices(m)
    matrix[above] = np.frombuffer(_decompress(content, 4 * m * (m + 1)), "<i8")
    matrix.T[above] = matrix[above]
    return matrix


def _row_blocks(columns: Columns) -> Iterator[tuple[int, Mask, Mask | None]]:
    """Yield for blocks of rows the first row, and where tags are true and known."""
    step = max(64, _CELLS_AT_ONCE // max(columns.n_columns, 1) // 64 * 64)
    for start in range(0, columns.n_rows, step):
        true, known = columns.row_block(start, min(start + step, columns.n_rows))
        yield start, true.T, None if known is None else known.T
