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
from conjunct.explain import Passage
from conjunct.files import check_page_target, write_atomically
from conjunct.paper import Stability
from conjunct.plots import plot_stability
from conjunct.report import limits, page
from conjunct.report.features import (
    FeatureLine,
    draw_merges,
    list_iterations,
    list_steps,
    summarize_data,
    tabulate_features,
)
from conjunct.report.findings import (
    Images,
    Thumbnails,
    choose_examples,
    find_chunks,
    image_paths,
)
from conjunct.report.model_on_rows import ModelOnRows
from conjunct.report.pictures import draw_ancestry, draw_correlation, draw_curves, draw_network
from conjunct.report.plane import Plane, follow_plane, plane_data

# findings, features, rows, how they were built; the numbers of the method come last
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
        """Return the page."""
        return self._html

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page atomically."""
        check_page_target(path)
        content = self._html.encode()
        write_atomically(path, lambda part: part.write_bytes(content))

    def _repr_html_(self) -> str:
        # in a frame: neither page can touch the other
        return (
            f'<iframe sandbox="allow-scripts" title="{html.escape(self.title)}" '
            f'style="width:100%;height:720px;border:1px solid #8884" '
            f'srcdoc="{html.escape(self._html)}"></iframe>'
        )

    @cached_property
    def _html(self) -> str:
        shown, model = self._shown, self.model
        table = tabulate_features(shown, self.stability)
        thumbnails = Thumbnails(self._paths)
        # to follow a path takes longer than the other sections together
        plane = None if shown.by_pattern else follow_plane(shown)
        steps = list_steps(shown)
        stability = self.stability
        story = list(shown.summary.method)
        if shown.summary.scores:
            story.append(Passage("What the numbers say", shown.summary.scores))
        left_out = [
            name for name, part in (("stability", stability), ("plane", plane)) if part is None
        ]
        content = {
            "title": self.title,
            "sections": [(id_, name) for id_, name in _SECTIONS.items() if id_ not in left_out],
            "by_pattern": shown.by_pattern,
            "summary": shown.summary,
            "found": find_chunks(shown),
            "network": draw_network(shown),
            "steps": steps,
            "n_rows": shown.n_rows,
            "course": list_iterations(shown) if shown.by_pattern else (),
            "course_limit": limits.COURSE,
            "version": __version__,
            # without the callback, which differs between sessions: a page is reproducible
            "model": repr(clone(model).set_params(callback=None)),
            "is_training": shown.is_training,
            "on_rows": shown.simplifies_on_rows,
            "overview": summarize_data(shown),
            "story": story,
            "table": table,
            "columns": [(k, shown.formula(k)) for k in table.columns],
            "plane": plane,
            "history": model.history_,
            "curves": draw_curves(shown),
            "correlation": draw_correlation(shown),
            "heat_map_limit": limits.HEAT_MAP,
            "n_primitives": shown.primitives.n_columns,
            "ancestry": draw_ancestry(shown),
            "merges": draw_merges(shown),
            "n_merges": len(model.feature_set_.merges),
            "examples": choose_examples(shown, table.lines, thumbnails),
            "image_notes": thumbnails.notes(),
            "stability": stability,
            "stability_picture": None
            if stability is None
            else page.inline_svg(plot_stability(stability), "stability"),
        }
        data = {
            "lines": [self._line_data(line) for line in table.lines],
            "steps": None if steps is None else steps.data,
            "plane": plane_data(plane) if isinstance(plane, Plane) else None,
            "onRows": shown.simplifies_on_rows,
            "images": thumbnails.uris,
        }
        return page.render(content, data)

    def _line_data(self, line: FeatureLine) -> dict[str, Any]:
        """Return what the scripts sort by, and what a feature shows when it is opened."""
        merge = line.merge
        values = (merge.r, merge.p_value, merge.p_adjusted, merge.threshold) if merge else ()
        known = [None if math.isnan(value) else value for value in values] or [None] * 4
        rows = self._shown.sample_rows_of(line.number, limits.DETAIL_ROWS)
        return {
            "n": line.number,
            "with": line.primitives,
            "sort": [
                *(line.support, line.length, line.iteration, *known),
                *(line.evidence, line.comes_back),
            ],
            "exact": line.exact,
            "from": line.parents,
            "rows": [self._shown.row_label(row) for row in rows],
            "of": line.support,
        }
