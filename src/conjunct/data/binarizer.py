"""The scikit-learn transformer that makes any table Boolean."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, ClassVar, Literal, Self, get_args

import msgspec
import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from conjunct.data.boolean_data import check_features
from conjunct.data.cells import PARTS, Column, DatePart, Mask, as_narwhals, from_array, from_series
from conjunct.data.column_rules import (
    Binning,
    BooleanRule,
    ColumnRule,
    Dropped,
    choose_rules,
    iter_feature_variables,
)
from conjunct.data.containers import boolean_series, refuse_empty
from conjunct.data.variables import group_by_variable
from conjunct.errors import ConjunctWarning, InputError
from conjunct.parameters import Constraint, check, check_parameters, is_number, real, whole

# columns named in a warning
_MOST_SHOWN = 5
RareCategories = Literal["group", "drop"]
_RULES: dict[str, Any] = {"rules_": tuple[ColumnRule, ...], "dropped_": tuple[Dropped, ...]}


def _among(choices: Sequence[object]) -> Constraint:
    return Constraint(lambda value: value in choices, " or ".join(map(repr, choices)))


def _is_finite(value: Any) -> bool:
    try:
        return is_number(value) and isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


_COLUMN_NAMES = Constraint(
    lambda names: isinstance(names, Iterable) and not isinstance(names, str),
    "a list of column names",
)


class BinarizerRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fitted Binarizer in a model file."""

    parameters: dict[str, Any]
    columns: list[str]
    rules: list[ColumnRule]
    dropped: list[Dropped]


