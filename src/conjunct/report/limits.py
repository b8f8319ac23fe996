"""How much of each thing a page shows; where there is more, the page says so."""

from __future__ import annotations

COLUMNS = 16  # bars of the most common columns
TABLE_ROWS = 1000
HEAT_MAP = 40  # lines
GRAPH_NODES = 140
MERGES = 9
COURSE = 300  # iterations, one line each
FINDINGS = 5
EXAMPLE_FEATURES = 24
EXAMPLE_ROWS = 6
DETAIL_ROWS = 12
THUMBNAILS = 240
STEPS = 2000  # merges that the slider goes over
MAP_ROWS = 1500
MAP_CELLS = 4 * 10**4  # true cells of the rows of the map
COLOURS = 8  # chunks with a colour of their own
NETWORK_TAGS = 40
NAME_LENGTH = 120
# literals of a formula that is written out when a feature is opened, and of all of them
FORMULA = 1000
FORMULAS = 5 * 10**4
PATH_COLUMNS = 1500
SOLUTIONS = 2000
# cells and columns looked at while following a path: a few seconds
PATH_CELLS = 5 * 10**8
SOLUTION_COLUMNS = 10**5
RANGES = 150  # of λ that a slider goes over
# features written out for the points of a front, together
FRONT_FEATURES = 3 * 10**4


def n_solutions(n_rows: int, n_columns: int) -> int:
    """Solutions of a path to look for: a number, not a time, so that a page is always the same."""
    bounds = (SOLUTIONS, PATH_CELLS // max(1, n_rows * n_columns), SOLUTION_COLUMNS // n_columns)
    return max(30, min(bounds))
