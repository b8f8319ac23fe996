"""New rows, counted for a vocabulary that stays as it is: does it still pay?"""

from __future__ import annotations

from dataclasses import dataclass

from conjunct.features import CodeCounts, FeatureSet, bits_of_rows


@dataclass(frozen=True)
class Update:
    """What new rows say of a vocabulary.

    ``supports`` are those of ``features_`` in the new rows. ``bits`` describe these rows by the
    features and ``baseline_bits`` by the columns and variables alone, both with the codes of all
    rows before them, as ``score`` does; the features themselves are not paid for again.
    ``before`` is the one as a share of the other in those earlier rows.
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
        facts = (
            f"{rows} {self.bits:,.0f} bits by the features and {self.baseline_bits:,.0f} by the "
            f"columns as they are ({self.share:.0%}, and {self.before:.0%} before)"
        )
        if self.pays:
            return f"The vocabulary still pays: {facts}."
        return f"The vocabulary does not pay on these rows: {facts}. Fit again to learn from them."


def updated(fitted: FeatureSet, known: CodeCounts, new: CodeCounts, n_rows: int) -> Update:
    """What new rows say, given the counts of all rows before them and of these."""
    places = fitted.row_code.places[: len(fitted.features)]
    before = bits_of_rows(known.features, known.features)
    # 0 where no cell was known
    before_by_columns = bits_of_rows(known.columns, known.columns)
    return Update(
        n_rows,
        tuple((new.features[1] + new.features[3])[places].tolist()),
        bits_of_rows(new.features, known.features),
        bits_of_rows(new.columns, known.columns),
        before / before_by_columns if before_by_columns else 1.0,
    )
