"""Draw the plane of OI and C0 for the paper's rules, with the features of some solutions."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from markupsafe import Markup
from sklearn.base import clone

from conjunct.data import BooleanData
from conjunct.errors import ConjunctWarning, InputError
from conjunct.estimators import UFC, FeatureConstructor, UFCPath
from conjunct.explain import count, decimal, place_of_closest, takes_one_pair
from conjunct.plots import draw_front
from conjunct.report import page
from conjunct.report.model_on_rows import ModelOnRows
from conjunct.ufc import CRITERIA, STOPS, Indicators, Risk, Solution, Threshold

MarkKind = Literal["front", "closest", "path", "model", "risk", "pairwise", "columns"]

_PAIRWISE_LENGTH = 4
_TEXT_LENGTH = 160
_WIDTH, _HEIGHT = 520, 360


@dataclass(frozen=True)
class Mark:
    """A solution that can be opened, with its features and their supports."""

    kind: MarkKind
    name: str
    note: str
    numbers: Solution | Indicators
    features: tuple[tuple[str, int], ...]

    @classmethod
    def of(
        cls,
        kind: MarkKind,
        name: str,
        note: str,
        numbers: Solution | Indicators,
        shown: ModelOnRows,
        model: FeatureConstructor,
    ) -> Mark:
        fitted = model.feature_set_
        lines = sorted(
            zip(fitted.features, fitted.supports, strict=True),
            key=lambda line: (not fitted.iteration(line[0]), -line[1]),
        )
        write, expression = shown.write, fitted.lineage.expression
        features = ((write(expression(number), _TEXT_LENGTH), rows) for number, rows in lines)
        return cls(kind, name, note, numbers, tuple(features))

    @property
    def summary(self) -> str:
        oi, c0 = self.numbers.oi, self.numbers.c0
        return (
            f"{count(self.numbers.n_features, 'feature')} of "
            f"{decimal(self.numbers.length, 2)} literals, OI {decimal(oi)}, "
            f"C0 {decimal(c0)}, distance {decimal(math.hypot(oi, c0), 4)}"
        )


@dataclass(frozen=True)
class Plane:
    """The plane: ``selected`` is the mark shown first, and ``views`` are names and pictures.

    ``slide`` lists ranges of λ for the slider, lowest first: start, end, and the mark of the range.
    """

    solutions: tuple[Solution, ...]
    marks: tuple[Mark, ...]
    selected: int
    views: tuple[tuple[str, Markup], ...]
    n_front: int
    slide: tuple[tuple[float, float, int], ...]
    notes: tuple[str, ...]


def follow_plane(shown: ModelOnRows) -> Plane | str:
    """Return the plane of a model by the paper's rules, or a sentence that explains its absence."""
    n_columns = shown.primitives.n_columns
    if n_columns > page.PATH_COLUMNS:
        return (
            f"The plane of solutions is omitted for more than {page.PATH_COLUMNS:,} columns "
            f"({n_columns:,} here)."
        )
    try:
        path = _follow_path(shown)
    except InputError as error:
        return f"There is no plane of solutions: {error}."
    ranges = _ranges(path) if isinstance(shown.model, UFCPath) else []
    marks = (*_solution_marks(shown, path, ranges), *_other_marks(shown, path))
    place = {id(mark.numbers): k for k, mark in enumerate(marks)}
    chosen = [k for k, mark in enumerate(marks) if mark.kind == "model"]
    closest = next(k for k, mark in enumerate(marks) if mark.kind == "closest")
    return Plane(
        path.solutions_,
        marks,
        chosen[0] if chosen else closest,
        tuple(_draw_views(path, marks)),
        len(path.front_),
        tuple((low, high, place[id(one)]) for low, high, one in ranges if id(one) in place),
        tuple(_notes(path, marks)),
    )


def _follow_path(shown: ModelOnRows) -> UFCPath:
    model = shown.model
    if isinstance(model, UFCPath):
        # a model from a file has no path, and other rows have a different path
        has_path = model.has_path and shown.is_training
        return model if has_path else _fit_quietly(clone(model), shown)
    null_feature = getattr(model, "null_feature", False)
    if isinstance(model, UFC) and model.stop is not None:
        null_feature = getattr(STOPS.resolve(model.stop), "null_feature", False)
    # limited by a number of solutions, not by time: the page must always be the same
    n_rows, n_columns = shown.n_rows, shown.primitives.n_columns
    most = page.PATH_CELLS // max(1, n_rows * n_columns), page.SOLUTION_COLUMNS // n_columns
    path = UFCPath(
        prune=_has_pruning(model),
        null_feature=bool(null_feature),
        max_solutions=max(30, min(page.SOLUTIONS, *most)),
        formula_style=model.formula_style,
        n_jobs=model.n_jobs,
    )
    return _fit_quietly(path, shown)  # type: ignore[no-any-return]


