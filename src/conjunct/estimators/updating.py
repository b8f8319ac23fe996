"""New rows, counted for a vocabulary that stays as it is: does it still pay?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from conjunct import files
from conjunct.features import FeatureSet


@dataclass(frozen=True)
class Update:
    """What new rows say of a vocabulary.

    ``supports`` are those of ``features_`` in the new rows. ``bits`` describe these rows by the
    features and ``baseline_bits`` by the columns as they are, both with the codes of all rows
    before them, as ``score`` does; the features themselves are not paid for again. ``before`` is
    the one as a share of the other in those earlier rows.
    """

    n_rows: int
    supports: tuple[int, ...]
    bits: float
    baseline_bits: float
    before: float

    @property
    def score(self) -> float:
        """Minus the bits of a row, on average."""
        return -self.bits / self.n_rows

    @property
    def share(self) -> float:
        """The bits by the features as a share of those by the columns."""
        return self.bits / self.baseline_bits if self.baseline_bits else 1.0

    @property
    def pays(self) -> bool:
        """Whether the features describe the new rows in fewer bits than the columns do."""
        return self.bits < self.baseline_bits

    def __str__(self) -> str:
        rows = f"{self.n_rows:,} new {'row takes' if self.n_rows == 1 else 'rows take'}"
        told = (
            f"{rows} {self.bits:,.0f} bits by the features and {self.baseline_bits:,.0f} by the "
            f"columns as they are ({self.share:.0%}, and {self.before:.0%} before)"
        )
        if self.pays:
            return f"The vocabulary still pays: {told}."
        return f"The vocabulary does not pay on these rows: {told}. Fit again to learn from them."


def updated(
    every: FeatureSet,
    n_features: int,
    earlier: files.NewRows | None,
    counts: Sequence[int],
    n_rows: int,
) -> tuple[Update, files.NewRows]:
    """What new rows say, given how often all features that a row could have are true in them,
    of which the first ``n_features`` are the model's own; and all rows since the fit."""
    new = np.array(counts, np.int64)
    known = np.array(every.supports, np.int64) + (0 if earlier is None else earlier.supports)
    codes, column_codes = _codes(known), _codes(_primitive_supports(every, known))

    def bits(supports: NDArray[np.int64]) -> tuple[float, float]:
        by_columns = _primitive_supports(every, supports) @ column_codes
        return float(supports @ codes), float(by_columns)

    by_features, by_columns = bits(new)
    before, before_by_columns = bits(known)
    share = before / before_by_columns if before_by_columns else 1.0
    update = Update(n_rows, tuple(new[:n_features].tolist()), by_features, by_columns, share)
    total = new + (0 if earlier is None else np.array(earlier.supports, np.int64))
    n_new = n_rows + (0 if earlier is None else earlier.n_rows)
    return update, files.NewRows(n_new, total.tolist())


def _codes(supports: NDArray[np.int64]) -> NDArray[np.float64]:
    """Bits of a true cell, smoothed by ½ as in ``score``."""
    smoothed = supports + 0.5
    return np.asarray(np.log2(smoothed.sum()) - np.log2(smoothed), np.float64)


def _primitive_supports(every: FeatureSet, supports: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows in which each primitive is true: true features of a row share none."""
    position = {name: k for k, name in enumerate(every.lineage.primitives)}
    total = np.zeros(len(position), np.int64)
    for pattern, support in zip(every.patterns, supports, strict=True):
        total[[position[name] for name in pattern]] += support
    return total
