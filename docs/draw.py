"""Draw the pictures of README.md, index.md and evidence.md: ``python docs/draw.py``.

All of them show ``UFC()`` on the bundled photographs (coco_val2017).
"""

from __future__ import annotations

import sys
from html import escape
from math import log2
from pathlib import Path

import numpy as np
import polars as pl

from conjunct import UFC, datasets
from conjunct.ufc import evidence

FOLDER = Path(__file__).parent / "images"
ROWS = (2, 33, 3249)
COLOURS = ("c0", "c1", "c2", "c3")
STYLE = """
text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: #1f2933 }
.small { font-size: 12px; fill: #52606d } .strong { font-weight: 600 }
.middle { text-anchor: middle } .end { text-anchor: end } .card { fill: #fff; stroke: #d5dbe1 }
.pill { fill: #eef1f4; stroke: #b8c2cc } .grid { stroke: #d5dbe1 }
.c0 { fill: #cfe3fb; stroke: #2f6fb3 } .c1 { fill: #fbe0c4; stroke: #b56a17 }
.c2 { fill: #d3efd6; stroke: #2f8540 } .c3 { fill: #ead9f7; stroke: #7c4aa8 }
.curve { stroke: #2f6fb3; stroke-width: 2.5; fill: none }
.price { stroke: #b56a17; stroke-width: 2.5; fill: none } .area { fill: #2f6fb3 }
@media (prefers-color-scheme: dark) {
text { fill: #e6e9ec } .small { fill: #a9b4bf } .card { fill: #17191c; stroke: #3a4149 }
.pill { fill: #262b31; stroke: #55606b } .grid { stroke: #3a4149 }
.c0 { fill: #1b3a5c; stroke: #6ea8e6 } .c1 { fill: #55370f; stroke: #e3a35a }
.c2 { fill: #1d4526; stroke: #74c686 } .c3 { fill: #3f2656; stroke: #c197ea }
.curve { stroke: #6ea8e6 } .price { stroke: #e3a35a } .area { fill: #6ea8e6 } }
"""
MOVING = """
@media (prefers-reduced-motion: no-preference) {
.tag { animation: gather 9s ease-in-out infinite }
.chunk { animation: show 9s ease-in-out infinite }
@keyframes gather { 0%, 22% { transform: translate(var(--x), 0) } 40%, 100% { transform: none } }
@keyframes show { 0%, 34% { opacity: 0 } 44%, 96% { opacity: 1 } 100% { opacity: 0 } } }
"""


def main() -> int:
    coco = datasets.load_coco_val2017()
    table = pl.DataFrame(coco.values, schema=list(coco.feature_names))
    model = UFC().fit(table)
    values = np.asarray(coco.values, np.int64)
    save("chunks", rows_become_chunks(table, model), MOVING)
    save("how-1-count", counts(table, values))
    save("how-2-judge", judged(table, values))
    save("how-3-replace", replaced(table, values))
    save("how-4-stop", stopped(model))
    return 0


def save(name: str, drawn: tuple[int, int, str, list[str]], more: str = "") -> None:
    width, height, title, parts = drawn
    card = f'<rect class="card" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="10"/>'
    text = "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" aria-label="{escape(title)}">',
            f"<title>{escape(title)}</title><style>{STYLE}{more}</style>",
            card,
            *parts,
            "</svg>\n",
        ]
    )
    (FOLDER / f"{name}.svg").write_text(text, encoding="utf-8")


def words(x: float, y: float, text: str, kind: str = "") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def box(x: float, y: float, width: float, height: float, kind: str, radius: float = 13) -> str:
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}" rx="{radius}"/>'
    )


def pill_width(tag: str) -> float:
    return 7.3 * len(tag) + 20