def _has_pruning(model: FeatureConstructor) -> bool:
    if isinstance(model, UFC):
        return CRITERIA.resolve(model.criterion).pair_filter.prune
    return bool(getattr(model, "prune", True))


def _notes(path: UFCPath, marks: Sequence[Mark]) -> Iterator[str]:
    if not path.complete_:
        yield (
            f"Only λ ≥ {path.covered_from_:.4f} is covered: the search stops after "
            f"{len(path.solutions_):,} solutions."
        )
    opened = sum(mark.kind in ("front", "closest") for mark in marks)
    if opened < len(path.front_):
        yield (
            f"You can open {opened:,} of the {len(path.front_):,} points of the front, those "
            f"around the closest point."
        )
    pruned = "with" if path.prune else "without"
    lowest = max(path.min_threshold, path.covered_from_)
    yield (
        f"The solutions are those of uFC for every λ from {lowest:.3g} to {path.max_threshold:g}, "
        f"with up to {path.max_iter} iterations, {pruned} pruning."
    )


def _solution_marks(
    shown: ModelOnRows, path: UFCPath, ranges: Sequence[tuple[float, float, Solution]]
) -> Iterator[Mark]:
    """Yield points of the front around the closest one, then other solutions of ranges of λ."""
    best, front = path.closest_point_, path.front_
    closest = place_of_closest(front)
    chosen: list[tuple[Solution, MarkKind]] = [
        (best, "closest") if k == closest else (front[k], "front")
        for k in _choose_points(front, closest)
    ]
    on_front = {id(solution) for solution in (*front, best)}
    others = {id(one): one for *_, one in ranges if id(one) not in on_front}
    for solution, kind in (*chosen, *((one, "path") for one in others.values())):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConjunctWarning)
            model = path.solution(solution)
        name = f"uFC({solution.threshold:g}, {solution.iterations})"
        if kind == "closest":
            name = f"Closest point: {name}"
        note = (
            f"λ from {solution.min_threshold:.4f} up to {solution.max_threshold:.4f}, "
            f"{count(solution.iterations, 'iteration')}"
        )
        yield Mark.of(kind, name, note, solution, shown, model)


def _choose_points(front: Sequence[Solution], closest: int) -> list[int]:
    """Choose points around the closest one, with a limited total number of features."""
    opened: list[int] = []
    n_features = 0
    for k in sorted(range(len(front)), key=lambda k: (abs(k - closest), k)):
        n_features += front[k].n_features
        if opened and n_features > page.FRONT_FEATURES:
            break
        opened.append(k)
    return sorted(opened)


def _ranges(path: UFCPath) -> list[tuple[float, float, Solution]]:
    """Return ranges of λ around the closest point, lowest first, with their best solutions."""
    ends = sorted({end for s in path.solutions_ for end in (s.min_threshold, s.max_threshold)})
    found: list[tuple[float, float, Solution]] = []
    covering: list[Solution] = []
    rising = sorted(path.solutions_, key=lambda s: s.min_threshold, reverse=True)
    for low, high in pairwise(ends):
        covering = [s for s in covering if s.max_threshold > low]
        while rising and rising[-1].min_threshold <= low:
            covering.append(rising.pop())
        best = min(covering, key=lambda s: (s.distance, s.n_features, s.iterations), default=None)
        if best is None:
            continue
        if found and found[-1][2] is best and found[-1][1] == low:
            found[-1] = found[-1][0], high, best
        else:
            found.append((low, high, best))
    if not found:
        return []
    solutions = [solution for _, _, solution in found]
    opened = _choose_points(solutions, place_of_closest(solutions))[: page.RANGES]
    return [found[k] for k in opened]


