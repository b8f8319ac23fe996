"""Charts of results (Altair): readable in print, told apart without colour."""

from conjunct.plots.bars import plot_bars
from conjunct.plots.curves import plot_curves, plot_history
from conjunct.plots.front import plot_front, plot_fronts, plot_trajectories
from conjunct.plots.saving import save_chart, svg_of

__all__ = [
    "plot_bars",
    "plot_curves",
    "plot_front",
    "plot_fronts",
    "plot_history",
    "plot_trajectories",
    "save_chart",
    "svg_of",
]
