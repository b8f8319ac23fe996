"""The name that ``conjunct.paper`` had in version 0.1."""

from conjunct.paper import *  # noqa: F403
