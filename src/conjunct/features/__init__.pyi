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
from .code import CodeCounts as CodeCounts
from .code import RowCode as RowCode
from .code import bits_of_model as bits_of_model
from .code import bits_of_rows as bits_of_rows
from .code import merge_cost as merge_cost
from .feature_set import Compared as Compared
from .feature_set import FeatureSet as FeatureSet
from .feature_set import Merge as Merge
from .lineage import Lineage as Lineage
from .lineage import Made as Made
from .lineage import Tally as Tally
from .measures import DECIMALS as DECIMALS
from .measures import largest_rise as largest_rise
from .measures import pair_saving as pair_saving
from .measures import pair_savings as pair_savings
from .measures import primitive_costs as primitive_costs
from .measures import round_savings as round_savings
from .mixture import SAMPLE_ROWS as SAMPLE_ROWS
from .mixture import Fields as Fields
from .mixture import Growth as Growth
from .mixture import Mixture as Mixture
from .mixture import Rows as Rows
from .mixture import Sums as Sums
from .mixture import average_row as average_row
from .mixture import converge as converge
from .mixture import normalise as normalise
from .mixture import sum_members as sum_members
from .suggestions import KEPT_TAGS as KEPT_TAGS
from .suggestions import Suggester as Suggester
from .suggestions import Suggestion as Suggestion
from .suggestions import SuggestionsRecord as SuggestionsRecord
from .suggestions import TagCounts as TagCounts
