"""What was done to raw data before features were constructed; saved with the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conjunct.data.binarizer import Binarizer
    from conjunct.data.tags import TagCleaner


@dataclass(frozen=True, eq=False)
class Preparation:
    """The fitted Binarizer or TagCleaner that stands between raw data and a model, if any."""

    binarizer: Binarizer | None = None
    cleaner: TagCleaner | None = None

    def if_needed(self) -> Preparation:
        """Without a Binarizer that leaves every column as it is."""
        made = self.binarizer
        return self if made is None or made.changes_columns else Preparation(None, self.cleaner)

    def variables_of(self, features: Sequence[str]) -> tuple[str | None, ...]:
        """Return the variable of each feature, None where none is known; () if none is at all."""
        if self.binarizer is None:
            return ()
        known = self.binarizer.get_variables()
        variable = {feature: name for name, values in known.items() for feature in values}
        return tuple(map(variable.get, features)) if known else ()

    def source_of(self, feature: str) -> str:
        """The raw column behind a feature."""
        return feature if self.binarizer is None else self.binarizer.source_of(feature)
