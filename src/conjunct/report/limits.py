"""How much of each thing a page shows; where there is more, the page says so."""

from __future__ import annotations

FINDINGS = 5  # before a click shows more
FINDINGS_BY_ORDER = 30
ALSO = 3  # other findings about the same columns, under a finding
CHUNKS, TAGS = 500, 300  # of the vocabulary
TABLE_ROWS = 600
HEAT_MAP = 40  # lines
GRAPH_NODES = 140
MERGES = 9
COURSE = 300  # iterations, one line each
GROUPS = 20
EXAMPLE_ROWS = 6  # images of a finding
DETAIL_ROWS = 12
THUMBNAILS = 240
STEPS = 2000  # merges that the slider goes over
MAP_ROWS = 1500
MAP_CELLS = 4 * 10**4  # true cells of the rows of the map
COLOURS = 8  # chunks with a colour of their own
NETWORK_TAGS = 40
RELATIONS = 10  # of each kind
SECOND_LOOK = 8  # rows that may lack a tag, and as many with a doubtful one
SECOND_LOOK_ROWS = 20_000
NAME_LENGTH = 120
WORDED = 60  # literals of a formula that is also written in words
# literals of a formula that is written out when a feature is opened, and characters of all of them
FORMULA = 1000
FORMULAS = 3 * 10**5
PATH_COLUMNS = 1500
SOLUTIONS = 2000
# cells and columns looked at while following a path: a few seconds
PATH_CELLS = 5 * 10**8
SOLUTION_COLUMNS = 10**5
RANGES = 150  # of λ that a slider goes over
# features written out for the points of a front, together
FRONT_FEATURES = 3 * 10**4
