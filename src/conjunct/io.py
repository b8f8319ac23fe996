"""The name that ``conjunct.files`` had in version 0.1."""

from conjunct.files import *  # noqa: F403
