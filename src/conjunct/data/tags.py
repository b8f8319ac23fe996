"""Cleaning of tags: merged spellings of one tag, and proposals of tags that look alike."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, Self, get_args

import msgspec
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from conjunct.errors import InputError

# tags compared at a time: a block of scores is 2,000 × the number of tags, 4 bytes each
_BLOCK = 2000

# punctuation that may belong to the end of a tag: c#, 100%
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


class Merged(NamedTuple):
    """A tag with a new spelling, and the number of rows that had it."""

    tag: str
    into: str
    rows: int


class Proposal(NamedTuple):
    """Two tags that look alike (100: equal). A person decides whether to merge them."""

    tag: str
    into: str
    similarity: float
    rows: int
    rows_into: int


ChangeKind = Literal["spelling", "same", "alike", "implies", "empty", "vacuous"]
CHANGE_KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)
MERGES = CHANGE_KINDS[:3]


class Change(NamedTuple):
    """A proposed change of tags, which a person accepts or rejects.

    Attributes
    ----------
    kind : {"spelling", "same", "alike", "implies", "empty", "vacuous"}
        The first three merge ``tag`` into ``into``; ``"implies"`` adds ``into`` to rows that have
        ``tag``; the last two drop ``tag``.
    tag, into : str
        The tags; ``into`` is empty if ``tag`` is dropped.
    rows : int
        Rows that would change.
    why : str
        The evidence in words.
    examples : tuple of int
        The first rows that would change.
    """

    kind: ChangeKind
    tag: str
    into: str
    rows: int
    why: str
    examples: tuple[int, ...]

    @property
    def text(self) -> str:
        """The change in words."""
        if not self.into:
            return f"drop {self.tag}"
        if self.kind == "implies":
            return f"add {self.into} to {self.tag}"
        return f"merge {self.tag} into {self.into}"


class TagsRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fitted TagCleaner in a model file."""

    case: bool
    punctuation: bool
    plurals: bool
    synonyms: dict[str, str]
    mapping: dict[str, str]


class TagCleaner(TransformerMixin, BaseEstimator):
    """Give all spellings of a tag one clean spelling.

    The steps are: Unicode's NFKC form and single spaces; lower case; hyphens and underscores as
    spaces, no punctuation at the ends; synonyms; plurals whose singular is also a tag of the data,
    so "paris" stays. Cleaning clean tags again changes nothing.

    Parameters
    ----------
    case : bool, default=True
        Ignore case.
    punctuation : bool, default=True
        Ignore hyphens, underscores and punctuation at the ends.
    plurals : bool, default=True
        Merge English plurals into their singulars.
    synonyms : dict of str to str, optional
        Tags and their new names; ``conjunct.files.read_synonyms`` reads them from a file.

    Attributes
    ----------
    mapping_ : dict of str to str
        Every tag seen in ``fit`` and its clean spelling.
    counts_ : dict of str to int
        Number of rows of every tag seen in ``fit``.

    Examples
    --------
    >>> from conjunct import TagCleaner
    >>> cleaner = TagCleaner(synonyms={"automobile": "car"})
    >>> cleaner.fit_transform([["Cars", "sky"], ["car"], ["automobile", "#Sky"]])
    [['car', 'sky'], ['car'], ['car', 'sky']]
    """

    mapping_: dict[str, str]
    counts_: dict[str, int]

    def __init__(
        self,
        *,
        case: bool = True,
        punctuation: bool = True,
        plurals: bool = True,
        synonyms: Mapping[str, str] | None = None,
    ) -> None:
        self.case = case
        self.punctuation = punctuation
        self.plurals = plurals
        self.synonyms = synonyms

    def fit(self, X: Iterable[Iterable[str]], y: Any = None) -> Self:
        """Learn the tags of baskets."""
        return self.fit_counts(Counter(tag for basket in X for tag in set(_iter_tags(basket))))

    def fit_counts(self, counts: Mapping[str, int]) -> Self:
        """Learn tags from the number of rows that have each."""
        self.counts_ = dict(counts)
        self._synonyms = self._resolve_synonyms()
        # a synonym may lead to the singular of another tag
        known = {self._normalise(tag) for tag in counts}
        self._known = known | set(self._synonyms.values())
        self.mapping_ = {tag: self.clean(tag) for tag in counts}
        return self

    def transform(self, X: Iterable[Iterable[str]]) -> list[list[str]]:
        """Return baskets of clean tags, each tag once, in the order of the basket."""
        check_is_fitted(self)
        cleaned = []
        for basket in X:
            tags = [self.mapping_.get(tag) or self.clean(tag) for tag in _iter_tags(basket)]
            cleaned.append([tag for tag in dict.fromkeys(tags) if tag])
        return cleaned

    def clean(self, tag: str) -> str:
        """Return the clean spelling of one tag, seen in ``fit`` or not."""
        check_is_fitted(self, "counts_")
        text = self._normalise(tag)
        while True:
            text = self._synonyms.get(text, text)
            # names that the user chose stay
            if not self.plurals or text in self._chosen:
                return text
            singular = next((s for s in iter_singulars(text) if s in self._known), text)
            if singular == text:
                return text
            text = singular

    def merges(self) -> list[Merged]:
        """Return the tags with a new spelling, the most frequent first."""
        check_is_fitted(self)
        pairs = ((tag, into) for tag, into in self.mapping_.items() if tag != into)
        changed = [Merged(tag, into, self.counts_[tag]) for tag, into in pairs]
        return sorted(changed, key=lambda merged: (-merged.rows, merged.tag))

    def proposals(self, similarity: float = 85) -> list[Proposal]:
        """Return pairs of clean tags that look alike, the most similar first.

        Accents and emoji variants are ignored: the similarity of ``océan`` and ``ocean`` is 100.
        ``tag`` is the rarer tag, and ``into`` the more frequent one. Needs rapidfuzz.
        """
        check_is_fitted(self)
        rows: Counter[str] = Counter()
        for tag, count in self.counts_.items():
            rows[self.mapping_[tag]] += count
        tags = sorted(rows, key=lambda tag: (-rows[tag], tag))
        found = [
            Proposal(tags[k], tags[j], score, rows[tags[k]], rows[tags[j]])
            for k, j, score in _find_similar([fold(tag) for tag in tags], similarity)
        ]
        return sorted(found, key=lambda pair: (-pair.similarity, pair.into, pair.tag))

    def record(self) -> TagsRecord:
        """Return the content of a model file."""
        check_is_fitted(self)
        return TagsRecord(
            self.case, self.punctuation, self.plurals, dict(self.synonyms or {}), self.mapping_
        )

    @classmethod
    def from_record(cls, record: TagsRecord) -> Self:
        """Return the TagCleaner that was saved, after checking that its parts agree."""
        cleaner = cls(
            case=record.case,
            punctuation=record.punctuation,
            plurals=record.plurals,
            synonyms=record.synonyms or None,
        ).fit_counts(dict.fromkeys(record.mapping, 0))
        if cleaner.mapping_ != record.mapping:
            raise InputError("its tags do not match its rules")
        return cleaner

    def _normalise(self, tag: str) -> str:
        return normalise(tag, case=self.case, punctuation=self.punctuation)

    def _resolve_synonyms(self) -> dict[str, str]:
        pairs = (map(self._normalise, pair) for pair in (self.synonyms or {}).items())
        given = {tag: into for tag, into in pairs if tag != into}
        resolved = {}
        for tag in given:
            into, seen = tag, {tag}
            while into in given:
                into = given[into]
                if into in seen:
                    raise InputError(f"the synonyms of {tag!r} form a circle")
                seen.add(into)
            resolved[tag] = into
        self._chosen = frozenset(resolved.values())
        return resolved


