"""Report a fitted model as a page, which is computed once."""

from __future__ import annotations

import html
import math
import os
import re
from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from conjunct import __version__
from conjunct.data import DataSummary
from conjunct.errors import InputError
from conjunct.estimators import FeatureConstructor, RowGroups
from conjunct.explain import (
    Section,
    column_preparations,
    count,
    data_facts,
    format_share,
    join_names,
    shorten,
)
from conjunct.files import check_page_target, write_atomically
from conjunct.paper import Stability
from conjunct.plots import draw_correlation, draw_history, draw_network, draw_tags
from conjunct.report import page
from conjunct.report.features import (
    draw_merges,
    list_iterations,
    picture_ancestry,
    tabulate_features,
)
from conjunct.report.findings import (
    Images,
    Thumbnails,
    describe_tags,
    image_paths,
    list_findings,
    list_groups,
    list_relations,
    look_twice,
)
from conjunct.report.model_on_rows import ModelOnRows
from conjunct.report.plane import Plane, follow_plane, plane_data
from conjunct.report.vocabulary import list_steps, list_words, word_data

_SECTIONS = {
    "findings": "Findings",
    "groups": "Groups of rows",
    "relations": "Relations",
    "second": "",
    "vocabulary": "Vocabulary",
    "rows": "Rows as chunks",
}
_TECHNICAL = (
    *("method", "data", "features", "history", "ancestry", "merges"),
    *("correlation", "stability", "plane"),
)

_MUCH_MISSING = 0.2  # of the rows
_NAMES = 6  # columns named in one alert
_SETTING = re.compile(r"; criterion=\w+\([^()]*\) requires less")
_CONSTANT = "every "  # the reasons for ignoring a constant column begin with it


