"""Charts of results (Altair): readable in print, told apart without colour."""

from .ancestry import plot_ancestry as plot_ancestry
from .correlation import plot_correlation as plot_correlation
from .curves import plot_curves as plot_curves
from .curves import plot_history as plot_history
from .front import plot_front as plot_front
from .front import plot_fronts as plot_fronts
from .front import plot_trajectories as plot_trajectories
from .network import plot_network as plot_network
from .saving import save_chart as save_chart
from .saving import svg_of as svg_of
from .stability import plot_bars as plot_bars
from .stability import plot_stability as plot_stability

"""For the other folders of conjunct."""

from .correlation import correlations as correlations
from .network import NETWORK_SIZE as NETWORK_SIZE
from .network import network_of as network_of
from .network import network_places as network_places
from .network import network_widths as network_widths
from .style import legend_below as legend_below
