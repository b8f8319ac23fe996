"""Features as formulas over named primitives, and their text."""

from .expression import And as And
from .expression import AtLeast as AtLeast
from .expression import Constant as Constant
from .expression import Count as Count
from .expression import Exactly as Exactly
from .expression import Expression as Expression
from .expression import Not as Not
from .expression import Or as Or
from .expression import Primitive as Primitive
from .expression import Style as Style
from .text import ExpressionSyntaxError as ExpressionSyntaxError
from .text import canonical_key as canonical_key
from .text import canonical_text as canonical_text
from .text import compare_canonical as compare_canonical
from .text import parse as parse
from .text import render as render

"""For the other folders of conjunct."""

from .expression import Counted as Counted
from .expression import nodes as nodes
from .simplify import Form as Form
from .simplify import in_form as in_form
from .simplify import simplify_on as simplify_on
from .text import CHUNKS_BETWEEN as CHUNKS_BETWEEN
from .text import natural_order as natural_order
from .text import parse_pattern as parse_pattern
from .text import pattern_text as pattern_text
from .text import render_conjunction as render_conjunction
from .text import render_negation as render_negation