def rows_become_chunks(table: pl.DataFrame, model: UFC) -> tuple[int, int, str, list[str]]:
    """Draw tags of three photographs, grouped into chunks; without motion, the chunks."""
    parts = [words(24, 34, "Tags of three photographs, read as chunks", "strong")]
    y = 54.0
    for row, chunks in zip(ROWS, model.chunks(table[list(ROWS)]), strict=True):
        tags = [name for name in table.columns if table[row, name]]
        start, x = {}, 24.0
        for tag in tags:
            start[tag] = x
            x += pill_width(tag) + 8
        x = 24.0
        for k, chunk in enumerate(chunks):
            width = sum(map(pill_width, chunk))
            colour = COLOURS[k % len(COLOURS)]
            pills = []
            for tag in chunk:
                moved = f'style="--x: {start[tag] - x:.1f}px"'
                pills.append(
                    f'<g class="tag" {moved}>{box(x, y, pill_width(tag), 26, "pill")}'
                    f'<g class="chunk">{box(x, y, pill_width(tag), 26, colour, 4)}</g>'
                    f"{words(x + pill_width(tag) / 2, y + 17.5, tag, 'middle')}</g>"
                )
                x += pill_width(tag)
            outline = box(x - width - 3, y - 3, width + 6, 32, colour, 15)
            parts += [f'<g class="chunk">{outline}</g>', *pills]
            x += 22
        y += 50
    n_tags, n_chunks = int(table.sum().sum_horizontal()[0]), len(model.chunks(table, output="long"))
    found = (
        f"{table.height:,} photographs: {n_tags:,} tags become {n_chunks:,} chunks, nothing lost"
    )
    parts.append(words(24, y + 8, found, "small"))
    return 540, int(y + 28), "Tags grouped into chunks", parts


SOME = ("chair", "dining table", "cup", "bottle", "fork", "knife", "car", "truck", "bus")


def counts(table: pl.DataFrame, values: np.ndarray) -> tuple[int, int, str, list[str]]:
    """Draw how often tags occur together, as a grid."""
    here = [table.columns.index(name) for name in SOME]
    joint = values[:, here].T @ values[:, here]
    parts = [words(24, 34, "1  Count how often tags meet", "strong")]
    size, left, top = 46, 130, 96
    for i, name in enumerate(SOME):
        parts.append(words(left - 10, top + i * 32 + 21, name, "end small"))
        turned = f"translate({left + i * size + 14} {top - 8}) rotate(-25)"
        parts.append(f'<text class="small" transform="{turned}">{escape(name)}</text>')
        for j in range(len(SOME)):
            share = 0 if i == j else (joint[i, j] / min(joint[i, i], joint[j, j])) ** 0.7
            x, y = left + j * size, top + i * 32
            parts.append(
                f'<rect class="area" x="{x}" y="{y}" width="{size - 2}" height="30" rx="3" '
                f'opacity="{0.05 + 0.75 * min(1, share):.2f}"/>'
            )
            parts.append(words(x + size / 2 - 1, y + 20, f"{joint[i, j]}", "middle small"))
    told = "Numbers are photographs; on the diagonal, those with the tag itself."
    parts.append(words(24, top + len(SOME) * 32 + 28, told, "small"))
    return (
        640,
        top + len(SOME) * 32 + 46,
        "A grid of how many photographs show both of two tags",
        parts,
    )


PAIRS = (("chair", "dining table"), ("fork", "knife"), ("car", "truck"), ("person", "cup"))


def judged(table: pl.DataFrame, values: np.ndarray) -> tuple[int, int, str, list[str]]:
    """Draw how often pairs occur together, and how often by chance."""
    parts = [words(24, 34, "2  Weigh the evidence that two tags go together", "strong")]
    y, n_rows = 62.0, len(values)
    most = max(int(_joint(table, values, *pair)) for pair in PAIRS)
    for left, right in PAIRS:
        meet = _joint(table, values, left, right)
        chance = _support(table, values, left) * _support(table, values, right) / n_rows
        parts.append(words(180, y + 18, f"{left} + {right}", "end"))
        for k, (number, colour) in enumerate(((meet, "c0"), (chance, "pill"))):
            width = 230 * number / most
            parts.append(box(192, y + 14 * k, max(width, 1), 12, colour, 3))
            said = f"{number:.0f} by chance"
            if k == 0:
                supports = (_support(table, values, name) for name in (left, right))
                bits = float(evidence(n_rows, *map(np.array, (*supports, meet))))
                said = f"{number:.0f} meet: {bits:.1f} bits of evidence"
            parts.append(words(200 + width, y + 10.5 + 14 * k, said, "small"))
        y += 46
    told = "The first merge costs 17.8 bits, later ones less. Person and cup are not worth it."
    parts.append(words(24, y + 8, told, "small"))
    return 640, int(y + 26), "Pairs of tags: how often they meet, and by chance", parts


