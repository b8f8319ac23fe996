"""``conjunct update``: new rows, counted for the features of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conjunct.cli.inputs import DataInput, reads_data
from conjunct.cli.options import DataFile, ModelFile, ModelOut
from conjunct.cli.outputs import Output, speaks

if TYPE_CHECKING:
    from conjunct.estimators import UFC, Update


@speaks
@reads_data
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
    from conjunct import UFC, load
    from conjunct.cli.progress import step
    from conjunct.errors import InputError
    from conjunct.files import check_target

    if out is not None:
        check_target(out)
    with step(f"read {model}"):
        fitted = load(model)
    if not isinstance(fitted, UFC):
        raise InputError(
            f"{model}: a model of kind {type(fitted).__name__} cannot be updated: use one that "
            "conjunct fit has written"
        )
    table = source.read_for(fitted, data)
    with source.naming_cells_of(data), step("counted rows"):
        found = fitted.update(table)
    if out is not None:
        with step(f"wrote {out}"):
            fitted.save(out)
    features = _features(fitted, found)
    output.tell(
        lambda: {
            "n_rows": found.n_rows,
            "pays": found.pays,
            "told": str(found),
            "bits": found.bits,
            "baseline_bits": found.baseline_bits,
            "before": found.before,
            "score": found.score,
            "features": features,
            "saved": {"model": None if out is None else str(out)},
        },
        str(found),
        _changes(features),
        None if out is None else f"Saved as {out}.",
    )


def _features(model: UFC, found: Update) -> list[dict[str, Any]]:
    fitted = model.feature_set_
    told = zip(model.get_feature_names_out(), found.supports, fitted.frequencies, strict=False)
    return [
        {
            "feature": str(name),
            "support": support,
            "frequency": support / found.n_rows,
            "frequency_before": before,
        }
        for name, support, before in told
    ]


def _changes(features: list[dict[str, Any]]) -> str | None:
    """The three features whose share changed most, in words."""
    from conjunct.cli.terminal import showable

    def change(told: dict[str, Any]) -> float:
        return -abs(float(told["frequency"] - told["frequency_before"]))

    most = [told for told in sorted(features, key=change)[:3] if change(told)]
    if not most:
        return None
    lines = [
        f"  {showable(told['feature'])}: in {told['frequency']:.0%} of these rows, "
        f"{told['frequency_before']:.0%} in training"
        for told in most
    ]
    return "\n".join(["Changed most:", *lines])
