"""One file for each command: a function of the name of its file."""
