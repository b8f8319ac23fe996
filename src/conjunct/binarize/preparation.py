"""What was done to raw data before features were constructed; saved with the model."""

from __future__ import annotations

from dataclasses import dataclass

from conjunct.binarize.binarizer import Binarizer
from conjunct.binarize.rules import BooleanRule, feature_names
from conjunct.binarize.tags import TagCleaner


@dataclass(frozen=True, eq=False)
class Preparation:
    """The fitted Binarizer or TagCleaner that stands between raw data and a model, if any."""

    binarizer: Binarizer | None = None
    cleaner: TagCleaner | None = None

    def if_needed(self) -> Preparation:
        """Without a Binarizer that leaves every column as it is."""
        made = self.binarizer
        if (
            made is None
            or made.dropped_
            or not all(isinstance(r, BooleanRule) for r in made.rules_)
        ):
            return self
        return Preparation(None, self.cleaner)

    def source_of(self, feature: str) -> str:
        """The raw column behind a feature."""
        if self.binarizer is None:
            return feature
        return dict(feature_names(self.binarizer.rules_)).get(feature, feature)
