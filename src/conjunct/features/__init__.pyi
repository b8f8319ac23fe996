"""Feature sets: their lineage, their codes, and measures of how good they are."""

from .measures import closest_point as closest_point
from .measures import complexity as complexity
from .measures import description_length as description_length
from .measures import mean_length as mean_length
from .measures import mean_length_of as mean_length_of
from .measures import overlapping_index as overlapping_index
from .measures import pareto_front as pareto_front
from .measures import rms as rms

"""For the other folders of conjunct."""

from .code import Asked as Asked
from .code import CodeCounter as CodeCounter
from .code import CodeCounts as CodeCounts
from .code import RowCode as RowCode
from .code import bits_of_rows as bits_of_rows
from .code import merge_cost as merge_cost
from .feature_set import Compared as Compared
from .feature_set import FeatureSet as FeatureSet
from .feature_set import Merge as Merge
from .lineage import Lineage as Lineage
from .lineage import Made as Made
from .lineage import Tally as Tally
from .measures import DECIMALS as DECIMALS
from .measures import bits_saved as bits_saved
from .measures import bits_saved_by as bits_saved_by
from .measures import largest_rise as largest_rise
from .measures import primitive_costs as primitive_costs
from .measures import rounded as rounded
