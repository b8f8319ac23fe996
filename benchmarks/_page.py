"""``python -m benchmarks._page``: write the measurements into the documentation.

Takes the runs in ``benchmarks/results`` into ``docs/benchmarks.json``, and from there the tables
between ``<!-- NAME -->`` and ``<!-- end -->`` of the pages, and the pictures. A table shows one
run.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks import _pictures, _results
from benchmarks._merging import SHAPES, TAGS, merge_exponent
from benchmarks.growth import FORMS, SWEEPS, VARIED, exponent
from benchmarks.limit import WAYS, instruction_rate
from conjunct.plots import save_chart

DOCS = Path(__file__).resolve().parents[1] / "docs"
DATA = DOCS / "benchmarks.json"
NAMES = ("benchmarks", "evidence", "export", "learning", "risk", "scale", "trees")
PAGES = tuple(DOCS / f"{name}.md" for name in NAMES)
_PLACE = re.compile(r"(<!-- (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def main() -> int:
    found = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {}
    for file in sorted(_results.FOLDER.glob("*.json")):
        found[file.stem] = json.loads(file.read_text(encoding="utf-8"))
    text = json.dumps(found, indent=1, ensure_ascii=False)
    DATA.write_text(text + "\n", encoding="utf-8")
    tables = tables_of(found)
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8"), tables), encoding="utf-8")
    save_chart(_pictures.rivals(found["rivals"]), DOCS / "images" / "rivals.svg")
    save_chart(_pictures.growth(found["growth"]), DOCS / "images" / "growth.svg")
    return 0


def filled(page: str, tables: dict[str, str]) -> str:
    """Return the page with each table in its place."""

    def fill(place: re.Match[str]) -> str:
        return place[1] + tables[place[2]] + "\n" + place[3] if place[2] in tables else place[0]

    return _PLACE.sub(fill, page)


def tables_of(found: dict[str, Any]) -> dict[str, str]:
    return {
        "machine": _machine(found),
        "limit": _limit(found["limit"]),
        "rivals": _rivals(found["rivals"]),
        "rivals_default": _rivals_default(found["rivals_default"]),
        "growth": _growth(found["growth"]),
        "scaling": _scaling(found["scaling"]),
        "bits": _bits(found["bits"]),
        "unseen": _unseen(found["bits"]),
        "chance": _chance(found["chance"]),
        "evidence_unseen": _evidence_unseen(found["evidence"]),
        "evidence_density": _evidence_density(found["evidence"]),
        "evidence_planted": _evidence_planted(found["evidence"]),
        "evidence_chance": _evidence_chance(found["evidence"]),
        "evidence_fits": _evidence_fits(found["evidence"]),
        "default_fits": _default_fits(found["default"]),
        "default_growth": _default_growth(found["default"]),
        "default_waits": _default_waits(found["default"]),
        "rounds": _rounds(found["rounds"]),
        "round_passes": _round_passes(found["round_passes"]),
        "merges": _merges(found["merges"]),
        "merge_growth": _merge_growth(found["merges"]),
        "expected": _expected(found["expected"]),
        "classifying": _classifying(found["classifying"]),
        "transform": _transform(found["transform"]),
        "family_bundled": _family_bundled(found["family"]),
        "family_problems": _family_problems(found["family"]),
        "m_of_n": _m_of_n(found["m_of_n"]),
        "sql": _sql(found["sql"]),
        "cluster": _cluster(found["cluster"]),
    }


def table_of(head: list[str], lines: list[list[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows)


def _machine(found: dict[str, Any]) -> str:
    runs = {json.dumps(run["machine"], sort_keys=True): run["machine"] for run in found.values()}
    told = [
        f"{machine['processor']}, {machine['cores']} cores; "
        + ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
        for machine in runs.values()
    ]
    head = "The tables were measured on these machines, with these versions:"
    return "\n".join([head, "", *(f"- {line}" for line in told)])


def _limit(run: dict[str, Any]) -> str:
    best, instruction = max(run["limits"].values()), instruction_rate(run["limits"])
    (n_rows, n_columns), table, cache = run["shape"], run["kernel"]["table"], run["kernel"]["cache"]
    lines = [
        [WAYS[way], f"{rate / 1e12:.3f}", f"{rate / instruction:.0%}", f"{rate / best:.0%}"]
        for way, rate in run["limits"].items()
    ]
    kernel = f"conjunct's kernel ({run['kernel_name']})"
    lines += [
        [name, f"{rate / 1e12:.3f}", f"{rate / instruction:.0%}", f"{rate / best:.0%}"]
        for name, rate in (
            (f"**{kernel}, {n_rows:,} × {n_columns:,}**", table),
            (f"{kernel}, lines that stay in the cache", cache),
        )
    ]
    apart, together = table / 4, table / (4 * n_columns)
    head = ["one thread", "10¹² bit pairs per second", "of the instruction", "of the fastest"]
    told = (
        f"One thread reads {_gigabytes(run['read'])} per second from memory and copies "
        f"{_gigabytes(run['copy'])}. If it read two lines for each pair, it would need "
        f"{_gigabytes(apart)} per second, {apart / run['read']:.1f} times as much as memory "
        f"delivers. If it reads each line once, it needs {together / 1e9:.2f} GB per second, "
        f"{together / run['read']:.1%} of what memory delivers. On the table, the kernel reaches "
        f"{table / cache:.0%} of its speed in the cache, so it "
        f"{'does not wait' if table > 0.9 * cache else 'waits'} for memory."
    )
    return table_of(head, lines) + "\n\n" + _wrapped(told)


def _classifying(run: dict[str, Any]) -> str:
    sets, lines = run["sets"], []
    for data in sets:
        n_rows, n_columns = data["shape"]
        found = (
            f"{right:.3f} ± {error:.3f}, {loss:.3f}"
            for right, error, loss, _ in data["ways"].values()
        )
        lines.append([f"{data['name']}, {n_rows:,} × {n_columns}", *found])
    ways = list(sets[0]["ways"])

    def mean(way: str, which: int) -> float:
        return sum(data["ways"][way][which] for data in sets) / len(sets)

    lines.append(["mean", *(f"{mean(way, 0):.3f}, {mean(way, 2):.3f}" for way in ways)])
    return table_of(["", *ways], lines)


def _rivals(run: dict[str, Any]) -> str:
    parts = []
    yardstick = run["limits"]["yardstick"]
    for data in run["sets"]:
        n_rows, n_columns = data["shape"]
        ours = next(line["seconds"] for line in data["rivals"] if line["rival"] == yardstick)
        title = f"**{data['name']}**, {n_rows:,} × {n_columns:,}, "
        head = ["", "time", f"× `{yardstick}`", "resident memory", "output"]
        lines = [_rival(line, ours) for line in data["rivals"]]
        parts.append(f"{title}{data['ones'] / n_rows:.1f} ones per row\n\n{table_of(head, lines)}")
    return "\n\n".join(parts)


def _rivals_default(run: dict[str, Any]) -> str:
    """Return a table of times: a line for each method, a column for each set."""
    times = {
        (line["rival"], k): _rival(line, 1.0)[1]
        for k, data in enumerate(run["sets"])
        for line in data["rivals"]
    }
    names = dict.fromkeys(name for name, _ in times)
    head = ["", *(data["name"] for data in run["sets"])]
    before, after = run["loads"]
    load = f"The 2 cores had a load of {before:.1f} before the run and {after:.1f} after it."
    sets = range(len(run["sets"]))
    lines = [[f"`{name}`", *(times.get((name, k), "–") for k in sets)] for name in names]
    return table_of(head, lines) + "\n\n" + load


def _rival(line: dict[str, Any], ours: float) -> list[str]:
    name = line["rival"] if line["rival"].startswith("uFC") else f"`{line['rival']}`"
    if "stopped" in line:
        least = line["stopped"] / ours
        return [name, f"stopped at {line['stopped']} s", f"> {_figures(least)}", "", ""]
    if "needs" in line:
        return [name, "refused", "", f"needs {_gigabytes(line['needs'])} or more", ""]
    ratio, memory = _figures(line["seconds"] / ours), _gigabytes(line["resident"])
    output = re.sub(r"\b\d{4,}\b", lambda number: f"{int(number[0]):,}", line["gives"])
    output = re.sub(r"\b1 iterations$", "1 iteration", output)
    return [name, f"{_figures(line['seconds'])} s", ratio, memory, output]


def _growth(run: dict[str, Any]) -> str:
    lines = []
    for sweep, points in SWEEPS.items():
        sizes = [float(point[VARIED[sweep]]) for point in points]
        for method in FORMS:
            found = [line for line in run["sweeps"][sweep] if line["method"] == method]
            times = [line["seconds"] for line in found]
            extra = [line["resident"] - line["before"] for line in found]
            name = (
                f"`{method}`" if method == "np.corrcoef" else f'`UFC("risk", storage="{method}")`'
            )
            lines.append(
                [
                    f"{sweep}, {_size(sweep, sizes[0])} → {_size(sweep, sizes[-1])}",
                    name,
                    f"{_figures(times[0])} → {_figures(times[-1])} s",
                    f"{exponent(sizes, times):.2f}",
                    f"{extra[0] / 1e6:,.0f} → {extra[-1] / 1e6:,.0f} MB",
                    f"{exponent(sizes, extra):.2f}",
                ]
            )
    return table_of(["grows", "", "time", "exponent", "memory", "exponent"], lines)


def _size(sweep: str, value: float) -> str:
    return f"{value:.1%}" if sweep == "density" else f"{value:,.0f}"


def _scaling(run: dict[str, Any]) -> str:
    lines = []
    for how in dict.fromkeys(line["how"] for line in run["lines"]):
        half, one, two = (line for line in run["lines"] if line["how"] == how)
        for kind, base, ideal in (("strong", one, 2), ("weak", half, 1)):
            rows, columns = two["shape"]
            clock = [median(line["seconds"]) for line in (base, two)]
            low, reached, high = _of_rounds(base["seconds"], two["seconds"], ideal)
            _, both_cores, _ = _of_rounds(base["used"], two["seconds"], ideal)
            _, work, _ = _of_rounds(two["used"], base["used"], 2 / ideal)
            lines.append(
                [
                    f"{kind}, {how}",
                    f"{base['shape'][0]:,} → {rows:,} × {columns}",
                    f"{_figures(clock[0])} s → {_figures(clock[1])} s",
                    f"{reached:.0%} ({low:.0%} to {high:.0%})",
                    f"{both_cores:.0%}",
                    f"{work:.2f}",
                ]
            )
    head = ["from 1 to 2", "rows", "wall time", "of the ideal", "of two cores", "CPU time per row"]
    cores = run["machine"]["cores"]
    busy = [
        f"{line['how']} {median(line['used']) / median(line['seconds']):.1f}"
        for line in run["lines"][1::3]
    ]
    told = (
        f"The {cores} cores had a load of {run['load']:.1f} before the runs. "
        f"The first run kept this many cores busy: {', '.join(busy)}."
    )
    return table_of(head, lines) + "\n\n" + _wrapped(told)


def _of_rounds(some: Sequence[float], others: Sequence[float], ideal: float) -> list[float]:
    """Return the quartiles of the ratios of two lists, round by round."""
    return quantiles([one / other / ideal for one, other in zip(some, others, strict=True)], n=4)


def _bits(run: dict[str, Any]) -> str:
    head = [
        "",
        "rows × columns",
        "Krimp",
        "SLIM",
        "`Bits(alpha=None)`",
        '`UFC("bits")`',
        "risk",
    ]
    table = table_of(head, [_bits_line(line) for line in run["sets"]])
    uneven = [
        f"{line['name']} {found['renamed'][0]:.1f} to {found['renamed'][-1]:.1f} ({way})"
        for line in run["sets"]
        for way, found in line["ways"].items()
        if found["renamed"][-1] - found["renamed"][0] > 0.1
    ]
    told = (
        f"If two pairs save the same number of bits, their names decide. If the names are "
        f"permuted among the columns ({run['namings']} times), L% changes by at most 0.1"
        + (f", with these exceptions: {', '.join(uneven)}." if uneven else " everywhere.")
    )
    return table + "\n\n" + _wrapped(told)


def _bits_line(line: dict[str, Any]) -> list[str]:
    known, slim = line.get("known", {}), line.get("slim", {})
    krimp = known.get("krimp")
    if "percent" in slim:
        beside = f"{slim['percent']:.1f}, {_figures(slim['seconds'])} s"
    elif "stopped" in slim:
        beside = f"stopped at {slim['stopped']} s"
    else:
        beside = f"{known['slim']}, published" if known.get("slim") else ""
    cells = [
        f"{way['percent']:.1f}, {way['merges']} merges, {_figures(way['seconds'])} s"
        for way in line["ways"].values()
    ]
    shape = " × ".join(f"{size:,}" for size in line["shape"])
    return [line["name"], shape, str(krimp or ""), beside, *cells]


def _unseen(run: dict[str, Any]) -> str:
    names = {
        "variables": "no chunks, variables known",
        "bits": '`UFC("bits")`',
        "alpha=None": "`Bits(alpha=None)`",
        "risk": '`UFC("risk")`',
        "path": "`UFCPath`, closest point",
    }
    lines = [
        [line["name"], *(f"{line['shares'][way]:.3f}" for way in names)] for line in run["unseen"]
    ]
    return table_of(["", *names.values()], lines)


def _chance(run: dict[str, Any]) -> str:
    densities = sorted({cell["density"] for cell in run["cells"]})
    shapes = list(dict.fromkeys(tuple(cell["shape"]) for cell in run["cells"]))
    hits = {(*cell["shape"], cell["density"]): cell["hits"] for cell in run["cells"]}
    lines = [
        [f"{n:,}", str(m), *(f"{hits[n, m, density] / run['runs']:.1%}" for density in densities)]
        for n, m in shapes
    ]
    head = ["rows", "columns", *(f"density {density:g}" for density in densities)]
    n_tables = run["runs"] * len(run["cells"])
    low, high = run["interval"]
    told = (
        f"Each share comes from {run['runs']} tables. In all, {run['hits']} of {n_tables:,} tables "
        f"have a chunk: {run['hits'] / n_tables:.1%} (95% interval {low:.1%} to {high:.1%})."
    )
    return table_of(head, lines) + "\n\n" + _wrapped(told)


def _evidence_unseen(run: dict[str, Any]) -> str:
    head = [
        "rows × columns",
        "variables (values, recognised)",
        "no chunks, variables known",
        "Chow–Liu tree",
        '`UFC("bits")`',
        "its merges",
        "`UFC()`",
        "merges (longest)",
    ]
    lines = []
    for line in run["unseen"]:
        n_rows, n_columns = line["shape"]
        values = f"{line['values, source']:.0f}, {line['values']:.0f}"
        known, bits, evidence = (_both(line, way) for way in ("known", "bits", "evidence"))
        lines.append(
            [
                f"{line['name']}, {n_rows:,} × {n_columns}",
                f"{line['variables']} ({values})",
                known,
                f"{line['tree']:.3f}",
                bits,
                f"{line['bits merges']:.0f}",
                evidence,
                f"{line['evidence merges']:.0f} ({line['evidence longest']:.0f})",
            ]
        )
    return table_of(head, lines)


def _both(line: dict[str, Any], way: str) -> str:
    """Return the share with the variables of the source, and with those that are recognised."""
    source, found = f"{line[f'{way}, source']:.3f}", f"{line[way]:.3f}"
    return source if source == found else f"{source} ({found})"


def _evidence_density(run: dict[str, Any]) -> str:
    lines = [
        [
            f"{line['name']}, {line['shape'][0]:,} × {line['shape'][1]}",
            *(f"{line[way]:.2f}" for way in ("columns", "tree", "evidence")),
            f"{line['merges']:,}",
            str(line["variables"]),
            f"{_figures(line['seconds'])} s",
        ]
        for line in run["density"]
    ]
    head = ["training rows × columns", "columns", "Chow–Liu tree", "`UFC()`"]
    return table_of([*head, "merges", "variables", "time"], lines)


def _evidence_planted(run: dict[str, Any]) -> str:
    lines = [
        [
            line["kind"],
            f"{line['noise']:.0%}",
            str(line["hits"]),
            f"{line['merges']:,}",
            str(line["listed"]),
            f"{line['f1']:.2f}",
            f"{_figures(line['seconds'])} s",
            f"{line['small_f1']:.2f}",
            f"{line['grecond_f1']:.2f}",
            "–" if line["slim_f1"] is None else f"{line['slim_f1']:.2f}",
        ]
        for line in run["planted"]
    ]
    head = [
        "patterns",
        "cells inverted",
        "found, of 100",
        "merges",
        "listed",
        "F1",
        "time",
    ]
    return table_of([*head, "F1, 1,000 rows", "GreConD there", "SLIM there"], lines)


def _evidence_chance(run: dict[str, Any]) -> str:
    lines = [
        [f"independent {line['kind']}", str(line["tables"]), str(line["hits"])]
        for line in run["chance"]
    ]
    return table_of(["", "tables", "with a chunk"], lines)


def _evidence_fits(run: dict[str, Any]) -> str:
    lines = []
    for data in run["fits"]:
        n_rows, n_columns = data["shape"]
        ours, beside = data["rules"]["evidence"], data["rules"]["bits"]
        for name, line in (("`UFC()`", ours), ('`UFC("bits")`', beside)):
            ratio = line["seconds"] / beside["seconds"]
            lines.append(
                [
                    f"{data['name']}, {n_rows:,} × {n_columns:,}" if line is ours else "",
                    name,
                    f"{_figures(line['seconds'])} s",
                    f"{_figures(line['merging'])} s",
                    f"{_figures(ratio)}" if line is ours else "1",
                    f"{line['merges']:,}",
                    _gigabytes(line["resident"]),
                ]
            )
    head = ["", "", "CPU time", "until the last merge", '× `UFC("bits")`', "merges", "memory"]
    return table_of(head, lines)


def _family_table(sets: list[dict[str, Any]]) -> str:
    """Return accuracies (in brackets those of the method's own tree) and numbers of features."""
    lines: dict[str, list[str]] = {}
    for data in sets:
        for line in data["lines"]:
            own = "" if line["own"] is None else f" ({line['own']:.3f})"
            made = f", {line['made']:.0f}" if line["made"] else ""
            lines.setdefault(line["method"], []).append(f"{line['accuracy']:.3f}{own}{made}")
    names = [name if name == "the columns" else f"`{name}`" for name in lines]
    rows = [[name, *cells] for name, cells in zip(names, lines.values(), strict=True)]
    return table_of(["", *(data["name"] for data in sets)], rows)


def _family_bundled(run: dict[str, Any]) -> str:
    return _family_table(run["bundled"])


def _family_problems(run: dict[str, Any]) -> str:
    told = "\n".join(f"- **{data['name']}**: {data['what']}" for data in run["problems"])
    return told + "\n\n" + _family_table(run["problems"])


def _m_of_n(run: dict[str, Any]) -> str:
    lines = []
    for data in run["sets"]:
        one, many = (min(data[kind].values()) for kind in ("one tag", "m of n"))
        lines.append(
            [data["name"], f"{one:.2f}", f"{many:.2f}", f"{round(1 - many / one, 3) + 0:.1%}"]
        )
    return table_of(["", "one tag per test", "at least m of n", "saved"], lines)


def _default_fits(run: dict[str, Any]) -> str:
    lines = []
    for line in run["sets"]:
        n_rows, n_columns = line["shape"]
        lines.append(
            [
                f"{line['name']}, {n_rows:,} × {n_columns:,}",
                line["layout"],
                f"{line['merges']:,}",
                f"{_figures(line['seconds'])} s",
                f"{_figures(line['floor'])} s",
                _figures(line["seconds"] / line["floor"]),
                f"{line['held'] / 1e6:,.0f} MB",
                f"{line['data'] / 1e6:,.1f} MB",
            ]
        )
    head = ["", "columns", "merges", "fit", "one count", "×", "memory", "data"]
    return table_of(head, lines)


def _default_growth(run: dict[str, Any]) -> str:
    lines = []
    for name, found in run["sweeps"].items():
        sizes = [point["size"] for point in found]
        times = [point["seconds"] for point in found]
        each = (f"{size:,g}: {_figures(time)} s" for size, time in zip(sizes, times, strict=True))
        lines.append([name, ", ".join(each), f"{exponent(sizes, times):.2f}"])
    return table_of(["", "CPU time", "exponent"], lines)


def _default_waits(run: dict[str, Any]) -> str:
    lines = []
    for line in run["waits"]:
        beside = ["", ""]
        if "floor" in line:
            beside = [line["floor"], f"{_figures(line['floor seconds'])} s"]
        lines.append([line["what"], f"{_figures(line['seconds'])} s", *beside])
    return table_of(["", "CPU time", "beside it", "CPU time"], lines)


def _rounds(run: dict[str, Any]) -> str:
    head = ["", "merges, one at a time"]
    for share in run["shares"]:
        head += [f"passes, at least {share:.0%}" if share else "passes, all pairs", "bits"]
    lines = []
    for line in run["sets"]:
        cells = [line["name"], f"{line['merges']:,.0f}"]
        for share in run["shares"]:
            # a minus before 0.00 would say nothing
            more = round(100 * line[f"more {share}"], 2) or 0.0
            cells += [f"{line[f'passes {share}']:,.0f}", f"{more:+.2f}%"]
        lines.append(cells)
    return table_of(head, lines)


def _round_passes(run: dict[str, Any]) -> str:
    ways = {"pairwise": "one at a time", "batch": "in rounds"}
    places = {"disk": "from disk", "dask": "two Dask workers"}
    head = [f"{run['set']}, {run['shape'][0]:,} × {run['shape'][1]:,}", "merges", "passes"]
    lines = [
        [
            f"{places[one['engine']]}, {ways[one['search']]}",
            f"{one['merges']:,}",
            f"{one['passes']:,}",
            f"{_figures(one['seconds'])} s",
            f"{one['bits']:.2f}",
        ]
        for one in run["runs"]
    ]
    return table_of([*head, "time", "bits per row"], lines)


def _merges(run: dict[str, Any]) -> str:
    head = [
        "",
        "merged as",
        "time",
        "resident",
        "merges",
        "L%",
        "time per merge",
        "counts of a column per merge",
    ]
    lines = []
    for line in run["sets"]:
        n_rows, n_columns = line["shape"]
        lines.append(
            [
                f"{line['name']}, {n_rows:,} × {n_columns:,}",
                line["layout"],
                f"{_figures(line['seconds'])} s",
                _gigabytes(line["resident"]),
                f"{line['merges']:,}",
                f"{line['percent']:.1f}",
                f"{_figures(1e3 * line['merge'])} ms",
                _figures(line["merge"] / line["count"]),
            ]
        )
    return table_of(head, lines)


def _merge_growth(run: dict[str, Any]) -> str:
    lines = []
    for shape, columns in SHAPES.items():
        points = [point for point in run["grown"] if point["shape"] == shape]
        costs = {point["columns"]: f"{_figures(1e3 * point['seconds'])} ms" for point in points}
        cells = [costs.get(m, "–") for m in TAGS]
        lines.append(
            [
                shape.replace(" a row", " per row"),
                *cells,
                f"{merge_exponent(points):.2f}" if columns else "",
            ]
        )
    return table_of(["", *(f"{m:,} columns" for m in TAGS), "exponent"], lines)


def _expected(run: dict[str, Any]) -> str:
    lines = [
        [
            line["shape"],
            f"{_figures(line['said_seconds'])} s",
            f"{_figures(line['seconds'])} s",
            _gigabytes(line["said_bytes"]),
            _gigabytes(line["bytes"]),
        ]
        for line in run["lines"]
    ]
    return table_of(
        ["", "expected time", "measured time", "expected memory", "measured memory"], lines
    )


def _transform(run: dict[str, Any]) -> str:
    n_rows = run["shape"][0]
    lines = [
        [way["name"], f"{_figures(way['seconds'])} s", f"{n_rows / way['seconds'] / 1e6:.2f}"]
        for way in run["ways"]
    ]
    return table_of(["", "CPU time", "million rows per second"], lines)


_DATABASES = {"duckdb": "DuckDB", "sqlite": "SQLite", "postgres": "PostgreSQL", "mysql": "MariaDB"}


def _sql(run: dict[str, Any]) -> str:
    lines = []
    for kind, (n_rows, n_columns) in run["shapes"].items():
        for n in dict.fromkeys(line["merges"] for line in run["lines"]):
            found = {
                line["database"]: line
                for line in run["lines"]
                if (line["kind"], line["merges"]) == (kind, n)
            }
            first, *_ = found.values()
            seconds = (
                f"{_figures(found[name]['seconds'])} s" if name in found else ""
                for name in _DATABASES
            )
            shape = f"{kind}, {n_rows:,} × {n_columns}"
            lines.append([shape, str(n), f"{first['bytes'] / 1e3:.0f} kB", *seconds])
    return table_of(["", "merges", "statement", *_DATABASES.values()], lines)


def _cluster(run: dict[str, Any]) -> str:
    names = {
        ("disk", False): "one machine, from disk",
        ("dask", False): "Dask, two workers",
        ("dask", True): "Dask, one worker killed",
        ("spark", False): "Spark, two executors",
        ("spark", True): "Spark, one executor killed",
    }
    lines = [
        [
            names[line["engine"], line["kill"]],
            f"{line['seconds']:,.0f} s",
            f"{line['used']:,.0f} s",
            _gigabytes(line["memory"]),
            "" if line["engine"] == "disk" else f"{line['received'] / 1e3:,.0f} kB",
            "same" if line["model"] == run["runs"][0]["model"] else "another",
        ]
        for line in run["runs"]
    ]
    n_rows, n_columns = run["shape"]
    head = [
        f"{n_rows:,} × {n_columns}, {run['max_iter']} merges",
        "wall time",
        "CPU time",
        "memory of all processes",
        "counts to the driver",
        "model file",
    ]
    cores = run["machine"]["cores"]
    told = f"At the end, the {cores} cores had a load of {run['load']:.1f}."
    return table_of(head, lines) + "\n\n" + told


def _figures(value: float) -> str:
    """Format a number with two significant digits, or three from 100 on."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{float(f'{value:.2g}')}"


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 112, break_on_hyphens=False)


def _gigabytes(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.0f} MB"


if __name__ == "__main__":
    sys.exit(main())
