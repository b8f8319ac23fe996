"""Feature sets: their lineage, their codes, and measures of how good they are."""

from .code import description_length as description_length
from .feature_set import closest_point as closest_point
from .feature_set import complexity as complexity
from .feature_set import mean_length as mean_length
from .feature_set import mean_length_of as mean_length_of
from .feature_set import overlapping_index as overlapping_index
from .feature_set import pareto_front as pareto_front
from .feature_set import rms as rms

"""For the other folders of conjunct."""

from .code import DECIMALS as DECIMALS
from .code import Asked as Asked
from .code import CodeCounts as CodeCounts
from .code import RowCode as RowCode
from .code import bits_of_model as bits_of_model
from .code import bits_of_rows as bits_of_rows
from .code import largest_rise as largest_rise
from .code import merge_cost as merge_cost
from .code import pair_saving as pair_saving
from .code import pair_savings as pair_savings
from .code import primitive_costs as primitive_costs
from .code import round_savings as round_savings
from .feature_set import Compared as Compared
from .feature_set import FeatureSet as FeatureSet
from .feature_set import Merge as Merge
from .lineage import Lineage as Lineage
from .lineage import Made as Made
from .lineage import Tally as Tally
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
