"""Words that the part of a report for everybody does not use."""

import re

JARGON = re.compile(
    r"\b(bits?|OI|C0|RMS|Pareto|literals?|UFC\w*|uFC|λ|α|lineage|primitives?|merges?|iterations?|"
    r"evidence|code|support|conjunctions?|criterion|formulas?|\(rest\))(?!\w)"
)
