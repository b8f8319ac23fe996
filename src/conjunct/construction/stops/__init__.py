"""The stopping rules, one file each."""

from conjunct.construction.stops.base import READABLE_LENGTH, STOPS, Stop, stop_of
from conjunct.construction.stops.bits import ShorterBits
from conjunct.construction.stops.never import Never
from conjunct.construction.stops.relative import Relative
from conjunct.construction.stops.rms import Rms

__all__ = [
    "READABLE_LENGTH",
    "STOPS",
    "Never",
    "Relative",
    "Rms",
    "ShorterBits",
    "Stop",
    "stop_of",
]
