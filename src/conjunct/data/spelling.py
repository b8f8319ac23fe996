"""One spelling for tags that differ in case, punctuation or number only."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

# what may end a tag and belong to it: c#, 100%
_MAY_END = "#%"

_IRREGULAR = {
    "children": "child",
    "feet": "foot",
    "geese": "goose",
    "men": "man",
    "mice": "mouse",
    "people": "person",
    "teeth": "tooth",
    "women": "woman",
}


def normalised(tag: str, *, case: bool = True, punctuation: bool = True) -> str:
    """The tag in Unicode's NFKC form, with single spaces between its words.

    ``case``: in lower case (Unicode's case folding). ``punctuation``: hyphens and underscores as
    spaces, curly apostrophes as straight ones, and no other punctuation at its ends.

    Examples
    --------
    >>> normalised("  #Traffic_Light ")
    'traffic light'
    """
    while True:
        text = unicodedata.normalize("NFKC", tag)
        if case:
            text = unicodedata.normalize("NFKC", text.casefold())
        if punctuation:
            text = _without_punctuation(text) or text
        text = " ".join(text.split())
        if text == tag:
            return text
        # one step may make way for another: folding for composing, a hyphen for a bracket
        tag = text


def folded(tag: str) -> str:
    """The tag without accents and without the signs that choose a variant of an emoji.

    Examples
    --------
    >>> folded("océan"), folded("❤️") == folded("❤")
    ('ocean', True)
    """
    apart = unicodedata.normalize("NFD", tag)
    return "".join(c for c in apart if not _is_mark(c)) or tag


def singulars(tag: str) -> Iterator[str]:
    """What the singular of an English tag could be; its last word is looked at.

    Examples
    --------
    >>> list(singulars("berries")), list(singulars("wine glasses")), list(singulars("bus"))
    (['berry', 'berrie'], ['wine glass', 'wine glasse'], [])
    """
    start, space, word = tag.rpartition(" ")
    for singular in _singular_words(word):
        yield start + space + singular


def _singular_words(word: str) -> Iterator[str]:
    if word in _IRREGULAR:
        yield _IRREGULAR[word]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        if word.endswith("ies"):
            yield word[:-3] + "y"
        if word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
            yield word[:-2]
        yield word[:-1]


def _without_punctuation(text: str) -> str:
    joined = "".join(
        " " if unicodedata.category(c) in ("Pd", "Pc") else "'" if c == "’" else c for c in text
    ).strip()
    start, end = 0, len(joined)
    while start < end and _is_punctuation(joined[start]):
        start += 1
    while start < end and _is_punctuation(joined[end - 1]) and joined[end - 1] not in _MAY_END:
        end -= 1
    return joined[start:end].strip()


def _is_mark(character: str) -> bool:
    # skin tones are signs of their own, and the two selectors are marks already
    return unicodedata.category(character) == "Mn" or "🏻" <= character <= "🏿"


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character).startswith("P")
