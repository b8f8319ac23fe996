"""The criteria, one file each: which pairs may be joined, and which comes first."""
