"""A classifier by code length: the class whose code makes a row shortest."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from conjunct import files
from conjunct.columns import Columns
from conjunct.data import Backend, CellRules, as_table
from conjunct.errors import ConjunctWarning, InputError, ModelFileError
from conjunct.estimators.base import BooleanEstimator, class_codes
from conjunct.estimators.invertible import checked_weights, weighted
from conjunct.estimators.ufc import UFC
from conjunct.features import Asked, FeatureSet, RowCode
from conjunct.parameters import check, check_whole, is_number

# how many beginnings of the run are compared, evenly spaced
_TRIED = 10


class ChunkClassifier(ClassifierMixin, BooleanEstimator):
    """The class in whose code a row is shortest, with the chunks that say so.

    Chunks are found without the classes, by ``UFC``. Each class then has a code for them: a row
    is a list of answers, is this chunk there or not, largest chunks first, and no chunk is asked
    for that those which are there exclude, as in ``UFC.score``. How many merges to use, the
    classes decide: as many as make the classes of the training rows shortest, each row told by the
    others. How much of each bit counts in probabilities is chosen with it, for answers still
    depend on each other. No merge at all is Naive Bayes on the columns.

    Parameters
    ----------
    constructor : UFC, optional
        What finds the chunks; ``UFC()`` if not given. Its ``binarize``, ``missing`` and
        ``n_jobs`` are those of the classifier.
    smoothing : float, default=1.0
        Rows added to each answer in each class, so that none costs infinitely much.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    vocabulary_ : UFC
        The chunks that are used, as a fitted model.
    trust_ : float
        How much of each bit counts in ``predict_proba``, at most 1.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from conjunct import ChunkClassifier, datasets
    >>> zoo = datasets.load_zoo()
    >>> model = ChunkClassifier().fit(zoo.values, zoo.rows["type"])
    >>> model.predict(zoo.values[:3]).tolist()
    ['mammal', 'mammal', 'fish']
    """

    classes_: NDArray[Any]
    vocabulary_: UFC
    trust_: float
    _code: ClassCode

    def __init__(self, constructor: UFC | None = None, *, smoothing: float = 1.0) -> None:
        self.constructor = constructor
        self.smoothing = smoothing

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find chunks in the rows of ``X``, and the code of each class.

        Parameters
        ----------
        X : array, data frame, sparse matrix or list of baskets
            Boolean or 0/1 values, one individual a row.
        y : array of shape (n_rows,)
            The class of each row.
        sample_weight : array of shape (n_rows,), optional
            A row of weight w counts as w equal rows: whole numbers.

        Returns
        -------
        self
        """
        self._check_parameters()
        data = self._read_to_fit(X)
        columns, weights, y = data.columns, np.ones(data.n_rows, np.int64), _labels(y)
        if sample_weight is not None:
            weights = checked_weights(sample_weight, data.n_rows)
            class_codes(y, data.n_rows)
            rows = np.flatnonzero(weights)
            columns, weights, y = columns.take_rows(rows), weights[rows], y[rows]
        self.classes_, codes = class_codes(y, columns.n_rows)
        members = np.zeros((columns.n_rows, len(self.classes_)))
        members[np.arange(columns.n_rows), codes] = weights
        named = replace(data, columns=columns, ids=None)
        with warnings.catch_warnings():
            # classes may well be told by the columns alone
            warnings.simplefilter("ignore", ConjunctWarning)
            model = self._constructor().fit(named, sample_weight=weights)
            self._code, self.trust_, last = self._shortest(model.feature_set_, columns, members)
            if last < model.n_iter_ and model.feature_set_.known is not None:
                # counts do not follow from each other where cells are missing
                model.set_params(max_iter=last).fit(named, sample_weight=weights)
        self.vocabulary_ = model._beginning(last)
        if self.vocabulary_.feature_set_.code_counts is None:
            store = weighted(columns, weights)
            self.vocabulary_.feature_set_ = self.vocabulary_.feature_set_.counted(store)
        return self

    def _shortest(
        self, fitted: FeatureSet, columns: Columns, members: Floats
    ) -> tuple[ClassCode, float, int]:
        """The code by which the classes are told best, its trust, and after how many iterations."""
        n_iter = fitted.merges[-1].iteration if fitted.merges else 0
        tried, losses = [], []
        for last in sorted({round(k * n_iter / _TRIED) for k in range(_TRIED + 1)}):
            n_merges = sum(merge.iteration <= last for merge in fitted.merges)
            row_code = RowCode.of(fitted.after_first(n_merges))
            code = ClassCode.counted(row_code, columns, members, self.smoothing)
            loss, trust = least_loss(code.bits_left_out(columns, members), members)
            tried.append((code, trust, last))
            losses.append(loss)
        return tried[first_least(losses)]

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row of ``X``."""
        bits = self._bits(X)
        return np.asarray(self.classes_[bits.argmin(axis=1)])

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, in the order of ``classes_``, for each row of ``X``."""
        return np.asarray(np.exp2(-normalised(self._trusted_bits(X))), np.float64)

    def predict_log_proba(self, X: Any) -> Floats:
        """The natural logarithms of ``predict_proba``."""
        return np.asarray(-normalised(self._trusted_bits(X)) * np.log(2), np.float64)

    def explain(self, X: Any, *, top: int | None = 5, backend: Backend | None = None) -> Any:
        """Which chunks speak for which class, row by row, the most telling first.

        Parameters
        ----------
        X : array, data frame, sparse matrix or list of baskets
            The rows to explain.
        top : int or None, default=5
            How many chunks a row has at most; ``None``: all that were asked for. Their bits,
            and those of the class itself (``-log2`` of its share of the training rows), add up to
            what ``predict`` compares.
        backend : {"pandas", "polars", "pyarrow", "dict"}, optional
            What kind of table. By default the kind the model was fitted on, and pandas otherwise.

        Returns
        -------
        data frame
            ``row``, ``chunk``, ``there`` (whether the row has it), ``speaks_for`` (the class in
            which that takes fewest bits), ``by`` (how many fewer than in the next), and
            ``bits if CLASS`` for each class.
        """
        check_is_fitted(self)
        check_whole("top", top, 1, optional=True)
        texts = self._code.code.texts
        classes = self.classes_.tolist()
        names = [f"bits if {name}" for name in classes]
        table: dict[str, list[Any]] = {
            name: [] for name in ("row", "chunk", "there", "speaks_for", "by", *names)
        }
        for row, answered in enumerate(self._answers(self._read(X))):
            for number, there, bits in answered[:top]:
                table["row"].append(row)
                table["chunk"].append(texts[number % len(texts)])
                table["there"].append(there)
                table["speaks_for"].append(classes[int(bits.argmin())])
                table["by"].append(_lead(bits))
                for name, value in zip(names, bits.tolist(), strict=True):
                    table[name].append(value)
        return as_table(table, backend or self._backend or "pandas")

    def _answers(self, columns: Columns) -> list[list[tuple[int, bool, Floats]]]:
        """What each row answers: the question, whether it is so, its bits in each class."""
        if_true, if_false = self._code.answer_bits()
        found: list[list[tuple[int, bool, Floats]]] = [[] for _ in range(columns.n_rows)]
        for rows, asked in self._code.code.asked(columns):
            yes = asked.yes
            for there, cells, bits in (
                (True, yes, if_true),
                (False, asked.questions & ~yes, if_false),
            ):
                for number, row in np.argwhere(cells).tolist():
                    found[rows.start + row].append((number, there, bits[number]))
        for answered in found:
            answered.sort(key=lambda one: (-round(_lead(one[2]), 9), one[0]))
        return found

    def _bits(self, X: Any) -> Floats:
        """Bits of each row in each class, with those of the class itself."""
        check_is_fitted(self)
        return self._code.row_bits(self._read(X)) + self._code.prior_bits

    def _trusted_bits(self, X: Any) -> Floats:
        """As many of them as count in probabilities."""
        return self._bits(X) * self.trust_

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted classifier as JSON (docs/model-file.md). The file is whole or absent."""
        check_is_fitted(self)
        code = self._code
        files.write_classifier(
            path,
            files.ClassifierFile(
                smoothing=float(self.smoothing),
                trust=self.trust_,
                classes=self.classes_.tolist(),
                class_rows=code.n_rows.tolist(),
                true=code.true.tolist(),
                false=code.false.tolist(),
                vocabulary=self.vocabulary_._model_file(),
            ),
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a classifier that ``save`` wrote."""
        read = files.read_classifier(path)
        vocabulary = UFC._from_model_file(read.vocabulary, str(path))
        model = cls(clone(vocabulary), smoothing=read.smoothing)
        try:
            model._check_parameters()
        except InputError as error:
            raise ModelFileError(f"{path}: {error}") from None
        model.vocabulary_, model.trust_ = vocabulary, read.trust
        model.classes_ = np.array(read.classes)
        model.n_features_in_ = vocabulary.n_features_in_
        if hasattr(vocabulary, "feature_names_in_"):
            model.feature_names_in_ = vocabulary.feature_names_in_
        model.preparation_ = vocabulary.preparation_
        fitted = vocabulary.feature_set_
        model._code = ClassCode(
            RowCode.of(fitted.after_first(len(fitted.merges))),
            model.smoothing,
            np.array(read.class_rows),
            np.array(read.true),
            np.array(read.false),
        )
        counts = model._code
        shape = (counts.code.n_questions, len(read.classes))
        fits = counts.true.shape == shape == counts.false.shape and len(counts.n_rows) == shape[1]
        if not fits or ((counts.true + counts.false) > counts.n_rows).any():
            raise ModelFileError(f"{path}: damaged classifier: its counts are not of its chunks")
        return model

    @property
    def missing(self) -> Any:  # type: ignore[override]
        return self._constructor().missing

    def _constructor(self) -> UFC:
        return UFC() if self.constructor is None else clone(self.constructor)

    def _rules(self) -> CellRules:
        # all rows are asked about all features, so that lists of rows are of no use
        return replace(self._constructor()._rules(), store="bits")

    def _check_parameters(self) -> None:
        made = self.constructor
        check(made is None or isinstance(made, UFC), "constructor", made, "None or a UFC")
        self._constructor()._check_parameters()
        smoothing = self.smoothing
        holds = is_number(smoothing) and 0 < smoothing < np.inf
        check(holds, "smoothing", smoothing, "a number above 0")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # it sees whether values are above a number, and nothing else
        tags.classifier_tags.poor_score = True
        return tags


