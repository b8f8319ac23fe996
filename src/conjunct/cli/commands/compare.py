"""Commands that compare rows by tags and chunks: ``compare``, ``describe`` and ``groups``."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from conjunct import estimators, explain, files
from conjunct.cli import outputs
from conjunct.cli.options import (
    DATA_FILE,
    JOBS,
    MISSING,
    MODEL_FILE,
    MODEL_OUT,
    PREPARING_OPTIONS,
    READ,
    READING_OPTIONS,
    REPORT_FILE,
    RESULT_OUT,
    VARIABLES,
    WRITTEN,
    Correction,
    DataInput,
    Missing,
    argument,
    check_id_name,
    option,
    output_option,
    parse_alpha,
    read_chunk_model,
    read_variables_option,
    takes,
)
from conjunct.cli.terminal import DASH, file_of, name_of, show_rounds, time_step
from conjunct.errors import ConjunctWarning, InputError

if TYPE_CHECKING:
    from conjunct.data import BooleanData
    from conjunct.estimators import InvertibleConstructor, RowGroups

_MARKS = 3  # of a group, in the table


def _make_test(
    alpha: str = option(
        "Maximum adjusted p-value, or none.", default="0.05", metavar="NUMBER|none"
    ),
    correction: Correction = option("Correct p-values for the number of tests.", default="holm"),
) -> dict[str, Any]:
    return {"alpha": parse_alpha(alpha), "correction": None if correction == "none" else correction}


TEST_OPTIONS = (_make_test,)
"""``--alpha`` and ``--correction``, for `takes`."""


def _save(found: dict[str, list[Any]], out: Path | None) -> str | None:
    """Write the result if there is a file for it, and return a sentence that names the file."""
    import polars as pl

    outputs.save_table(out, lambda: pl.DataFrame(found))
    return None if out is None else f"Saved as {out}."


def _render_test(sides: str, test: dict[str, Any]) -> str:
    """Describe the test in words."""
    from conjunct.ufc import CORRECTIONS

    name = test["correction"]
    corrected = "no" if name is None else CORRECTIONS[name].summary
    at_most = "" if test["alpha"] is None else f", p at most {test['alpha']:g}"
    return f"Fisher's exact test, {sides}; {corrected} correction{at_most}."


def _render_p(row: dict[str, Any]) -> str:
    """Return the adjusted p-value of a row as ASCII text."""
    return f"{row['p_adjusted']:.2g}" if row["p_adjusted"] else "< 1e-300"


_SHOWN = 20


@takes(test=TEST_OPTIONS, source=READING_OPTIONS, output=outputs.OUTPUT_OPTIONS)
def compare(
    model: Path = MODEL_FILE,
    first: Path = argument("X", f"{READ}.", default=...),
    second: Path = argument("Y", "Table to compare with. - is standard input.", default=...),
    out: Path | None = RESULT_OUT,
    *,
    test: dict[str, Any],
    source: DataInput,
    output: outputs.Output,
) -> None:
    """Show the tags and chunks by which two tables differ.

    A two-sided test decides whether each one is significantly more common in one of the tables. No
    row may be in both tables. Columns are found as in conjunct transform.

    \b
    Examples:
      $ conjunct compare model.json old.csv new.csv
      $ conjunct compare model.json old.csv new.csv --correction bh --out diff.csv
    """
    if first == second == DASH:
        raise InputError("X and Y cannot both be standard input: use a file for one of them")
    outputs.check_targets({"model": model}, result=out)
    fitted = read_chunk_model(model)
    tables = []
    for data in (first, second):
        table = source.read(data, fitted)
        if fitted.missing == "raise":
            with source.naming_cells_of(data):
                table.refuse_missing()
        tables.append(table)
    with time_step("compared tables"):
        found = estimators.compare(fitted, *tables, **test, backend="dict")
    saved = _save(found, out)
    n_found = len(found["pattern"])
    rows = []
    for row in outputs.records(found)[:_SHOWN]:
        smaller, larger = sorted((row["share_x"], row["share_y"]))
        rows.append(
            (
                explain.shorten(row["pattern"], outputs.LONGEST),
                explain.format_share(row["share_x"]),
                explain.format_share(row["share_y"]),
                row["more_common_in"],
                f"{larger / smaller:.1f}" if smaller else "only",
                _render_p(row),
            )
        )
    n_x, n_y = (table.n_rows for table in tables)
    output.show(
        lambda: {
            "n_x": n_x,
            "n_y": n_y,
            **test,
            "chunks": outputs.records(found),
            "saved": {"table": out},
        },
        f"X is {name_of(first)} ({explain.count(n_x, 'row')}), Y is {name_of(second)} "
        f"({explain.count(n_y, 'row')}).",
        outputs.Table(("tag or chunk", ">X", ">Y", "more in", ">times", ">p"), rows)
        if n_found
        else "No tag or chunk differs significantly.",
        None if n_found <= _SHOWN else f"Top {_SHOWN} of {n_found:,}, by p; --out writes all.",
        _render_test("two-sided", test),
        saved,
    )


_LONGEST_LABEL = 24


@takes(test=TEST_OPTIONS, source=READING_OPTIONS, output=outputs.OUTPUT_OPTIONS)
def describe(
    model: Path = MODEL_FILE,
    data: Path = DATA_FILE,
    out: Path | None = RESULT_OUT,
    *,
    by: str = option(
        "Group labels: a column of DATA, or a table with one label per row and, optionally, the "
        "--id column.",
        default=...,
        metavar="COLUMN|FILE",
    ),
    top: int = option("Maximum number of tags and chunks per group.", default=5),
    test: dict[str, Any],
    source: DataInput,
    output: outputs.Output,
) -> None:
    """Show which tags and chunks are more common in groups of rows.

    You define the groups, such as classes or clusters. A one-sided test decides which tags and
    chunks are significantly more common in a group than in the other rows. Rows without a label
    are ignored.

    \b
    Examples:
      $ conjunct fit zoo.csv --exclude milk --out traits.json
      $ conjunct describe traits.json zoo.csv --by milk
      $ conjunct describe traits.json zoo.csv --by milk --top 3 --out milk.csv
    """
    outputs.check_targets({"model": model}, result=out)
    fitted = read_chunk_model(model)
    if Path(by).is_file():
        table = source.read(data, fitted)
        labels = _read_label_file(Path(by), table)
    else:
        given = source.options
        column = files.read_table(
            file_of(data),
            format=given.format,
            columns=[by],
            separator=given.separator,
            null_values=given.null_values,
            sheet=given.sheet,
        )
        labels = column.get_column(by).to_list()
        source = _exclude_labels(by, source, fitted)
        table = source.read(data, fitted)
    with source.naming_cells_of(data), time_step("described groups"):
        found = estimators.describe_groups(fitted, table, labels, top=top, **test, backend="dict")
    saved = _save(found, out)
    groups = dict.fromkeys(str(label) for label in labels if label is not None and label == label)
    without = [label for label in groups if label not in set(map(str, found["group"]))]
    output.show(
        lambda: {
            "n_rows": table.n_rows,
            "n_groups": len(groups),
            **test,
            "chunks": outputs.records(found),
            "without": without,
            "saved": {"table": out},
        },
        f"{explain.count(table.n_rows, 'row')} in {explain.count(len(groups), 'group')}.",
        _group_table(found) if found["group"] else None,
        "No tag or chunk is significantly more common in "
        f"{explain.join_names(without, 10, _LONGEST_LABEL)}."
        if without
        else None,
        _render_test("one-sided", test),
        saved,
    )


def _exclude_labels(by: str, source: DataInput, model: InvertibleConstructor) -> DataInput:
    """Return an input without the column of labels, unless the model contains it."""
    options, prepared = source.options, model.preparation_
    if options.tags or by == options.id:
        return source
    if by in map(prepared.source_of, model.feature_set_.lineage.primitives):
        warnings.warn(
            f"the model contains {by!r}, the column that defines the groups: fit the model with "
            f"--exclude {by}",
            ConjunctWarning,
            stacklevel=2,
        )
        # the library would warn about the same
        warnings.filterwarnings("ignore", ".*the result is circular", ConjunctWarning)
        return source
    return replace(source, options=replace(options, exclude=[*options.exclude, by]))


def _read_label_file(file: Path, rows: BooleanData) -> list[Any]:
    """Return the labels of rows by their ids if the file has ids, or else by position."""
    table = files.read_table(file)
    ids = rows.ids
    names = [name for name in table.columns if ids is None or name != ids.name]
    if len(names) != 1:
        raise InputError(
            f"{file} has {table.width} columns: keep only the labels, and the --id column if "
            "there is one"
        )
    labels = table.get_column(names[0]).to_list()
    if ids is None or table.width == 1:
        return labels
    keys = table.get_column(ids.name)
    if keys.n_unique() < len(keys):
        raise InputError(f"{file}: the values of {ids.name!r} must be unique")
    by_id = dict(zip(map(str, keys), labels, strict=True))
    if not by_id.keys() & set(ids.values):
        raise InputError(f"{file}: no value of {ids.name!r} occurs in the data")
    return [by_id.get(value) for value in ids.values]


def _group_table(found: dict[str, list[Any]]) -> outputs.Table:
    labels = found["group"]
    rows = [
        (
            "" if label == before else explain.shorten(str(label), _LONGEST_LABEL),
            explain.shorten(row["pattern"], outputs.LONGEST),
            explain.format_share(row["share"]),
            explain.format_share(row["share_outside"]),
            f"{row['lift']:.1f}",
            _render_p(row),
        )
        for row, label, before in zip(outputs.records(found), labels, [None, *labels], strict=False)
    ]
    return outputs.Table(
        ("group", "tag or chunk", ">in it", ">outside", ">lift", ">p"), rows, wrapped=1
    )


@takes(source=PREPARING_OPTIONS, output=outputs.OUTPUT_OPTIONS)
def groups(
    data: Path = DATA_FILE,
    out: Path | None = MODEL_OUT,
    report: Path | None = REPORT_FILE,
    labels: Path | None = output_option(f"Group of each row. {WRITTEN}."),
    n_groups: int | None = option("Number of groups (default: chosen from the data).", "--groups"),
    within: Literal["chunks", "columns"] = option(
        "Describe each group by its own chunks, or by columns.", default="chunks"
    ),
    max_groups: int | None = option("Maximum number of groups."),
    max_seconds: float | None = option("Time limit of the search, in seconds."),
    seed: int = option("Random seed.", default=0),
    missing: Missing = MISSING,
    variables: Path | None = VARIABLES,
    jobs: int | None = JOBS,
    *,
    source: DataInput,
    output: outputs.Output,
) -> None:
    """Find groups of similar rows.

    The name of a group lists tags and chunks that are much more common in it than outside. By
    default, the number of groups is the one that compresses the data most.

    \b
    Examples:
      $ conjunct groups zoo.csv
      $ conjunct groups zoo.csv --labels kinds.csv --out groups.json
      $ conjunct groups zoo.csv --groups 3 --within columns --json
    """
    outputs.check_targets({"data": data}, model=out, labels=labels, report=report)
    model = estimators.RowGroups(
        "auto" if n_groups is None else n_groups,
        within=within,
        max_groups=max_groups,
        max_seconds=max_seconds,
        variables=read_variables_option(variables),
        missing=missing,
        random_state=seed,
        n_jobs=jobs,
    )
    table = source.read(data)
    with source.naming_cells_of(data), time_step("found groups"), show_rounds() as callback:
        model.fit(table, callback=callback)

    def make_labels() -> Any:
        import polars as pl

        check_id_name(table.ids, "group", "name", "probability")
        ids = {} if table.ids is None else {table.ids.name: list(table.ids.values)}
        names = [model.groups_[k].name for k in model.labels_.tolist()]
        sure = model.predict_proba(table).max(axis=1)
        return pl.DataFrame({**ids, "group": model.labels_, "name": names, "probability": sure})

    outputs.save_table(labels, make_labels)
    outputs.save(out, model.save)
    if report is not None:
        with warnings.catch_warnings():
            # notes about the data were already printed
            warnings.simplefilter("ignore", ConjunctWarning)
            chunks = estimators.UFC(variables=model.variables, missing=missing, n_jobs=jobs).fit(
                table
            )
        outputs.save_report(chunks, table, report, groups=model)
    output.show(
        lambda: {
            "n_rows": table.n_rows,
            "n_groups": model.n_groups_,
            "within": within,
            "description_length": model.description_length_,
            "baseline_length": model.baseline_length_,
            "stop_reason": model.stop_reason_,
            "groups": model.groups_,
            "saved": {"model": out, "labels": labels, "report": report},
        },
        f"{explain.count(table.n_rows, 'row')} in {explain.count(model.n_groups_, 'group')}: "
        f"{model.stop_reason_}.",
        group_table(model),
        *(f"Saved as {file}." for file in (labels, out, report) if file is not None),
    )


def group_table(model: RowGroups) -> outputs.Table:
    """Return the groups with their strongest marks."""
    rows: list[tuple[Any, ...]] = []
    for number, group in enumerate(model.groups_):
        lines = [
            (mark.text, explain.format_share(mark.share), explain.format_share(mark.share_outside))
            for mark in group.list_marks(_MARKS)
        ]
        head: tuple[Any, ...] = (str(number), f"{group.rows:,}", outputs.draw_bar(group.share))
        for text, *shares in lines or [(group.name, "", "")]:
            rows.append((*head, explain.shorten(text, outputs.LONGEST), *shares))
            head = ("", "", "")
    return outputs.Table(
        ("group", ">rows", "", "tag or chunk", ">in it", ">outside"), rows, wrapped=3
    )