class Binarizer(TransformerMixin, BaseEstimator):
    """Make every column of a table Boolean, with readable names.

    - Booleans, 0/1, and yes/no, y/n, true/false, t/f and on/off in any case stay as they are.
    - Words become ``colour = red``, ``colour = green``, …; rare words share ``colour = other``.
      Two words make two features: ``sex = female``, ``sex = male``.
    - Whole numbers of at most ten values become ``rating = 4``; other numbers become intervals,
      ``age in [30, 45)``, or steps, ``age ≥ 30``, with round edges. Numbers in text may have a
      currency, a percent sign or commas between thousands.
    - Dates become ``born year``, ``born month``, ``born weekday`` and, if there are times,
      ``born hour``.
    - Lists become ``topics: sea``, …, like cells such as ``sea;sky`` whose tags recur.
    - Free text, constant columns, and columns that name or number the rows are left out.

    A missing cell stays missing in every feature of its column.

    Parameters
    ----------
    binning : {"quantile", "width", "kmeans"}, default="quantile"
        Make intervals with about equal numbers of rows, of equal width, or by k-means.
    n_bins : int, default=4
        Number of intervals of a column of numbers.
    cumulative : bool, default=False
        Features ``age ≥ 30`` instead of intervals.
    edges : dict of str to list of float, optional
        Edges of some columns, instead of computed ones.
    min_frequency : int or float, default=1
        Words in fewer rows (or, below 1, in a smaller share of the rows) are rare.
    max_categories : int, default=20
        Maximum number of features of a column of words. The least frequent words are rare.
    rare_categories : {"group", "drop"}, default="group"
        Give the rare words one feature together, or no feature.
    date_parts : sequence of {"year", "month", "weekday", "hour"}
        Parts of dates that become features.
    categorical : sequence of str
        Columns to read as words even if they hold numbers, dates or lists: codes, years.
    tags : sequence of str
        Columns to read as lists of tags, even if they do not look like it.

    Attributes
    ----------
    rules_ : tuple of rules
        The rules that turn each column into features.
    dropped_ : tuple of Dropped
        ``column`` and ``reason`` of each column that makes no feature.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import polars as pl
    >>> from conjunct import Binarizer
    >>> table = pl.DataFrame({"wet": ["yes", "no", "no"], "colour": ["red", "green", "blue"]})
    >>> Binarizer().fit_transform(table).columns
    ['wet', 'colour = blue', 'colour = green', 'colour = red']
    """

    constraints: ClassVar[dict[str, Constraint]] = {
        "binning": _among(get_args(Binning)),
        "cumulative": _among((True, False)),
        "rare_categories": _among(get_args(RareCategories)),
        "n_bins": whole(2),
        "max_categories": whole(2),
        "min_frequency": real(
            "a whole number of rows, or a share between 0 and 1",
            lambda least: 0 < least < 1 or (least >= 1 and float(least).is_integer()),
        ),
        "date_parts": Constraint(
            lambda parts: set(parts) <= set(PARTS), f"some of {', '.join(PARTS)}"
        ),
        "edges": Constraint(
            lambda edges: edges is None or isinstance(edges, Mapping),
            "a dict of columns and their edges",
        ),
        "categorical": _COLUMN_NAMES,
        "tags": _COLUMN_NAMES,
    }
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    rules_: tuple[ColumnRule, ...]
    dropped_: tuple[Dropped, ...]

    def __init__(
        self,
        binning: Binning = "quantile",
        *,
        n_bins: int = 4,
        cumulative: bool = False,
        edges: Mapping[str, Sequence[float]] | None = None,
        min_frequency: float = 1,
        max_categories: int = 20,
        rare_categories: RareCategories = "group",
        date_parts: Sequence[DatePart] = PARTS,
        categorical: Sequence[str] = (),
        tags: Sequence[str] = (),
    ) -> None:
        self.binning = binning
        self.n_bins = n_bins
        self.cumulative = cumulative
        self.edges = edges
        self.min_frequency = min_frequency
        self.max_categories = max_categories
        self.rare_categories = rare_categories
        self.date_parts = date_parts
        self.categorical = categorical
        self.tags = tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose rules for the columns of ``X``: a data frame or an array."""
        self.settings()
        columns = iter_columns(self._validate(X, reset=True))
        return self._keep(choose_rules(columns, self))

    def transform(self, X: Any) -> Any:
        """Return the features of the rows of ``X``, as a data frame or an array, like ``X``.

        If a word was not seen in ``fit``, all features of its column are false, with a warning.
        Missing cells are null in a data frame, and NaN in an array, which then holds floats.
        In pandas, columns always have the nullable type ``boolean``.
        """
        check_is_fitted(self)
        data = self._validate(X, reset=False)
        names = self.get_feature_names_out().tolist()
        features = self.apply(iter_columns(data))
        if isinstance(data, np.ndarray):
            values, missing = (np.array(list(part)).T for part in zip(*features, strict=True))
            return np.where(missing, np.nan, values) if missing.any() else values
        columns = {
            name: boolean_series(name, *cells, data.implementation)
            for name, cells in zip(names, features, strict=True)
        }
        native = nw.from_dict(columns).to_native()
        index = nw.maybe_get_index(data)
        if index is not None:
            native.index = index
        return native

    def apply(self, columns: Iterable[Column]) -> Iterator[tuple[Mask, Mask]]:
        """Yield each feature and its missing cells, for columns in the order of ``fit``."""
        by_column = self.rules_by_column()
        for column in columns:
            yield from apply_rules(by_column.get(column.name, ()), column)

    def rules_by_column(self) -> dict[str, list[ColumnRule]]:
        """Return the rules of each column that makes features."""
        by_column: dict[str, list[ColumnRule]] = {}
        for rule in self.rules_:
            by_column.setdefault(rule.column, []).append(rule)
        return by_column

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the features."""
        check_is_fitted(self)
        rules: Iterable[ColumnRule] = self.rules_
        known = [f"x{k}" for k in range(self.n_features_in_)]
        known = list(getattr(self, "feature_names_in_", known))
        if input_features is not None and list(input_features) != known:
            if hasattr(self, "feature_names_in_"):
                raise ValueError("input_features is not equal to feature_names_in_")
            if len(input_features) != len(known):
                raise ValueError(
                    "input_features should have length equal to number of features "
                    f"({len(known)}), got {len(input_features)}"
                )
            names = dict(zip(known, map(str, input_features), strict=True))
            rules = [msgspec.structs.replace(r, column=names[r.column]) for r in rules]
        return np.array([name for rule in rules for name in rule.names()], object)

    @classmethod
    def from_rules(
        cls, parameters: Mapping[str, Any], found: Iterable[tuple[str, list[ColumnRule] | Dropped]]
    ) -> Self:
        """Make a fitted Binarizer from the rules of each column. Readers of files use it."""
        return cls(**parameters).settings()._keep(list(found), named=True)

    def describe_dropped(self) -> str:
        """Describe the columns that vary but make no feature. Return "" if there are none."""
        dropped = [d for d in self.dropped_ if not d.reason.startswith("every ")]
        if not dropped:
            return ""
        shown = "; ".join(f"{d.column!r}: {d.reason}" for d in dropped[:_MOST_SHOWN])
        more = len(dropped) - _MOST_SHOWN
        columns = "1 column" if len(dropped) == 1 else f"{len(dropped)} columns"
        return (
            f"Leaving out {columns} ({shown}{f'; and {more} more' if more > 0 else ''}). "
            "A Binarizer with categorical= keeps a column as words (--categorical on the command "
            "line)."
        )

    def __getstate__(self) -> dict[str, Any]:
        # pickle and skops can save plain values
        state: dict[str, Any] = super().__getstate__()
        plain = {name: msgspec.to_builtins(state[name]) for name in _RULES if name in state}
        return {**state, **plain}

    def __setstate__(self, state: dict[str, Any]) -> None:
        rules = {n: msgspec.convert(state[n], kind) for n, kind in _RULES.items() if n in state}
        super().__setstate__({**state, **rules})

    def record(self) -> BinarizerRecord:
        """Return the content of a model file."""
        check_is_fitted(self)
        parameters = self.get_params()
        edges = parameters["edges"]
        if edges is not None:
            parameters["edges"] = {k: [float(edge) for edge in v] for k, v in edges.items()}
        for name in ("date_parts", "categorical", "tags"):
            parameters[name] = list(parameters[name])
        return BinarizerRecord(
            parameters, list(self.feature_names_in_), list(self.rules_), list(self.dropped_)
        )

    @classmethod
    def from_record(cls, record: BinarizerRecord) -> Self:
        """Return the Binarizer that was saved, after checking that its parts agree."""
        found: dict[str, list[ColumnRule] | Dropped] = {name: [] for name in record.columns}
        for rule in record.rules:
            rules = found.get(rule.column)
            if not isinstance(rules, list):
                raise InputError(f"a rule is about {rule.column!r}, which is not a column")
            rules.append(rule)
        for dropped in record.dropped:
            if found.get(dropped.column) != []:
                raise InputError(f"{dropped.column!r} is dropped and has rules, or is not a column")
            found[dropped.column] = dropped
        if list(found) != record.columns or any(rules == [] for rules in found.values()):
            raise InputError("a column occurs twice or has no rule")
        try:
            return cls.from_rules(record.parameters, found.items())
        except TypeError as error:
            raise InputError(str(error)) from None

    @property
    def changes_columns(self) -> bool:
        """Return True if some column is changed or left out."""
        return bool(self.dropped_) or not all(isinstance(r, BooleanRule) for r in self.rules_)

    def source_of(self, feature: str) -> str:
        """Return the raw column behind a feature."""
        sources = (rule.column for rule in self.rules_ if feature in rule.names())
        return next(sources, feature)

    def get_variables(self) -> dict[str, tuple[str, ...]]:
        """Return the variables: sets of features that exclude each other.

        Examples
        --------
        >>> import polars as pl
        >>> from conjunct import Binarizer
        >>> table = pl.DataFrame({"sex": ["female", "male", "male"], "wet": ["yes", "no", "no"]})
        >>> Binarizer().fit(table).get_variables()
        {'sex': ('sex = female', 'sex = male')}
        """
        check_is_fitted(self)
        return group_by_variable(iter_feature_variables(self.rules_))

    def settings(self) -> Self:
        """Check the parameters, and return self."""
        check_parameters(self)
        for column, edges in (self.edges or {}).items():
            numbers = list(edges)
            rising = bool(numbers) and all(map(_is_finite, numbers))
            rising = rising and [*map(float, numbers)] == sorted({*map(float, numbers)})
            check(rising, f"edges of {column!r}", numbers, "rising, finite numbers")
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _validate(self, X: Any, *, reset: bool) -> Any:
        frame = as_narwhals(X)
        if isinstance(frame, nw.DataFrame):
            refuse_empty(len(frame.columns), len(frame))
            check_features(self, X, reset=reset)
            return frame
        try:
            table = check_array(X, dtype=None, ensure_all_finite=False)
        except ValueError as error:
            raise InputError(" ".join(str(error).split())) from None
        check_features(self, table, reset=reset)
        return table

    def _keep(
        self, found: list[tuple[str, list[ColumnRule] | Dropped]], named: bool = False
    ) -> Self:
        names = [name for name, _ in found]
        unused = sorted(set(self.edges or {}) - set(names))
        if unused:
            raise InputError(f"edges are given for {unused[0]!r}, which is not a column")
        if named:
            self.n_features_in_ = len(names)
            self.feature_names_in_ = np.array(names, object)
        self.dropped_ = tuple(rules for _, rules in found if isinstance(rules, Dropped))
        made = (rules for _, rules in found if not isinstance(rules, Dropped))
        self.rules_ = tuple(rule for rules in made for rule in rules)
        if not self.rules_:
            why = "; ".join(f"{d.column!r}: {d.reason}" for d in self.dropped_[:3])
            raise InputError(
                f"no column makes a feature ({why}): name some to keep as words with categorical= "
                "(--categorical on the command line)"
            )
        seen: dict[str, str] = {}
        for rule in self.rules_:
            for name in rule.names():
                if name in seen:
                    raise InputError(
                        f"columns {seen[name]!r} and {rule.column!r} both make a feature {name!r}: "
                        "rename one of them"
                    )
                seen[name] = rule.column
        return self


def apply_rules(rules: Iterable[ColumnRule], column: Column) -> Iterator[tuple[Mask, Mask]]:
    """Yield each feature that rules make from a column, and its missing cells."""
    unknown: dict[str, None] = {}
    for rule in rules:
        made = rule.apply(column)
        unknown.update(dict.fromkeys(made.unknown))
        for feature in made.features:
            yield feature & ~made.missing, made.missing
    if unknown:
        shown = ", ".join(map(repr, list(unknown)[:3])) + (", …" if len(unknown) > 3 else "")
        words = "1 word" if len(unknown) == 1 else f"{len(unknown):,} words"
        warnings.warn(
            f"column {column.name!r} holds {words} not seen in fit ({shown}): "
            "its features are false in these rows",
            ConjunctWarning,
            stacklevel=2,
        )


def iter_columns(data: Any) -> Iterator[Column]:
    """Yield the columns of an array or of a narwhals data frame."""
    if isinstance(data, np.ndarray):
        for k in range(data.shape[1]):
            yield from_array(f"x{k}", data[:, k])
        return
    for name, series in zip(data.columns, data.iter_columns(), strict=True):
        yield from_series(name, series)
