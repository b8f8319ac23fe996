"""Features that leave conjunct: as SQL, as Polars expressions, as a Python function.

One file for each, and nothing imported here: each needs another library, or none.
"""
