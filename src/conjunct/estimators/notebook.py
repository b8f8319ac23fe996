"""A fitted estimator in a notebook: what was found, above scikit-learn's diagram."""

from __future__ import annotations

from html import escape
from typing import Any

from conjunct.construction.feature_set import FeatureSet
from conjunct.reading import Finding, findings, shortened

_CHUNKS = 8
_NAME_LENGTH = 120
_CELL = "text-align:left;padding:2px 14px 2px 0"


class ShownInNotebooks:
    """Mixin of scikit-learn's estimators: a summary of what was found comes first."""

    feature_set_: FeatureSet
    outcome_: str

    def _repr_html_inner(self) -> str:
        diagram: str = super()._repr_html_inner()  # type: ignore[misc]
        if not hasattr(self, "feature_set_"):
            return diagram
        return found_html(self.feature_set_, getattr(self, "outcome_", "")) + diagram

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle


def found_html(fitted: FeatureSet, outcome: str) -> str:
    """The chunks that save most bits, the length of the description, and why the run ended.

    Names from data are escaped, and it holds no script.
    """
    found = findings(fitted)
    parts = [f"<p>{_text(said)}</p>" for said in (_length(fitted), outcome) if said]
    if found:
        lines = "".join(
            f'<tr><td style="{_CELL}" dir="auto">{_text(_name(finding))}</td>'
            f'<td style="{_CELL}">{finding.rows:,}</td>'
            f'<td style="{_CELL}">{finding.saved:,.1f}</td></tr>'
            for finding in found[:_CHUNKS]
        )
        heads = "".join(
            f'<th style="{_CELL}">{name}</th>' for name in ("chunk", "rows", "bits saved")
        )
        more = len(found) - _CHUNKS
        note = f"<p>The {_CHUNKS} chunks that save most; {more:,} more save bits.</p>"
        parts.insert(1, f"<table><tr>{heads}</tr>{lines}</table>" + note * (more > 0))
    return f"<div>{''.join(parts)}</div>"


def _length(fitted: FeatureSet) -> str:
    before, after = fitted.baseline_length(), fitted.description_length()
    n_columns, n_features = len(fitted.lineage.primitives), len(fitted.features)
    rows = f"{fitted.n_rows:,} rows, {n_columns:,} columns, {n_features:,} features"
    if not before:
        return f"{rows}."
    return (
        f"{rows}. Description of the data: {before:,.0f} → {after:,.0f} bits, "
        f"{after / before:.1%} of what it was."
    )


def _name(finding: Finding) -> str:
    return shortened(finding.text, _NAME_LENGTH)


def _text(said: str) -> str:
    # a name may hold a lone surrogate, which a page cannot
    return escape(said).encode("utf-8", "replace").decode()
