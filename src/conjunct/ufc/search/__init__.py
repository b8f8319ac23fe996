"""The searches: which pairs are joined, and in what order."""
