"""The outcome of a run: an immutable feature set that can be applied to new rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from conjunct.construction.lineage import Lineage
from conjunct.construction.stage import Merge
from conjunct.errors import InputError
from conjunct.expressions import Expression, parse
from conjunct.stores.packing import Bits


@dataclass(frozen=True, eq=False)
class FeatureSet:
    """Features over some primitives, what they were made from, and how often they are true.

    ``suppressed`` features are known, but left out of what is shown and evaluated.
    """

    lineage: Lineage
    features: tuple[int, ...]
    supports: tuple[int, ...]
    n_rows: int
    # for each conjunction of the lineage, the iteration that made it
    iterations: tuple[int, ...]
    # what uFC replaced, which is what can be undone; other algorithms replace nothing
    merges: tuple[Merge, ...] = ()
    suppressed: tuple[int, ...] = ()
    suppressed_supports: tuple[int, ...] = ()

    @classmethod
    def compacted(
        cls,
        lineage: Lineage,
        features: Iterable[int],
        supports: Iterable[int],
        n_rows: int,
        merges: Iterable[Merge],
    ) -> FeatureSet:
        """With a lineage of its own, which holds what the merges made and nothing else."""
        own = Lineage(lineage.primitives)
        number = dict(zip(range(len(own)), range(len(own)), strict=True))
        iterations: list[int] = []

        def conjoin(made: int | None, left: int, right: int) -> int | None:
            if made is not None:
                number[made] = own.conjoin(left, right)
            return None if made is None else number[made]

        renumbered = []
        for merge in merges:
            left, right = number[merge.left], number[merge.right]
            renumbered.append(
                replace(
                    merge,
                    left=left,
                    right=right,
                    both=conjoin(merge.both, left, right),
                    right_only=conjoin(merge.right_only, ~left, right),
                    left_only=conjoin(merge.left_only, left, ~right),
                )
            )
            iterations += [merge.iteration] * (len(own.conjunctions) - len(iterations))
        return cls(
            own,
            tuple(number[feature] for feature in features),
            tuple(int(support) for support in supports),
            n_rows,
            tuple(iterations),
            tuple(renumbered),
        )

    def without_rare(self, min_support: float) -> FeatureSet:
        """With the features suppressed that are true in less than this share of rows."""
        counted = list(zip(self.features, self.supports, strict=True))
        kept = [(f, s) for f, s in counted if s / self.n_rows >= min_support]
        rare = [(f, s) for f, s in counted if s / self.n_rows < min_support]
        if not kept:
            raise InputError(
                f"no feature reaches min_support={min_support:g}: the most frequent is true in a "
                f"share of {max(self.supports) / self.n_rows:.3g} of the rows. Choose less"
            )
        return replace(
            self,
            features=tuple(f for f, _ in kept),
            supports=tuple(s for _, s in kept),
            suppressed=self.suppressed + tuple(f for f, _ in rare),
            suppressed_supports=self.suppressed_supports + tuple(s for _, s in rare),
        )

    def rare(self) -> FeatureSet:
        """The suppressed features instead of the others."""
        return replace(
            self,
            features=self.suppressed,
            supports=self.suppressed_supports,
            suppressed=(),
            suppressed_supports=(),
        )

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return self.lineage.expressions(self.features)

    def evaluate(self, primitives: Bits, numbers: Iterable[int] | None = None) -> Bits:
        """The features' lines for packed lines of primitives. Padding bits are not meaningful.

        ``numbers`` asks for other features of the lineage instead.
        """
        lines: dict[int, Bits] = dict(enumerate(primitives))

        def literal(number: int) -> Bits:
            return lines[number] if number >= 0 else np.bitwise_not(lines[~number])

        for number, (left, right) in enumerate(
            self.lineage.conjunctions, start=len(self.lineage.primitives)
        ):
            lines[number] = literal(left) & literal(right)
        wanted = self.features if numbers is None else numbers
        return _stacked([lines[number] for number in wanted], primitives.shape[1])

    def recover(self, features: Bits) -> Bits:
        """The primitives' lines for packed lines of features.

        Undoes the merges, last one first: ``i`` is ``i ∧ j`` or ``i ∧ ¬j``. Exact wherever no
        conjunction that was empty in training, and so dropped, is true, and no suppressed one.
        """
        nothing = np.zeros(features.shape[1], np.uint8)
        lines: dict[int | None, Bits] = dict(zip(self.features, features, strict=True))
        for merge in reversed(self.merges):
            both = lines.get(merge.both, nothing)
            lines[merge.left] = both | lines.get(merge.left_only, nothing)
            lines[merge.right] = both | lines.get(merge.right_only, nothing)
        return _stacked(
            [lines.get(number, nothing) for number in range(len(self.lineage.primitives))],
            features.shape[1],
        )

    def lost_cells(self) -> tuple[int, ...]:
        """For each primitive, the rows of the training data in which ``recover`` misses it.

        The features below a primitive are disjoint, so that the supports of the suppressed ones
        add up.
        """
        lost: dict[int | None, int] = dict(
            zip(self.suppressed, self.suppressed_supports, strict=True)
        )
        for merge in reversed(self.merges):
            both = lost.get(merge.both, 0)
            lost[merge.left] = both + lost.get(merge.left_only, 0)
            lost[merge.right] = both + lost.get(merge.right_only, 0)
        return tuple(lost.get(number, 0) for number in range(len(self.lineage.primitives)))

    def position(self, feature: int | str | Expression) -> int:
        """Where a feature stands, given its position, its formula or the text of it.

        Suppressed features stand after the others.
        """
        numbers = self.features + self.suppressed
        if isinstance(feature, int):
            if not 0 <= feature < len(numbers):
                raise InputError(f"there is no feature {feature}: there are {len(numbers)}")
            return feature
        wanted = parse(feature) if isinstance(feature, str) else feature
        try:
            return self.lineage.expressions(numbers).index(wanted)
        except ValueError:
            raise InputError(f"there is no feature {wanted} in this model") from None

    def iteration(self, number: int) -> int:
        """The iteration that made a feature; 0 for a primitive."""
        k = number - len(self.lineage.primitives)
        return self.iterations[k] if k >= 0 else 0

    def parents(self, number: int) -> tuple[int, ...]:
        """The two features that a feature was made from; none for a primitive."""
        operands = self.lineage.operands(number) or ()
        return tuple(literal if literal >= 0 else ~literal for literal in operands)

    def origins(self) -> dict[int, Merge]:
        """The merge that made each feature, where one did."""
        return {number: merge for merge in self.merges for number in merge.made}


def _stacked(lines: list[Bits], n_bytes: int) -> Bits:
    return np.array(lines, np.uint8).reshape(len(lines), n_bytes)
