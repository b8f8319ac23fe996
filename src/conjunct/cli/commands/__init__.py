"""Define the commands, which are functions of the same names."""
