"""Compare measurements side by side. Machines are noisy, so each run gives ratios."""
