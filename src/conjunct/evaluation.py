"""The name that ``conjunct.features`` had in version 0.1."""

from conjunct.features import *  # noqa: F403
