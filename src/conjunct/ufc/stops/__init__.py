"""The stopping rules, one file each."""
