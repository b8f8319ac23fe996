"""Simplification of real features: how long it takes, and how much shorter they get."""

from __future__ import annotations

from benchmarks._measure import best_time, report
from conjunct import UFC, Risk, datasets
from conjunct.expressions import Expression


def main() -> int:
    missed = 0
    for name, criterion, max_iter, bound in (
        ("spect", 0.218, 4, 0.6),
        ("coco_street", Risk(prune=False), 5, 0.8),
    ):
        data = datasets.load(name)
        model = UFC(criterion, max_iter=max_iter).fit(data.values)
        formulas = model.formulas()
        given = model.formulas(X_train=data.values)
        print(
            f"{name}: C1 {formulas.length_before:.2f} as built, {formulas.length_after:.2f} "
            f"simplified, {given.length_after:.2f} on the training data"
        )
        shorter = formulas.length_after / formulas.length_before
        missed += report(f"{name}: C1 simplified / built", shorter, bound, at_least=False)
        on_data = given.length_after / given.length_before
        missed += report(f"{name}: C1 on the training data / built", on_data, 0.5, at_least=False)
        seconds = best_time(lambda model=model: model.formulas())
        missed += report(f"{name}: all features simplified", seconds, 5, at_least=False, unit="s")
    return missed + _deep()


def _deep() -> int:
    """The longest of 20 iterations on spect: 22 primitives, a table of 4 million cases."""
    model = UFC(0.02, max_iter=20).fit(datasets.load_spect().values)
    longest = max(model.features_, key=_length)
    simplified = longest.simplify()
    print(f"spect, 20 iterations: {longest.length:,} literals become {simplified.length:,}")
    seconds = best_time(longest.simplify, repeat=1)
    return report(
        "spect, 20 iterations: the longest feature", seconds, 20, at_least=False, unit="s"
    )


def _length(expression: Expression) -> int:
    return expression.length
