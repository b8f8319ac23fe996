"""Side-by-side measurements. Machines are noisy: each compares things in one run, as a ratio."""
