"""What the first line of a text file is, and whether lines are baskets: the rules, word by word.

Slow and obvious; shares no code with conjunct.
"""

import re
from itertools import pairwise

MISSING = {"", "-", "?", "n/a", "na", "nan", "none", "unknown"}


def is_value(cell):
    """A number as Python reads it, or a date such as 2024-12-31."""
    if re.match(r"\d{4}-\d\d?-\d\d?|\d\d?[./]\d\d?[./]\d{4}", cell):
        return True
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def has_header(rows):
    """A first row names the columns unless it looks like the rows below it."""
    first, below = rows[0], [row for row in rows[1:] if row]
    numeric_names, word_names_that_recur = [], []
    for k, name in enumerate(first):
        cells = [row[k].strip() for row in below if len(row) > k]
        cells = [cell for cell in cells if cell.casefold() not in MISSING]
        is_numeric = len(cells) > 0 and all(is_value(cell) for cell in cells)
        is_name = name.strip().casefold() not in MISSING
        if is_numeric and is_name and not is_value(name.strip()):
            return True  # a word above numbers
        if is_numeric and is_value(name.strip()):
            numeric_names.append(name.strip())
        elif is_name and not is_numeric:
            word_names_that_recur.append(name.strip() in cells)
    looks_like_a_row = len(word_names_that_recur) > 0 and all(word_names_that_recur)
    if not numeric_names:
        return len(below) < 3 or not looks_like_a_row
    if looks_like_a_row:
        return False
    try:
        numbers = [float(name) for name in numeric_names]
    except ValueError:
        return False
    if any(n != n or n in (float("inf"), -float("inf")) or n != int(n) for n in numbers):
        return False
    numbers = [int(n) for n in numbers]
    if len(set(numbers)) < len(numbers):
        return False
    counts_up = len(numbers) > 1 and all(b == a + 1 for a, b in pairwise(numbers))
    return counts_up or all(1800 <= n <= 2100 for n in numbers)


def holds_baskets(rows):
    """Lines of different lengths without gaps, of which the first has tags that come again."""
    rows = [list(row) for row in rows if row]
    widths = {len(row) for row in rows}
    for row in rows:
        while row and not row[-1]:
            row.pop()
    if len(rows) < 3 or len({len(row) for row in rows}) == 1:
        return False
    if any(cell == "" for row in rows for cell in row):
        return False
    others = {cell for row in rows[1:] for cell in row}
    if not rows[0] or sum(cell in others for cell in rows[0]) < len(rows[0]) / 2:
        return False
    if len(widths) > 1:
        return len(others) <= 0.8 * sum(len(row) for row in rows)
    # filled up to one length: tags change places, which the cells of a table do not
    second = {row[1] for row in rows if len(row) > 1}
    changed = second & {row[0] for row in rows if row}
    is_all_values = all(is_value(cell) for cell in rows[0])
    return len(second) > 0 and len(changed) >= len(second) / 2 and not is_all_values
