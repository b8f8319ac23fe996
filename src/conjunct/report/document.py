"""A report of a fitted model: computed once, shown as a page."""

from __future__ import annotations

import html
import math
import os
from functools import cached_property
from typing import Any

from sklearn.base import clone

from conjunct import __version__
from conjunct.estimators import FeatureConstructor
from conjunct.explain import Passage, decimal
from conjunct.files import check_page_target, write_atomically
from conjunct.paper import Stability
from conjunct.plots import plot_stability
from conjunct.report import limits, page
from conjunct.report.ancestry import ancestry
from conjunct.report.correlation import correlation
from conjunct.report.curves import curves
from conjunct.report.examples import examples, found, row_label, rows_behind
from conjunct.report.features import FeatureLine, feature_table
from conjunct.report.images import Images, Thumbnails, image_paths
from conjunct.report.merges import course, merges
from conjunct.report.model_on_rows import ModelOnRows
from conjunct.report.network import network
from conjunct.report.overview import overview
from conjunct.report.plane import Plane, plane
from conjunct.report.steps import steps

# what was found, the vocabulary, rows, how it was built; the method's numbers come last
_SECTIONS = {
    "findings": "What was found",
    "network": "Network",
    "features": "Features",
    "steps": "Rows as chunks",
    "examples": "Examples",
    "history": "Iterations",
    "ancestry": "Ancestry",
    "merges": "Merges",
    "story": "What and why",
    "data": "Data",
    "stability": "Stability",
    "figures": "",
    "plane": "Solutions",
    "correlation": "Correlation",
}


