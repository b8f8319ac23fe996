"""Commands that apply a model to rows: ``transform``, ``chunks``, ``suggest`` and ``update``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from conjunct import explain, expressions, files
from conjunct.cli.options import (
    DATA_FILE,
    MODEL_FILE,
    MODEL_OUT,
    READING_OPTIONS,
    SPARSE,
    TABLE_OUT,
    WRITTEN,
    DataInput,
    FeatureNames,
    HandleUnknown,
    check_id_name,
    option,
    output_option,
    read_chunk_model,
    read_model,
    read_ufc,
    set_column_options,
    takes,
)
from conjunct.cli.outputs import OUTPUT_OPTIONS, Output, save
from conjunct.cli.terminal import is_printed, showable, time_step, write_text

if TYPE_CHECKING:
    import polars as pl

    from conjunct.data import BooleanData
    from conjunct.estimators import UFC


@takes(source=READING_OPTIONS, output=OUTPUT_OPTIONS)
def transform(
    model: Path = MODEL_FILE,
    data: Path = DATA_FILE,
    out: Path | None = output_option(
        f"{WRITTEN}; sparse: {SPARSE}. Without it, CSV is printed.", "--out", "-o"
    ),
    feature_names: FeatureNames | None = output_option(
        "Column names: chair + dining table, or chair ∧ dining table (default: as in the model)."
    ),
    handle_unknown: HandleUnknown | None = output_option(
        "For combinations of tags that were not in the training data: count their rows in a note, "
        "or add a column for each (default: as in the model)."
    ),
    keep_columns: bool | None = output_option(
        "Keep the columns, and add the features of at least two tags (default: as in the model).",
        "--keep-columns/--no-keep-columns",
    ),
    *,
    source: DataInput,
    output: Output,
) -> None:
    """Write the features of a model for the rows of a table.

    Columns are found by name, in any order, and extra columns are ignored. Raw data is made
    Boolean, and tags are cleaned, as in the training of the model.

    \b
    Examples:
      $ conjunct transform model.json zoo.csv --out features.csv
      $ conjunct transform model.json zoo.csv --handle-unknown keep --out f.csv
      $ conjunct transform model.json zoo.csv --feature-names formula
    """
    from conjunct.memory import available_bytes

    output.check_table(out, "features", model, sparse=True)
    fitted = read_model(model)
    given = {"feature_names": feature_names, "handle_unknown": handle_unknown}
    set_column_options(fitted, **given, keep_columns=keep_columns)
    table = source.read(data, fitted)
    with source.naming_cells_of(data), time_step("computed features"):
        features = fitted.transform(table)
    n_rows, n_features = features.shape
    document = {"n_rows": n_rows, "n_features": n_features, "features": list(features.names)}
    text = f"Saved {explain.count(n_features, 'feature')} of {explain.count(n_rows, 'row')}"
    if out is not None and files.is_sparse_file(out):
        save(out, lambda file: files.write_sparse(file, features))
        output.show(lambda: {**document, "saved": {"table": out}}, f"{text} as {out}.")
        return
    # without enough memory, polars would end the process; it needs bits, bytes and text at once
    if 3 * n_rows * n_features + (64 << 20) > available_bytes():
        raise MemoryError
    output.table(out, features.convert("polars"), lambda: document, text)


# repeated here because --help must not load NumPy; a test compares it with the library
ChunkOutput = Literal["lists", "text", "long"]


@takes(source=READING_OPTIONS, output=OUTPUT_OPTIONS)
def chunks(
    model: Path = MODEL_FILE,
    data: Path = DATA_FILE,
    out: Path | None = output_option(
        f"{WRITTEN}. Without it, CSV is printed, or JSON lines with --layout lists.", "--out", "-o"
    ),
    layout: ChunkOutput = output_option(
        "One text per row (book + tv · person), one line per chunk, or lists of tags.",
        default="text",
    ),
    *,
    source: DataInput,
    output: Output,
) -> None:
    """Write each row of a table as its chunks.

    A chunk is a set of tags that belong together. Every tag of a row is in exactly one of its
    chunks, even if the combination did not occur in training. Columns are found as in conjunct
    transform. --id keeps a column that identifies the rows.

    \b
    Examples:
      $ conjunct chunks model.json zoo.csv
      $ conjunct chunks model.json zoo.csv --layout long --out chunks.csv
      $ conjunct chunks model.json zoo.csv --layout lists --out chunks.jsonl
    """
    import polars as pl

    output.check_table(out, "chunks", model, lists=layout == "lists")
    fitted = read_chunk_model(model)
    table = source.read(data, fitted)
    ids, column = table.ids, "chunk" if layout == "long" else "chunks"
    check_id_name(ids, column)
    names = [] if ids is None else [pl.Series(ids.name, ids.values, pl.String)]
    with source.naming_cells_of(data), time_step("read rows as chunks"):
        if layout == "long":
            frame: pl.DataFrame = fitted.chunks(table, "long", backend="polars")
            rows = frame["row"]
            # rows are numbered from 1, as in conjunct show --rows
            first = names[0].gather(rows) if names else rows + 1
            frame = pl.DataFrame([first, frame["chunk"]])
        elif layout == "text":
            texts = fitted.chunks(table, "text", backend="dict")["chunks"]
            frame = pl.DataFrame([*names, pl.Series(column, texts, pl.String)])
        else:
            lists = pl.Series(column, fitted.chunks(table), pl.List(pl.List(pl.String)))
            frame = pl.DataFrame([*names, lists])
    if is_printed(out) and layout == "lists":
        write_text(frame.write_ndjson())
        return
    text = f"Saved the chunks of {explain.count(table.n_rows, 'row')}"
    output.table(out, frame, lambda: {"n_rows": table.n_rows, "layout": layout}, text)


@takes(source=READING_OPTIONS, output=OUTPUT_OPTIONS)
def suggest(
    model: Path = MODEL_FILE,
    data: Path = DATA_FILE,
    out: Path | None = TABLE_OUT,
    top: int = option(
        "Maximum number of missing tags per row, and of doubtful ones.", default=5, min=1
    ),
    min_score: float = option(
        "Suggest tags with at least this probability.", default=0.5, min=0, max=1
    ),
    doubtful: bool = option(
        "List doubtful tags after missing ones.", "--doubtful/--no-doubtful", default=True
    ),
    *,
    source: DataInput,
    output: Output,
) -> None:
    """List probably missing and doubtful tags of rows.

    Each line has a row, a tag, and the probability of the tag given the other tags of the row.
    The last column lists the tags that support a missing tag most, or contradict a doubtful one.
    --id keeps a column that identifies the rows.

    \b
    Examples:
      $ conjunct suggest model.json zoo.csv
      $ conjunct suggest model.json zoo.csv --min-score 0.8 --no-doubtful
      $ conjunct suggest model.json zoo.csv --top 3 --out suggestions.csv
    """
    import polars as pl

    output.check_table(out, "suggestions", model)
    fitted = read_ufc(model, "gives no suggestions")
    table = source.read(data, fitted)
    with source.naming_cells_of(data), time_step("looked for tags"):
        found = {"missing": fitted.suggest(table, top, min_score=min_score)}
        if doubtful:
            found["doubtful"] = fitted.doubtful(table, top)
    n_tags = {kind: sum(map(len, rows)) for kind, rows in found.items()}
    kinds = " and ".join(f"{n:,} {kind}" for kind, n in n_tags.items())
    ids, columns = table.ids, ("kind", "tag", "score", "because")
    check_id_name(ids, *columns)
    lines = [
        (
            str(row + 1) if ids is None else ids.values[row],
            kind,
            one.tag,
            round(one.score, 3),
            expressions.pattern_text(one.because, keep_order=True),
        )
        for row in range(len(found["missing"]))
        for kind, rows in found.items()
        for one in rows[row]
    ]
    text: Any = pl.String
    schema = {"row" if ids is None else ids.name: text, **dict.fromkeys(columns, text)}
    output.table(
        out,
        pl.DataFrame(lines, schema=schema | {"score": pl.Float64}, orient="row"),
        lambda: {"n_rows": table.n_rows, **n_tags},
        f"Saved {kinds} tags of {explain.count(table.n_rows, 'row')}",
    )


_CHANGES_SHOWN = 3


@takes(source=READING_OPTIONS, output=OUTPUT_OPTIONS)
def update(
    model: Path = MODEL_FILE,
    data: Path = DATA_FILE,
    out: Path | None = MODEL_OUT,
    *,
    source: DataInput,
    output: Output,
) -> None:
    """Count new rows, and check whether the chunks of a model still hold.

    No feature is added or dropped. --out saves the model with the new counts, and may replace the
    model file. Do not count the same rows twice.

    \b
    Examples:
      $ conjunct update model.json zoo.csv
      $ conjunct update model.json zoo.csv --out model.json
    """
    if out is not None:
        files.check_target(out)
    fitted = read_ufc(model, "cannot be updated")
    table = source.read(data, fitted)
    with source.naming_cells_of(data), time_step("counted rows"):
        found = fitted.check_drift(table)
    save(out, fitted.save)
    names, before = fitted.get_feature_names_out(), fitted.feature_set_.frequencies
    output.show(
        lambda: {
            "n_rows": found.n_rows,
            "pays": found.pays,
            "message": str(found),
            "bits": found.bits,
            "baseline_bits": found.baseline_bits,
            "before": found.before,
            "score": found.score,
            "features": [
                {
                    "feature": str(name),
                    "support": support,
                    "frequency": support / found.n_rows,
                    "frequency_before": frequency,
                }
                for name, support, frequency in zip(names, found.supports, before, strict=False)
            ],
            "saved": {"model": out},
        },
        str(found),
        _render_changes(fitted, table),
        None if out is None else f"Saved as {out}.",
    )


def _render_changes(model: UFC, rows: BooleanData) -> str | None:
    """Return the three tags or chunks whose shares changed most, at most one per variable."""
    fitted = model.feature_set_
    before = {frozenset(one.tags): one.share for one in explain.every_finding(fitted)}
    if fitted.known is None:
        supports = zip(fitted.lineage.primitives, fitted.primitive_supports, strict=True)
        before |= {frozenset([tag]): rows / fitted.n_rows for tag, rows in supports}
    new = fitted.evaluate_tag_sets(model.read_columns(rows))
    changes = []
    for tags, n_true, n in zip(fitted.tag_sets, new.supports(), new.count_known(), strict=True):
        share = before.get(frozenset(tags))
        if share is not None and n and n_true / n != share:
            changes.append((-abs(n_true / n - share), len(tags), tags, n_true / n, share))
    variable = explain.variable_of_tags(fitted)
    lines: list[str] = []
    covered: set[str] = set()
    for *_, tags, now, share in sorted(changes):
        about = {variable[tag] for tag in tags}
        if len(lines) < _CHANGES_SHOWN and not covered & about:
            covered |= about
            name = showable(expressions.pattern_text(tags))
            of_new, of_old = map(explain.format_share, (now, share))
            lines.append(f"  {name}: in {of_new} of these rows, {of_old} in training")
    return "\n".join(["Changed most:", *lines]) if lines else None