class Report:
    """A fitted model on its data as one self-contained page that is easy to share.

    The page needs only a browser: no other files and no network. The same model and data give
    the same bytes. A notebook displays the report.

    Parameters
    ----------
    model : UFC, UFCPath, UFringe, Fringe, CAT, ID2of3 or XofN
        Fitted. The report of a `UFCPath` fitted in this session shows its solutions.
    X : array, data frame, sparse matrix, list of baskets or BooleanData
        The rows to show, usually the training data. A model with a `Binarizer` or a `TagCleaner`
        takes raw data.
    title : str, optional
        Title of the page.
    stability : Stability, optional
        Result of :func:`conjunct.stability`: the page then shows how often each feature recurs.
    groups : RowGroups, optional
        Groups to show, fitted on the same rows.
    images : path or sequence of paths, optional
        An image for each row, or a folder of images named by row: by the ids of a BooleanData, or
        by the index of a data frame.

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
        groups: RowGroups | None = None,
        images: Images | None = None,
    ) -> None:
        self.model = model
        self.groups = groups
        self.title = title or "Findings"
        self.stability = stability
        self._shown = ModelOnRows.of(model, X)
        n_rows = self._shown.n_rows
        if groups is not None and len(getattr(groups, "labels_", ())) != n_rows:
            raise InputError(f"groups must be fitted on the {n_rows} rows of the report")
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
        # in a frame, neither page can change the other
        return (
            f'<iframe sandbox="allow-scripts" title="{html.escape(self.title)}" '
            f'style="width:100%;height:720px;border:1px solid #8884" '
            f'srcdoc="{html.escape(self._html)}"></iframe>'
        )

    @cached_property
    def _html(self) -> str:
        shown, model, stability, groups = self._shown, self.model, self.stability, self.groups
        data_summary = DataSummary.of(shown.table)
        thumbnails = Thumbnails(self._paths)
        found = list_findings(shown, thumbnails)
        # the vocabulary contains all chunks that the page links to
        named = (one.finding for one in found if one.finding)
        several = ((x, *filter(None, [x.part_of]), *x.also[: page.ALSO]) for x in named)
        vocabulary = list_words(shown, chain.from_iterable(several))
        table = tabulate_features(shown, stability)
        # following a path takes longer than all other sections together
        plane = None if shown.by_pattern else follow_plane(shown)
        steps = list_steps(shown, groups)
        network = draw_network(model.feature_set_, page.NETWORK_TAGS)
        relations, second = list_relations(shown), look_twice(shown)
        n_found = len(shown.summary.findings)
        overview = shown.summary.overview.partition(" Strongest: ")[0]
        method = [Section("Model", repr(model)), *shown.summary.method]
        if n_found and not shown.by_pattern:  # constructed features are for experts
            method += [Section("Result", overview)]
            size = f"{count(shown.n_rows, 'row')} and {count(len(shown.names), 'column')}"
            overview = f"{size}: {count(n_found, 'finding')}."
        method += [Section("End", shown.summary.stop_reason or shown.summary.ending)]
        for head, text in (("Size", shown.summary.length), ("Scores", shown.summary.scores)):
            method += [Section(head, text)] if text else []
        bits = shown.by_pattern or not math.isnan(model.history_[0].evidence)
        curves = draw_history(model.history_, bits=bits)
        correlation = draw_correlation(model, shown.primitives, shown.features, page.HEAT_MAP)
        left_out = {
            "groups": groups is None,
            "relations": not network.tags and not (relations and relations.lists),
            "second": second is None,
            "rows": steps is None,
            "stability": stability is None,
            "plane": plane is None,
            # unchanged columns have the same correlations after as before
            "correlation": not shown.summary.new_features,
        }
        content = {
            "title": self.title,
            "shown": shown,
            "model": model,
            "version": __version__,
            "sections": [(k, name) for k, name in _SECTIONS.items() if not left_out.get(k)],
            "technical": [name for name in _TECHNICAL if not left_out.get(name)],
            "overview": overview,
            "ending": _SETTING.sub("", shown.summary.ending),
            "alerts": tuple(_alerts(shown, data_summary)),
            "facts": data_facts(data_summary, model.feature_set_),
            "row_sizes": _count_row_sizes(shown),
            "prepared": tuple(column_preparations(model.preparation_).items()),
            "is_cleaned": model.preparation_.cleaner is not None,
            "found": found,
            "limits": page,
            "image_notes": thumbnails.notes(),
            "groups": () if groups is None else list_groups(shown, groups.groups_),
            "n_groups": 0 if groups is None else groups.n_groups_,
            "network": network,
            "network_picture": page.draw(draw_tags(network, describe_tags(network))),
            "relations": relations,
            "second": second,
            "vocabulary": vocabulary,
            "steps": steps,
            "method": method,
            "table": table,
            "columns": [
                (k, shown.formula(k)) for k in sorted({k for x in table for k in x.data["with"]})
            ],
            "course": list_iterations(shown) if shown.by_pattern else (),
            "curves": page.draw(curves) if model.n_iter_ else "",
            "ancestry": picture_ancestry(shown),
            "merges": draw_merges(shown),
            "correlation": page.draw(correlation),
            "stability": stability,
            "stability_pictures": [] if stability is None else map(page.draw, stability.draw()),
            "plane": plane,
        }
        data = {
            "tables": {
                "vocabulary": [word_data(shown, word) for word in vocabulary.words],
                "features": [line.data for line in table],
            },
            "steps": None if steps is None else steps.data,
            "plane": plane_data(plane) if isinstance(plane, Plane) else None,
            "images": thumbnails.uris,
        }
        return page.render(content, data)


def _alerts(shown: ModelOnRows, data: DataSummary) -> Iterator[tuple[str, str]]:
    """Yield notes about the data: copies, constants, missing values, ignored columns."""
    if shown.summary.copies:
        yield "Copies", shown.summary.same_columns
    n_known = dict(zip(shown.names, shown.primitives.count_known().tolist(), strict=True))
    supports = dict(zip(shown.names, shown.primitives.supports().tolist(), strict=True))
    constant = [(d.column, d.reason) for d in data.dropped if d.reason.startswith(_CONSTANT)]
    constant += [
        (name, "in all rows" if supports[name] else "in no row")
        for name in data.constant
        if n_known[name]
    ]
    missing: dict[str, int] = {}
    for name, known in n_known.items():
        if known < (1 - _MUCH_MISSING) * shown.n_rows:
            column = shown.model.preparation_.source_of(name)
            missing[column] = max(missing.get(column, 0), shown.n_rows - known)
    gaps = sorted(missing.items(), key=lambda gap: -gap[1])
    columns = {
        "Constant": constant,
        "Many missing values": [
            (name, f"{format_share(n / shown.n_rows)} of the cells") for name, n in gaps
        ],
        "Left out": [
            (d.column, d.reason) for d in data.dropped if not d.reason.startswith(_CONSTANT)
        ],
    }
    for heading, some in columns.items():
        names = [
            f"{shorten(column, 60) or 'a column without a name'} ({shorten(text, 60)})"
            for column, text in some
        ]
        if names:
            yield heading, f"{join_names(names, _NAMES, page.NAME_LENGTH)}."


def _count_row_sizes(shown: ModelOnRows) -> list[tuple[str, int]]:
    """Count the rows by their number of tags, in at most 24 steps."""
    sizes = np.zeros(shown.n_rows, np.int64)
    for k in range(shown.primitives.n_columns):
        sizes[shown.primitives.true_rows(k)] += 1
    least = int(sizes.min())
    counts = np.bincount(sizes - least)
    width = -(-len(counts) // 24)
    return [
        (
            f"{least + k}" if width == 1 else f"{least + k}–{least + k + width - 1}",
            int(counts[k : k + width].sum()),
        )
        for k in range(0, len(counts), width)
    ]
