"""Where rows are that one process does not hold: each engine enters itself in ``ENGINES``."""
