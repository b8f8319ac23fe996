"""Commands that apply a model to rows: ``transform``, ``chunks`` and ``update``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from conjunct.cli.inputs import (
    DataInput,
    read_model,
    require_chunks,
    set_column_options,
    with_reading_options,
)
from conjunct.cli.options import (
    SPARSE,
    WRITTEN,
    DataFile,
    FeatureNames,
    HandleUnknown,
    ModelFile,
    ModelOut,
    output_option,
)
from conjunct.cli.outputs import Output, save, with_output_options
from conjunct.cli.terminal import is_printed, showable, time_step, write_text
from conjunct.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from conjunct.data import BooleanData, Ids
    from conjunct.estimators import UFC, DriftCheck, InvertibleConstructor


@with_output_options
@with_reading_options
def transform(
    model: ModelFile,
    data: DataFile,
    out: Annotated[
        Path | None,
        output_option(f"{WRITTEN}; sparse: {SPARSE}. Without it, CSV is printed.", "--out", "-o"),
    ] = None,
    feature_names: Annotated[
        FeatureNames | None,
        output_option(
            "What to call the columns: chair + dining table, or chair ∧ dining table. "
            "Default: as in the model."
        ),
    ] = None,
    handle_unknown: Annotated[
        HandleUnknown | None,
        output_option(
            "Rows with combinations that training never saw: count them in a note, or give "
            "each combination a column. Default: as in the model."
        ),
    ] = None,
    keep_columns: Annotated[
        bool | None,
        output_option(
            "Write the columns, then the features of two tags or more. Default: as in the model.",
            "--keep-columns/--no-keep-columns",
        ),
    ] = None,
    *,
    source: DataInput,
    output: Output,
) -> None:
    """Write the features of a model for the rows of a table.

    The columns of the model are found by name, in any order; others are left aside. Raw data is
    made Boolean, and tags are cleaned, as they were for the model.

    \b
    Examples:
      $ conjunct transform model.json zoo.csv --out features.csv
      $ conjunct transform model.json zoo.csv --handle-unknown keep --out f.csv
      $ conjunct transform model.json zoo.csv --feature-names formula
    """
    from conjunct.explain import count
    from conjunct.files import as_csv, is_sparse_file, write_sparse, write_table

    _check_rows_target(out, model, "features", " as CSV", output.json)
    fitted = read_model(model)
    set_column_options(
        fitted,
        feature_names=feature_names,
        handle_unknown=handle_unknown,
        keep_columns=keep_columns,
    )
    table = source.read_for(fitted, data)
    with source.naming_cells_of(data), time_step("computed features"):
        features = fitted.transform(table)
    if out is not None and is_sparse_file(out):
        save(out, lambda file: write_sparse(file, features))
    else:
        _check_room(*features.shape)
        frame = features.convert("polars")
        if out is None or is_printed(out):
            write_text(as_csv(frame))
            return
        save(out, lambda file: write_table(file, frame))
    n_rows, n_features = features.shape
    output.tell(
        lambda: {
            "n_rows": n_rows,
            "n_features": n_features,
            "features": list(features.names),
            "saved": {"table": str(out)},
        },
        f"Saved {count(n_features, 'feature')} of {count(n_rows, 'row')} as {out}.",
    )


def _check_room(n_rows: int, n_features: int) -> None:
    """Check that a table fits into memory: polars would end the process."""
    from conjunct.memory import available_bytes

    # as bits, as bytes and as text, some of which polars holds at a time
    if 3 * n_rows * n_features + (64 << 20) > available_bytes():
        raise MemoryError


# Spelled out, since the help must not wait for NumPy; a test compares them with the library's.
ChunkOutput = Literal["lists", "text", "long"]


@with_output_options
@with_reading_options
def chunks(
    model: ModelFile,
    data: DataFile,
    out: Annotated[
        Path | None,
        output_option(
            f"{WRITTEN}. Without it, CSV is printed, or JSON lines with --layout lists.",
            "--out",
            "-o",
        ),
    ] = None,
    layout: Annotated[
        ChunkOutput,
        output_option(
            "One text per row (book + tv · person), one line per chunk, or lists of tags."
        ),
    ] = "text",
    *,
    source: DataInput,
    output: Output,
) -> None:
    """Write each row of a table as its chunks.

    They are its tags, in groups that belong together. Every tag of every row is in one chunk,
    also in rows with combinations that training never saw. Columns are found as in conjunct
    transform; --id keeps a column that names the rows.

    \b
    Examples:
      $ conjunct chunks model.json zoo.csv
      $ conjunct chunks model.json zoo.csv --layout long --out chunks.csv
      $ conjunct chunks model.json zoo.csv --layout lists --out chunks.jsonl
    """
    from conjunct.explain import count
    from conjunct.files import as_csv, write_table

    _check_rows_target(out, model, "chunks", "", output.json, lists=layout == "lists")
    fitted = require_chunks(read_model(model), model)
    table = source.read_for(fitted, data)
    with source.naming_cells_of(data), time_step("read rows as chunks"):
        frame = _chunk_frame(fitted, table, layout, table.ids)
    if out is None or is_printed(out):
        write_text(frame.write_ndjson() if layout == "lists" else as_csv(frame))
        return
    save(out, lambda file: write_table(file, frame))
    output.tell(
        lambda: {"n_rows": table.n_rows, "layout": layout, "saved": {"table": str(out)}},
        f"Saved the chunks of {count(table.n_rows, 'row')} as {out}.",
    )


def _chunk_frame(
    model: InvertibleConstructor, table: Any, layout: ChunkOutput, ids: Ids | None
) -> pl.DataFrame:
    """Return the chunks as a table, the names of the rows before them."""
    import polars as pl

    column = "chunk" if layout == "long" else "chunks"
    if ids is not None and ids.name == column:
        raise InputError(f"the column that names the rows is called {column!r}: rename it")
    if layout == "long":
        long: pl.DataFrame = model.chunks(table, "long", backend="polars")
        rows = long["row"]
        if ids is None:
            # as people count, and as conjunct show --rows does
            return long.with_columns(rows + 1)
        names = pl.Series(ids.name, ids.values, pl.String).gather(rows)
        return pl.DataFrame([names, long["chunk"]])
    if layout == "text":
        chunks_ = pl.Series(
            column, model.chunks(table, "text", backend="dict")["chunks"], pl.String
        )
    else:
        chunks_ = pl.Series(column, model.chunks(table), pl.List(pl.List(pl.String)))
    names_ = [] if ids is None else [pl.Series(ids.name, ids.values, pl.String)]
    return pl.DataFrame([*names_, chunks_])


def _check_rows_target(
    out: Path | None, model: Path, what: str, printed: str, json: bool, *, lists: bool = False
) -> None:
    """Check before any work that a table of the rows can be written, and not over the model."""
    from conjunct.files import check_table_target, check_target, is_sparse_file

    if out is None or is_printed(out):
        if json:
            raise InputError(f"--json needs --out: without it, the {what} are printed{printed}")
        return
    if what == "chunks" or not is_sparse_file(out):
        check_table_target(out, lists=lists)
    if check_target(out) == model.resolve():
        raise InputError(f"{out} is the model: name another file for the {what}")


_CHANGES_SHOWN = 3


@with_output_options
@with_reading_options
def update(
    model: ModelFile,
    data: DataFile,
    out: ModelOut = None,
    *,
    source: DataInput,
    output: Output,
) -> None:
    """Count new rows for the features of a model, and say whether these still pay.

    No feature is made or dropped. With --out, which may be the model itself, the counts are kept
    with it: give rows that were not counted before.

    \b
    Examples:
      $ conjunct update model.json zoo.csv
      $ conjunct update model.json zoo.csv --out model.json
    """
    from conjunct import UFC
    from conjunct.files import check_target

    if out is not None:
        check_target(out)
    fitted = read_model(model)
    if not isinstance(fitted, UFC):
        raise InputError(
            f"{model}: a model of kind {type(fitted).__name__} cannot be updated: use one that "
            "conjunct fit has written"
        )
    table = source.read_for(fitted, data)
    with source.naming_cells_of(data), time_step("counted rows"):
        found = fitted.check_drift(table)
    save(out, fitted.save)
    features = _compare_frequencies(fitted, found)
    output.tell(
        lambda: {
            "n_rows": found.n_rows,
            "pays": found.pays,
            "message": str(found),
            "bits": found.bits,
            "baseline_bits": found.baseline_bits,
            "before": found.before,
            "score": found.score,
            "features": features,
            "saved": {"model": None if out is None else str(out)},
        },
        str(found),
        _render_changes(fitted, table),
        None if out is None else f"Saved as {out}.",
    )


def _compare_frequencies(model: UFC, found: DriftCheck) -> list[dict[str, Any]]:
    names, before = model.get_feature_names_out(), model.feature_set_.frequencies
    return [
        {
            "feature": str(name),
            "support": support,
            "frequency": support / found.n_rows,
            "frequency_before": frequency,
        }
        for name, support, frequency in zip(names, found.supports, before, strict=False)
    ]


def _render_changes(model: UFC, rows: BooleanData) -> str | None:
    """Return the three tags or chunks whose share in all rows changed most.

    No two of them are about the same tag, or values of the same variable.
    """
    from conjunct.explain import every_finding, format_share, variable_of_tags
    from conjunct.expressions import pattern_text

    fitted = model.feature_set_
    before = {frozenset(one.tags): one.share for one in every_finding(fitted)}
    if fitted.known is None:
        supports = zip(fitted.lineage.primitives, fitted.primitive_supports, strict=True)
        before |= {frozenset([tag]): rows / fitted.n_rows for tag, rows in supports}
    new = fitted.evaluate_tag_sets(model.read_columns(rows))
    changes = []
    for tags, n_true, n in zip(fitted.tag_sets, new.supports(), new.count_known(), strict=True):
        share = before.get(frozenset(tags))
        if share is not None and n and n_true / n != share:
            changes.append((-abs(n_true / n - share), len(tags), tags, n_true / n, share))
    variable = variable_of_tags(fitted)
    lines: list[str] = []
    said: set[str] = set()
    for *_, tags, now, share in sorted(changes):
        about = {variable[tag] for tag in tags}
        if len(lines) < _CHANGES_SHOWN and not said & about:
            said |= about
            name = showable(pattern_text(tags))
            shares = f"{format_share(now)} of these rows, {format_share(share)} in training"
            lines.append(f"  {name}: in {shares}")
    return "\n".join(["Changed most:", *lines]) if lines else None
