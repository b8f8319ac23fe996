"""The page that shows all results: static HTML, no scripts, figures beside it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from conjunct.paper.outcome import Outcome, printed

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
    """The whole page as text."""
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
    return f"<td{kind}>{escape(printed(value))}</td>"
