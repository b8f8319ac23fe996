"""Write every table and figure to a folder, with an index page."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from conjunct.errors import InputError
from conjunct.files import write_atomically
from conjunct.paper.experiments import outcomes
from conjunct.paper.study import Outcome, Study, format_cell
from conjunct.plots import save_chart

# bounds what an unknown table may cost
MAX_SOLUTIONS = 20_000


def reproduce(
    out: str | os.PathLike[str],
    X: Any = None,
    *,
    name: str = "data",
    watch: Callable[[Outcome], None] = lambda outcome: None,
) -> list[Outcome]:
    """Write each table and figure as CSV, SVG and PNG, and ``index.html`` that shows them.

    Parameters
    ----------
    out : path
        Folder to write to; made if need be.
    X : any container that estimators take, optional
        By default ``spect``, the one data set of the paper that is still available.
    name : str, default="data"
        What to call ``X`` in titles.
    watch : callable, optional
        Called with each outcome as it is written.

    Examples
    --------
    >>> from conjunct import datasets, paper
    >>> written = paper.reproduce("tables", datasets.load_zoo().values[:, :5])  # doctest: +SKIP
    """
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"{folder} is a file: choose a folder for the results") from None
    written = []
    study = None if X is None else Study.of(X, name, MAX_SOLUTIONS)
    for outcome in outcomes(study):
        text = outcome.csv()
        write_atomically(
            folder / f"{outcome.name}.csv", partial(Path.write_text, data=text, encoding="utf-8")
        )
        for ending, chart in outcome.charts.items():
            file = f"{outcome.name}{ending}"
            save_chart(chart(), folder / f"{file}.svg", folder / f"{file}.png")
        written.append(outcome)
        watch(outcome)
    page = index_page(written, "spect" if study is None else name)
    write_atomically(folder / "index.html", lambda part: part.write_text(page, "utf-8"))
    return written


_MAX_ROWS = 60

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
  color: #1b1b1b; background: #fff }
h2 { margin-top: 3rem; font-size: 1.25rem }
img { max-width: 30rem; width: 100%; margin: .5rem 1rem .5rem 0; vertical-align: top }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-size: .85rem; margin: 1rem 0 }
th, td { padding: .2rem .7rem; border-bottom: 1px solid #ddd; text-align: left }
td { vertical-align: top }
td.number { text-align: right; font-variant-numeric: tabular-nums }
nav li { margin: .15rem 0 }
@media print { nav { display: none } section { break-inside: avoid } }
"""


def index_page(outcomes: Sequence[Outcome], name: str) -> str:
    """Return the whole page as text."""
    title = escape(f"The paper's tables and figures on {name}")
    links = "\n".join(
        f'<li><a href="#{escape(outcome.name)}">{escape(outcome.title)}</a></li>'
        for outcome in outcomes
    )
    sections = "\n".join(map(_section, outcomes))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{title}</h1>\n"
        "<p>Rizoiu, Velcin, Lallich: <cite>Unsupervised Feature Construction for Improving Data "
        "Representation and Semantics</cite>. Columns that begin with <i>published</i> are the "
        "paper's own values.</p>\n"
        f"<nav><ul>\n{links}\n</ul></nav>\n{sections}\n</body>\n</html>\n"
    )


def _section(outcome: Outcome) -> str:
    figures = "\n".join(
        f'<img src="{escape(outcome.name + ending)}.svg" '
        f'alt="{escape(outcome.title + ending.replace("-", " "))}">'
        for ending in outcome.charts
    )
    return (
        f'<section id="{escape(outcome.name)}">\n<h2>{escape(outcome.title)}</h2>\n'
        f"<p>{escape(outcome.text)}</p>\n{figures}\n{_table(outcome)}\n"
        f'<p><a href="{escape(outcome.name)}.csv">{escape(outcome.name)}.csv</a>, '
        f"{len(outcome.rows)} rows</p>\n</section>"
    )


def _table(outcome: Outcome) -> str:
    if len(outcome.rows) > _MAX_ROWS:
        return ""
    heads = "".join(f"<th>{escape(column.replace('_', ' '))}</th>" for column in outcome.columns)
    lines = "\n".join(
        "<tr>" + "".join(_cell(row.get(column)) for column in outcome.columns) + "</tr>"
        for row in outcome.rows
    )
    return f'<div class="wide"><table>\n<tr>{heads}</tr>\n{lines}\n</table></div>'


def _cell(value: object) -> str:
    if isinstance(value, float) and value == value and abs(value) >= 1e-4:
        return f'<td class="number">{value:.3f}</td>'
    kind = ' class="number"' if isinstance(value, int | float) else ""
    return f"<td{kind}>{escape(format_cell(value))}</td>"
