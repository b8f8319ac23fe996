"""A fitted estimator in a notebook: what was found, above scikit-learn's diagram."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from conjunct import explain
from conjunct.expressions import Expression

if TYPE_CHECKING:
    from conjunct.explain import Summary

_CHUNKS = 5
_FEATURES = 50
_SIMPLIFIED = 60  # literals; a longer formula is not said in words
_NAME_LENGTH = 120
_CONTRAST_LENGTH = 160
_CELL = "text-align:left;padding:2px 14px 2px 0"


class ShownInNotebooks:
    """Mixin of scikit-learn's estimators: a summary of what was found comes first."""

    def _repr_html_inner(self) -> str:
        from conjunct.explain import Summary

        diagram: str = super()._repr_html_inner()  # type: ignore[misc]
        if not hasattr(self, "feature_set_"):
            return diagram
        return summary_html(Summary(self)) + diagram  # type: ignore[arg-type]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle


class Features(tuple[Expression, ...]):
    """The features of a model: a tuple, which a notebook shows as a table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """The first of them, by their places. Names from data are escaped."""
        cells = [
            (
                str(place),
                explain.shortened(_words(feature), _NAME_LENGTH),
                explain.label(feature, longest=_NAME_LENGTH),
            )
            for place, feature in enumerate(self[:_FEATURES])
        ]
        table = _table(("", "in words", "formula"), cells)
        more = len(self) - _FEATURES
        return f"{table}<p>The first {_FEATURES}; {more:,} more.</p>" if more > 0 else table


def _words(feature: Expression) -> str:
    return explain.english(feature.simplify()) if feature.length <= _SIMPLIFIED else "–"


def summary_html(summary: Summary) -> str:
    """Show what was found, the strongest chunks, and why the run ended.

    Names from data are escaped, and it holds no script.
    """
    parts = [f"<p>{_text(f'{summary.found} {summary.length}')}</p>"]
    if summary.chunks:
        heads = ("chunk", "contrast", "rows", "evidence")
        cells = [
            (
                explain.shortened(chunk.text, _NAME_LENGTH),
                explain.shortened(chunk.contrast, _CONTRAST_LENGTH),
                f"{chunk.rows:,}",
                f"{chunk.evidence or 0:,.1f}",
            )
            for chunk in summary.chunks[:_CHUNKS]
        ]
        parts.append(_table(heads, cells))
        if len(summary.chunks) > _CHUNKS:
            parts.append(f"<p>Top {_CHUNKS} of {len(summary.chunks):,} chunks.</p>")
    parts.append(f"<p>{_text(f'{summary.ended} {summary.variables}'.rstrip())}</p>")
    return f"<div>{''.join(parts)}</div>"


def _table(heads: tuple[str, ...], cells: Sequence[tuple[str, ...]]) -> str:
    lines = "".join(f"<tr>{_row('td', line)}</tr>" for line in cells)
    return f"<table><tr>{_row('th', heads)}</tr>{lines}</table>"


def _row(tag: str, cells: tuple[str, ...]) -> str:
    return "".join(f'<{tag} style="{_CELL}" dir="auto">{_text(cell)}</{tag}>' for cell in cells)


def _text(said: str) -> str:
    # a name may hold a lone surrogate, which a page cannot
    return escape(said).encode("utf-8", "replace").decode()
