"""What a feature is: a formula over named primitives, and its text."""

from .count import Count as Count
from .expression import And as And
from .expression import AtLeast as AtLeast
from .expression import Constant as Constant
from .expression import Exactly as Exactly
from .expression import Expression as Expression
from .expression import Not as Not
from .expression import Or as Or
from .expression import Primitive as Primitive
from .expression import Style as Style
from .order import canonical_key as canonical_key
from .order import compare_canonical as compare_canonical
from .parser import ExpressionSyntaxError as ExpressionSyntaxError
from .parser import parse as parse
from .text import canonical_text as canonical_text
from .text import render as render

"""For the other folders of conjunct."""

from .expression import Counted as Counted
from .expression import nodes as nodes
from .keys import Key as Key
from .keys import conjunction_key as conjunction_key
from .keys import is_plain as is_plain
from .keys import negation_key as negation_key
from .keys import primitive_key as primitive_key
from .pattern import CHUNKS_BETWEEN as CHUNKS_BETWEEN
from .pattern import pattern_text as pattern_text
from .simplification import Form as Form
from .simplification import in_form as in_form
from .simplification import simplified_on as simplified_on
from .text import render_conjunction as render_conjunction
from .text import render_negation as render_negation
