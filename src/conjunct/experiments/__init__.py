"""Experiments: seeded simulations and measurements that anyone can run again."""
