"""Charts of results (Altair): readable in print, and without colour."""

from .correlation import plot_correlation as plot_correlation
from .curves import plot_bars as plot_bars
from .curves import plot_curves as plot_curves
from .curves import plot_history as plot_history
from .curves import plot_stability as plot_stability
from .front import plot_front as plot_front
from .front import plot_fronts as plot_fronts
from .front import plot_trajectories as plot_trajectories
from .graphs import plot_ancestry as plot_ancestry
from .graphs import plot_network as plot_network
from .style import save_chart as save_chart
from .style import svg_of as svg_of

"""For the other folders of conjunct."""

from .correlation import correlations as correlations
from .correlation import heat_maps as heat_maps
from .curves import history_curves as history_curves
from .graphs import ANCESTRY_BEND as ANCESTRY_BEND
from .graphs import ANCESTRY_BOX as ANCESTRY_BOX
from .graphs import NETWORK_SIZE as NETWORK_SIZE
from .graphs import ancestry_corners as ancestry_corners
from .graphs import network_of as network_of
from .graphs import network_places as network_places
from .graphs import network_widths as network_widths
from .style import legend_below as legend_below
