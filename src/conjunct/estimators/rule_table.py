"""Columns of the tables that say what features are and why they were made."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from conjunct import explain
from conjunct.expressions import Style
from conjunct.features import FeatureSet

if TYPE_CHECKING:
    from conjunct.ufc import Nugget

Table = dict[str, list[Any]]


def rule_columns(fitted: FeatureSet, style: Style) -> Table:
    """One row a feature; what a primitive cannot have is NaN, 0 or empty."""
    lineage, origins, written = fitted.lineage, fitted.origins(), explain.formula_text
    merges = [origins.get(number) for number in fitted.features]
    return {
        "pattern": list(fitted.pattern_texts),
        "rule": [written(expression, style) for expression in fitted.expressions],
        "support": list(fitted.supports),
        "frequency": list(fitted.frequencies),
        "length": [expression.length for expression in fitted.expressions],
        "iteration": [fitted.iteration(number) for number in fitted.features],
        "parents": [
            [written(parent, style) for parent in lineage.expressions(fitted.parents(number))]
            for number in fitted.features
        ],
        "saved": [merge.saved if merge else math.nan for merge in merges],
        "r": [merge.r if merge else math.nan for merge in merges],
        "p_value": [merge.p_value if merge else math.nan for merge in merges],
        "p_adjusted": [merge.p_adjusted if merge else math.nan for merge in merges],
        "family_size": [merge.family_size if merge else 0 for merge in merges],
        "score": [merge.score if merge else math.nan for merge in merges],
        "threshold": [merge.threshold if merge else math.nan for merge in merges],
        "compared": [merge.compared if merge else "" for merge in merges],
    }


def formula_columns(formulas: explain.Formulas, style: Style) -> Table:
    """The same features in another form, and whether it is one on every row there could be."""
    return {
        formulas.form: formulas.texts(style),
        f"{formulas.form}_length": [formula.length for formula in formulas.expressions],
        "equivalent": [formulas.equivalent] * len(formulas.expressions),
    }


def nugget_columns(nuggets: list[Nugget], n_rows: int, style: Style) -> Table:
    """One row a nugget."""
    return {
        "rule": [nugget.expression.text(style) for nugget in nuggets],
        "status": [nugget.status for nugget in nuggets],
        "support": [nugget.support for nugget in nuggets],
        "frequency": [nugget.support / n_rows for nugget in nuggets],
        "length": [nugget.expression.length for nugget in nuggets],
        "lift": [nugget.lift for nugget in nuggets],
        "r": [nugget.r for nugget in nuggets],
        "p_value": [nugget.p_value for nugget in nuggets],
        "p_adjusted": [nugget.p_adjusted for nugget in nuggets],
        "family_size": [nugget.family_size for nugget in nuggets],
    }
