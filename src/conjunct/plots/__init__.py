"""Charts of results (Altair): readable in print, told apart without colour."""

from conjunct.plots.ancestry import plot_ancestry
from conjunct.plots.bars import plot_bars
from conjunct.plots.correlation import plot_correlation
from conjunct.plots.curves import plot_curves, plot_history
from conjunct.plots.front import plot_front, plot_fronts, plot_trajectories
from conjunct.plots.saving import save_chart, svg_of
from conjunct.plots.stability import plot_stability

__all__ = [
    "plot_ancestry",
    "plot_bars",
    "plot_correlation",
    "plot_curves",
    "plot_front",
    "plot_fronts",
    "plot_history",
    "plot_stability",
    "plot_trajectories",
    "save_chart",
    "svg_of",
]
