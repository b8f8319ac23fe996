"""Draw results as Altair charts that are readable in print and without colour."""

from .curves import plot_bars as plot_bars
from .curves import plot_correlation as plot_correlation
from .curves import plot_curves as plot_curves
from .curves import plot_front as plot_front
from .curves import plot_fronts as plot_fronts
from .curves import plot_history as plot_history
from .curves import plot_stability as plot_stability
from .curves import plot_trajectories as plot_trajectories
from .drawing import save_chart as save_chart
from .drawing import svg_of as svg_of
from .graphs import plot_ancestry as plot_ancestry
from .graphs import plot_network as plot_network
from .graphs import plot_relations as plot_relations

"""For the other folders of conjunct."""

from .curves import draw_bars as draw_bars
from .curves import draw_correlation as draw_correlation
from .curves import draw_curves as draw_curves
from .curves import draw_front as draw_front
from .curves import draw_history as draw_history
from .drawing import Drawing as Drawing
from .drawing import cut_to as cut_to
from .drawing import width_of as width_of
from .graphs import Network as Network
from .graphs import draw_boxes as draw_boxes
from .graphs import draw_network as draw_network
from .graphs import draw_tags as draw_tags
