"""The figures that the paper prints for ``spect`` (tables 3 and 4)."""

from __future__ import annotations

from typing import Any

# strategy → features, length, OI, C0
INDICATORS: dict[str, tuple[int, float, float, float]] = {
    "primitives": (22, 1.00, 0.28, 0.00),
    "uFC*(0.432, 3)": (36, 2.83, 0.09, 0.07),
    "uFC(0.218, 4)": (62, 8.81, 0.03, 0.20),
    "uFRINGE": (307, 2.90, 0.25, 1.45),
}

RISK_BASED: dict[str, dict[str, Any]] = {
    "primitives": {"features": 22, "length": 1.00, "oi": 0.279, "c0": 0.000},
    "uFC*(0.432, 3)": {
        "threshold": 0.432,
        "iterations": 3,
        "features": 36,
        "common": 19,
        "length": 2.83,
        "oi": 0.086,
        "c0": 0.071,
    },
    "uFCα(0.0001)": {
        "threshold": 0.228,
        "iterations": 2,
        "features": 39,
        "common": 19,
        "length": 2.97,
        "oi": 0.078,
        "c0": 0.086,
    },
}

# §5.4: the order of magnitude of the p-value, for every λ and every data set
KENDALL_P_VALUE = 1e-9


def beside(name: str, strategy: str) -> dict[str, Any]:
    """The published line of table 3, as columns; empty where the paper has none."""
    found = INDICATORS.get(strategy) if name == "spect" else None
    if found is None:
        return {}
    columns = ("published_features", "published_length", "published_oi", "published_c0")
    return dict(zip(columns, found, strict=True))


def beside_risk(name: str, strategy: str) -> dict[str, Any]:
    """The published line of table 4, as columns; empty where the paper has none."""
    found = RISK_BASED.get(strategy, {}) if name == "spect" else {}
    return {f"published_{column}": value for column, value in found.items()}