def _lead(bits: Floats) -> float:
    """By how many bits the class with fewest is ahead of the next."""
    if len(bits) < 2:
        return 0.0
    first, second = np.partition(bits, 1)[:2]
    return float(second - first)


def _labels(y: Any) -> NDArray[Any]:
    if y is None:
        raise InputError(
            "ChunkClassifier requires y to be passed, but the target y is None: give the class of "
            "each row"
        )
    return np.asarray(y)


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_TRUSTS = tuple(k / 20 for k in range(20, 0, -1))
_ROOM = 1e-6
# lines that are numbers at a time
_LINES_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class ClassCode:
    """In how many rows of each class the answer to a question is yes, and no.

    A line of ``true`` and ``false`` is a question, a column a class. Each feature is a question;
    with variables, those of the rows in which another value is true follow, in the same order.
    """

    code: RowCode
    smoothing: float
    n_rows: Ints
    true: Ints
    false: Ints

    @property
    def prior_bits(self) -> Floats:
        return _bits(self.n_rows, self.n_rows.sum())

    def answer_bits(self, *, less: int = 0) -> tuple[Floats, Floats]:
        """Bits of yes, and of no, to each question in each class.

        ``less`` rows with that very answer are not counted.
        """
        true, false = np.maximum(self.true - less, 0), np.maximum(self.false - less, 0)
        return (
            _bits(true + self.smoothing, true + self.false + 2 * self.smoothing),
            _bits(false + self.smoothing, self.true + false + 2 * self.smoothing),
        )

    def row_bits(self, columns: Columns, *, less: int = 0) -> Floats:
        """Bits of each row in the code of each class."""
        if_true, if_false = self.answer_bits(less=less)
        total = np.zeros((columns.n_rows, if_true.shape[1]))
        for rows, asked in self.code.asked(columns):
            for some, yes, no in _in_numbers(asked):
                total[rows] += yes.T @ if_true[some] + no.T @ if_false[some]
        return total

    @classmethod
    def counted(
        cls, code: RowCode, columns: Columns, members: Floats, smoothing: float
    ) -> ClassCode:
        """``members`` is how often each row counts in each class."""
        true, false = np.zeros((2, code.n_questions, members.shape[1]))
        for rows, asked in code.asked(columns):
            for some, yes, no in _in_numbers(asked):
                true[some] += yes @ members[rows]
                false[some] += no @ members[rows]
        n_rows = members.sum(axis=0).astype(np.int64)
        return cls(code, smoothing, n_rows, true.astype(np.int64), false.astype(np.int64))

    def bits_left_out(self, columns: Columns, members: Floats) -> Floats:
        """Bits of each row and class, in the code of each class as the other rows make it."""
        own = members.argmax(axis=1)[:, None]
        bits = self.row_bits(columns) + self.prior_bits
        without = np.take_along_axis(self.row_bits(columns, less=1), own, axis=1)
        left = self.n_rows[own] - 1 + self.smoothing
        every = self.n_rows.sum() - 1 + members.shape[1] * self.smoothing
        np.put_along_axis(bits, own, without + _bits(left, every), axis=1)
        return bits