def _other_marks(shown: ModelOnRows, path: UFCPath) -> Iterator[Mark]:
    """Yield this model, the risk-based and pairwise solutions, and the unchanged columns."""
    model = shown.model
    style, risk = model.formula_style, Risk(prune=_has_pruning(model))
    own = ""
    if isinstance(model, UFC) and isinstance(CRITERIA.resolve(model.criterion), Risk):
        own = "pairwise" if takes_one_pair(model) else "risk"
    if not isinstance(model, UFCPath):
        rule = {"": "", "risk": " (risk-based)"}.get(own, f" ({own})")
        numbers = model.history_[-1]
        yield Mark.of("model", f"This model{rule}", _describe(model), numbers, shown, model)
    pairwise = {"search": "pairwise", "max_length": _PAIRWISE_LENGTH, "formula_style": style}
    runs: tuple[tuple[MarkKind, str, UFC], ...] = (
        ("risk", "Risk-based", UFC(risk, formula_style=style)),
        ("pairwise", "Pairwise", UFC(Risk(), **pairwise)),  # type: ignore[arg-type]
        ("columns", "Unchanged columns", UFC(Risk(), max_iter=0, formula_style=style)),
    )
    for kind, name, run in runs:
        if kind != own:
            found = _fit_quietly(run, shown)
            note = "" if kind == "columns" else _describe(found)
            yield Mark.of(kind, name, note, found.history_[-1], shown, found)


def _describe(model: FeatureConstructor) -> str:
    iterations = count(model.n_iter_, "iteration")
    if not isinstance(model, UFC):
        return f"{type(model).__name__}, {iterations}"
    criterion = CRITERIA.resolve(model.criterion)
    rule = f"by {criterion.name}"
    if isinstance(criterion, Risk):
        rule = f"α = {criterion.alpha:g}"
    elif isinstance(criterion, Threshold):
        rule = f"λ = {criterion.threshold:g}"
    search = "one pair at a time, " if takes_one_pair(model) else ""
    unit = "tags" if criterion.counts_tags else "literals"
    bound = f", at most {model.max_length} {unit}" if model.max_length else ""
    return f"{search}{rule}{bound}, {iterations}"


def _draw_views(path: UFCPath, marks: Sequence[Mark]) -> Iterator[tuple[str, Markup]]:
    """Yield pictures of the plane, with attributes that the script needs."""
    attributes = {
        f"solution {k}": {"class": "solution", "data-k": str(k)}
        for k in range(len(path.solutions_))
    }
    place = {id(solution): k for k, solution in enumerate(path.front_)}
    number = {id(solution): k for k, solution in enumerate(path.solutions_)}
    for k, mark in enumerate(marks):
        drawn = f"{mark.name} 0"
        if mark.kind == "closest":
            drawn = "closest point 0"
        elif mark.kind == "front":
            drawn = f"Pareto front {place[id(mark.numbers)]}"
        elif mark.kind == "path":
            drawn = f"solution {number[id(mark.numbers)]}"
        attributes[drawn] = {
            "class": f"mark {mark.kind}",
            "data-k": str(k),
            "role": "button",
            "tabindex": "-1",
            "aria-label": f"{mark.name}: {mark.summary}",
        }
    others = {m.name: [m.numbers] for m in marks if m.kind not in ("front", "closest", "path")}
    best = path.closest_point_
    for name, far in (
        ("All solutions", math.inf),
        ("Around the closest point", 2.5 * max(best.oi, best.c0)),
    ):
        if far:
            drawing = draw_front(
                *(path.solutions_, path.front_, best, others),
                far=far,
                size=(_WIDTH, _HEIGHT),
                attributes=attributes,
            )
            yield name, page.draw(drawing)


def _fit_quietly(model: Any, shown: ModelOnRows) -> Any:
    """Fit the model on the rows of the report without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        data = BooleanData(shown.model.feature_set_.lineage.primitives, shown.primitives)
        return model.set_params(missing=shown.model.missing, verbose=0).fit(data)


def plane_data(found: Plane) -> dict[str, Any]:
    """Return the data of the script; each text is stored once, because sets share most features."""
    texts: dict[str, int] = {}
    marks = [
        {
            "name": one.name,
            "note": one.note,
            "summary": one.summary,
            "features": [[texts.setdefault(x, len(texts)), rows] for x, rows in one.features],
        }
        for one in found.marks
    ]
    solutions = [
        [
            *(f"uFC({x.threshold:g}, {x.iterations})", x.n_features, decimal(x.length, 2)),
            *(decimal(x.oi), decimal(x.c0)),
        ]
        for x in found.solutions
    ]
    return {
        "texts": list(texts),
        "marks": marks,
        "solutions": solutions,
        "chosen": found.selected,
        "slide": [[f"{low:.4f}", f"{high:.4f}", mark] for low, high, mark in found.slide],
    }
