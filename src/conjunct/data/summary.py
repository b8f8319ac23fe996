"""What became of raw data, in numbers."""

from __future__ import annotations

from dataclasses import dataclass

from conjunct.data.boolean_data import BooleanData
from conjunct.data.column_rules import BooleanRule, CategoryRule, ColumnRule, Dropped


@dataclass(frozen=True)
class DataSummary:
    """A Boolean table in numbers.

    Attributes
    ----------
    n_rows, n_distinct_rows, n_features, n_missing : int
        Missing cells are those of features, not of raw columns.
    columns : dict of str to int
        Number of raw columns of each kind.
    dropped : tuple of Dropped
        Raw columns that made no feature, and why.
    rare : dict of str to int
        Number of rare words by column, in one feature together or in none.
    constant : tuple of str
        Features with one value only: they are never paired.
    density : float
        Share of observed cells that are true.
    n_bytes : int
        Memory of the cells.
    """

    n_rows: int
    n_distinct_rows: int
    n_features: int
    n_missing: int
    columns: dict[str, int]
    dropped: tuple[Dropped, ...]
    rare: dict[str, int]
    constant: tuple[str, ...]
    density: float
    n_bytes: int

    @classmethod
    def of(cls, table: BooleanData) -> DataSummary:
        supports = table.supports()
        observed = table.columns.count_known()
        is_constant = (supports == 0) | (supports == observed)
        binarizer = table.preparation.binarizer
        rules = () if binarizer is None else binarizer.rules_
        return cls(
            table.n_rows,
            table.columns.count_distinct_rows(),
            len(table.names),
            table.n_missing,
            _kinds(table, rules),
            () if binarizer is None else binarizer.dropped_,
            {r.column: len(r.rare) for r in rules if isinstance(r, CategoryRule) and r.rare},
            tuple(n for n, c in zip(table.names, is_constant, strict=True) if c),
            float(supports.sum() / max(1, int(observed.sum()))),
            table.nbytes,
        )


def _kinds(table: BooleanData, rules: tuple[ColumnRule, ...]) -> dict[str, int]:
    if not rules:
        return {"tags" if table.tags else "Boolean": len(table.names)}
    kinds: dict[str, set[str]] = {}
    for rule in rules:
        kinds.setdefault(_kind(rule), set()).add(rule.column)
    return {kind: len(columns) for kind, columns in kinds.items()}


def _kind(rule: ColumnRule) -> str:
    if isinstance(rule, BooleanRule):
        return "Boolean"
    if rule.part is not None:
        return "dates"
    return "categories" if isinstance(rule, CategoryRule) else "numbers"