def least_loss(bits: Floats, members: Floats) -> tuple[float, float]:
    """Bits that the classes of all rows take at the best trust, and that trust.

    Trust is how much of each bit counts. Answers that depend on each other within a class tell
    the same thing more than once, and then less than 1 tells the classes better.
    """
    own, weights = members.argmax(axis=1)[:, None], members.max(axis=1)
    losses = [
        float(weights @ np.take_along_axis(normalised(trust * bits), own, axis=1)[:, 0])
        for trust in _TRUSTS
    ]
    first = first_least(losses)
    return losses[first], _TRUSTS[first]


def first_least(losses: Sequence[float]) -> int:
    """The first that is least, with a little room, so that rounding never decides."""
    least = min(losses)
    room = _ROOM * max(least, 1.0)
    return next(k for k, loss in enumerate(losses) if loss <= least + room)


def _bits(part: Any, whole: Any) -> Floats:
    return np.asarray(np.log2(whole) - np.log2(part), np.float64)


def normalised(bits: Floats) -> Floats:
    """Bits of each class as minus the logarithms of probabilities, which add up to 1."""
    least = bits.min(axis=1, keepdims=True)
    every = np.log2(np.exp2(least - bits).sum(axis=1, keepdims=True))
    return np.asarray(bits - least + every, np.float64)


def _in_numbers(asked: Asked) -> Iterator[tuple[slice, Floats, Floats]]:
    """Where the answer to some questions at a time is yes, and where no."""
    questions, true = asked.questions, asked.yes
    for start in range(0, len(questions), _LINES_AT_ONCE):
        some = slice(start, min(start + _LINES_AT_ONCE, len(questions)))
        yes = true[some]
        yield some, yes.astype(np.float64), (questions[some] & ~yes).astype(np.float64)
