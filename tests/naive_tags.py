"""Packed tables undone: what a file of tags says, one Python set a row. Imports no conjunct."""


def incidence(baskets):
    """{tag: [whether each basket has it]}, tags in code-point order."""
    tags = sorted({tag for basket in baskets for tag in basket})
    return {tag: [tag in basket for basket in baskets] for tag in tags}