def replaced(table: pl.DataFrame, values: np.ndarray) -> tuple[int, int, str, list[str]]:
    """Draw two columns, and the three disjoint columns that replace them."""
    left, right = PAIRS[0]
    both = _joint(table, values, left, right)
    a, b = _support(table, values, left), _support(table, values, right)
    parts = [words(24, 34, "3  Replace the two by three columns that exclude each other", "strong")]
    scale, y = 0.42, 60
    for k, (name, start, rows, colour) in enumerate(
        (
            (left, 0, a, "pill"),
            (right, a - both, b, "pill"),
            (f"{left} (rest)", 0, a - both, "c1"),
            (f"{left} + {right}", a - both, both, "c0"),
            (f"{right} (rest)", a, b - both, "c2"),
        )
    ):
        top = y + 34 * k + (22 if k > 1 else 0)
        parts.append(words(180, top + 18, name, "end"))
        parts.append(box(192 + scale * start, top, scale * rows, 26, colour, 4))
        parts.append(words(192 + scale * (start + rows / 2), top + 18, f"{rows}", "middle"))
    end = y + 34 * 5 + 22
    told = "Rows lie side by side: where both were true, only the chunk is now. Nothing is lost."
    parts.append(words(24, end + 14, told, "small"))
    return 640, end + 32, "Chair and dining table are replaced by both, and the rest of each", parts


def stopped(model: UFC) -> tuple[int, int, str, list[str]]:
    """Draw the evidence and the cost of each merge."""
    merges = model.feature_set_.merges
    parts = [words(24, 34, "4  Stop when the next pair is not worth its price", "strong")]
    left, top, width, height = 84, 60, 520, 170
    low, high = log2(8), log2(400)

    def at(k: int, value: float) -> tuple[float, float]:
        return (
            left + width * k / (len(merges) - 1),
            top + height * (high - log2(value)) / (high - low),
        )

    for value in (10, 30, 100, 300):
        y = at(0, value)[1]
        parts.append(f'<path class="grid" d="M{left} {y:.1f}H{left + width}"/>')
        parts.append(words(left - 8, y + 4, f"{value} bits", "end small"))
    for kind, values in (
        ("price", [merge.threshold for merge in merges]),
        ("curve", [merge.score for merge in merges]),
    ):
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(k, v) for k, v in enumerate(values)))
        parts.append(f'<polyline class="{kind}" points="{points}"/>')
    x, y = at(12, merges[12].score)
    parts.append(words(x + 10, y - 4, "evidence of each merge", "strong"))
    x, y = at(12, merges[12].threshold)
    parts.append(words(x, y - 8, "its price", "strong"))
    parts.append(words(left, top + height + 22, "first merge", "small"))
    parts.append(words(left + width, top + height + 22, f"merge {len(merges)}", "end small"))
    return 640, top + height + 42, "Evidence of each merge, falling to its price", parts


def _support(table: pl.DataFrame, values: np.ndarray, name: str) -> int:
    return int(values[:, table.columns.index(name)].sum())


def _joint(table: pl.DataFrame, values: np.ndarray, left: str, right: str) -> int:
    first, second = (values[:, table.columns.index(name)] for name in (left, right))
    return int((first & second).sum())


if __name__ == "__main__":
    sys.exit(main())