def _iter_tags(basket: Iterable[str]) -> Iterator[str]:
    if isinstance(basket, str):
        raise InputError(f"a basket must be a set or a list of tags; got {basket!r}")
    for tag in basket:
        if not isinstance(tag, str):
            raise InputError(f"a tag must be text; got {tag!r}")
        if tag.strip():
            yield tag


def _find_similar(tags: list[str], similarity: float) -> Iterator[tuple[int, int, float]]:
    """Yield the positions of similar tags, the later (rarer) one first, and their similarity."""
    try:
        import numpy as np
        from rapidfuzz import fuzz, process
    except ImportError:
        raise ImportError("finding similar tags needs rapidfuzz: pip install rapidfuzz") from None
    for start in range(0, len(tags), _BLOCK):
        block = tags[start : start + _BLOCK]
        scores = process.cdist(
            tags, block, scorer=fuzz.ratio, score_cutoff=similarity, dtype=np.float32, workers=-1
        )
        for k, j in np.argwhere(scores > 0):
            if k > start + j:
                yield int(k), int(start + j), float(scores[k, j])


def normalise(tag: str, *, case: bool = True, punctuation: bool = True) -> str:
    """Return the tag in Unicode's NFKC form, with single spaces between words.

    ``case`` folds the case. ``punctuation`` turns hyphens and underscores into spaces and curly
    apostrophes into straight ones, and removes other punctuation at both ends.

    Examples
    --------
    >>> normalise("  #Traffic_Light ")
    'traffic light'
    """
    while True:
        text = unicodedata.normalize("NFKC", tag)
        if case:
            text = unicodedata.normalize("NFKC", text.casefold())
        if punctuation:
            text = _strip_punctuation(text) or text
        text = " ".join(text.split())
        if text == tag:
            return text
        # repeat, because folding may allow composing, and a hyphen may have hidden a bracket
        tag = text


def fold(tag: str) -> str:
    """Return the tag without accents, skin tones and other emoji variants.

    Examples
    --------
    >>> fold("océan"), fold("❤️") == fold("❤")
    ('ocean', True)
    """
    parts = unicodedata.normalize("NFD", tag)
    # skin tones are symbols; variant selectors are marks
    kept = (c for c in parts if unicodedata.category(c) != "Mn" and not "🏻" <= c <= "🏿")
    return "".join(kept) or tag


def iter_singulars(tag: str) -> Iterator[str]:
    """Yield possible singulars of an English tag, which differ in the last word.

    Examples
    --------
    >>> list(iter_singulars("berries")), list(iter_singulars("bus"))
    (['berry', 'berrie'], [])
    """
    start, space, word = tag.rpartition(" ")
    start += space
    if word in _IRREGULAR:
        yield start + _IRREGULAR[word]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        if word.endswith("ies"):
            yield start + word[:-3] + "y"
        if word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
            yield start + word[:-2]
        yield start + word[:-1]


def _strip_punctuation(text: str) -> str:
    joined = "".join(
        " " if unicodedata.category(c) in ("Pd", "Pc") else "'" if c == "’" else c for c in text
    ).strip()
    marks = "".join(c for c in set(joined) if unicodedata.category(c).startswith("P"))
    return joined.lstrip(marks).rstrip(marks.translate(dict.fromkeys(map(ord, _MAY_END)))).strip()
