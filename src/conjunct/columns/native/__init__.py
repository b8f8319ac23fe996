"""What is written in C, and how it is called."""
