"""Algorithm 1 and what follows from it: uFC as a generator of stages, and policies that stop it."""