class Report:
    """A fitted model on its data as one self-contained page, to look at and to hand on.

    The page needs nothing but a browser: no other file, no network. The same model and data give
    the same bytes. In a notebook, a report shows itself.

    Parameters
    ----------
    model : UFC, UFCPath, UFringe, Fringe, CAT, ID2of3 or XofN
        Fitted. A `UFCPath` that was fitted in this session brings its solutions along.
    X : array, data frame, sparse matrix, list of baskets or BooleanData
        The rows to show; the training data, if the report is to say why the run ended. A model
        with a `Binarizer` or a `TagCleaner` takes raw data.
    title : str, optional
        What the page is called.
    stability : Stability, optional
        What :func:`conjunct.stability` gave, to be shown too: how often each feature comes back.
    images : path or sequence of paths, optional
        An image for each row, or a folder in which they are found by the names of rows: the ids
        of a BooleanData, or the index of a data frame.

    Examples
    --------
    >>> from conjunct import UFC, Report, datasets
    >>> zoo = datasets.load_zoo().values
    >>> Report(UFC().fit(zoo), zoo).html()[:15]
    '<!doctype html>'
    """

    def __init__(
        self,
        model: FeatureConstructor,
        X: Any,
        *,
        title: str | None = None,
        stability: Stability | None = None,
        images: Images | None = None,
    ) -> None:
        self.model = model
        self.title = title or f"Features by {type(model).__name__}"
        self.stability = stability
        self._shown = ModelOnRows.of(model, X)
        self._paths = image_paths(images, self._shown.row_names, self._shown.n_rows)

    def html(self) -> str:
        """The page."""
        return self._html

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page. The file is whole or absent."""
        check_page_target(path)
        content = self._html.encode()
        write_atomically(path, lambda part: part.write_bytes(content))

    def _repr_html_(self) -> str:
        # a frame of its own: neither page can touch the other
        return (
            f'<iframe sandbox="allow-scripts" title="{html.escape(self.title)}" '
            f'style="width:100%;height:720px;border:1px solid #8884" '
            f'srcdoc="{html.escape(self._html)}"></iframe>'
        )

    @cached_property
    def _html(self) -> str:
        shown, model = self._shown, self.model
        table = feature_table(shown, self.stability)
        thumbnails = Thumbnails(self._paths)
        solutions = plane(shown)
        by_pattern = shown.by_pattern
        course_of_chunks = steps(shown)
        content = {
            "title": self.title,
            "sections": self._sections(),
            "by_pattern": by_pattern,
            "summary": shown.summary,
            "found": found(shown),
            "network": network(shown),
            "steps": course_of_chunks,
            "n_rows": shown.n_rows,
            "course": course(shown) if by_pattern else (),
            "course_limit": limits.COURSE,
            "version": __version__,
            # whom a session tells of its progress is no part of a model, and no two sessions agree
            "model": repr(clone(model).set_params(callback=None)),
            "is_training": shown.is_training,
            "on_rows": shown.simplifies_on_rows,
            "overview": overview(shown),
            "story": self._story(),
            "table": table,
            "columns": [(k, shown.formula(k)) for k in table.columns],
            "plane": solutions,
            "history": model.history_,
            "curves": curves(shown),
            "correlation": correlation(shown),
            "heat_map_limit": limits.HEAT_MAP,
            "n_primitives": shown.primitives.n_columns,
            "ancestry": ancestry(shown),
            "merges": merges(shown),
            "n_merges": len(model.feature_set_.merges),
            "examples": examples(shown, table.lines, thumbnails),
            "image_notes": thumbnails.notes(),
            "stability": self.stability,
            "stability_picture": None
            if self.stability is None
            else page.inline_svg(plot_stability(self.stability), "stability"),
        }
        data = {
            "lines": [self._line_data(line) for line in table.lines],
            "steps": None if course_of_chunks is None else course_of_chunks.data,
            "plane": _plane_data(solutions),
            "onRows": shown.simplifies_on_rows,
            "images": thumbnails.uris,
        }
        return page.render(content, data)

    def _story(self) -> list[Passage]:
        """What was done and why, but for what the findings say already."""
        summary = self._shown.summary
        scores = [Passage("What the numbers say", summary.scores)] if summary.scores else []
        return [*summary.method, *scores]

    def _sections(self) -> list[tuple[str, str]]:
        """The sections in their order, with what the page's index calls them."""
        left_out = {"stability"} if self.stability is None else set()
        return [item for item in _SECTIONS.items() if item[0] not in left_out]

    def _line_data(self, line: FeatureLine) -> dict[str, Any]:
        """What the scripts sort by, and what a feature shows when it is opened."""
        merge = line.merge
        values = (merge.r, merge.p_value, merge.p_adjusted, merge.threshold) if merge else ()
        known = [None if math.isnan(value) else value for value in values] or [None] * 4
        rows = rows_behind(self._shown, line.number, limits.DETAIL_ROWS)
        return {
            "n": line.number,
            "with": line.primitives,
            "sort": [
                *(line.support, line.length, line.iteration, *known),
                *(line.evidence, line.comes_back),
            ],
            "exact": line.exact,
            "from": line.parents,
            "rows": [row_label(self._shown, row) for row in rows],
            "of": line.support,
        }


def _plane_data(found: Plane | str) -> dict[str, Any] | None:
    """Feature sets share most of their features: each text stands once."""
    if isinstance(found, str):
        return None
    texts: dict[str, int] = {}
    marks = [
        {
            "name": mark.name,
            "note": mark.note,
            "summary": mark.summary,
            "features": [
                [texts.setdefault(text, len(texts)), support] for text, support in mark.features
            ],
        }
        for mark in found.marks
    ]
    solutions = [
        [
            f"uFC({solution.threshold:g}, {solution.iterations})",
            solution.n_features,
            decimal(solution.length, 2),
            decimal(solution.oi),
            decimal(solution.c0),
        ]
        for solution in found.solutions
    ]
    return {
        "texts": list(texts),
        "marks": marks,
        "solutions": solutions,
        "chosen": found.selected,
        "slide": [[f"{low:.4f}", f"{high:.4f}", mark] for low, high, mark in found.slide],
    }
