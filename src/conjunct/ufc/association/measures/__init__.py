"""Measures of association: each enters itself in ``MEASURES``."""
