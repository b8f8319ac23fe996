"""A classifier by minimum description length."""

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
from conjunct.data import Backend, CellRules
from conjunct.errors import ConjunctWarning, InputError, ModelFileError
from conjunct.estimators.base import BooleanEstimator, check_weights, class_codes, with_weights
from conjunct.estimators.ufc import UFC
from conjunct.features import Asked, FeatureSet, RowCode
from conjunct.parameters import check, is_number, whole
from conjunct.ufc import SourceError, check_source

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CALIBRATIONS = tuple(k / 20 for k in range(20, 0, -1))
# relative difference below which losses count as equal
_TOLERANCE = 1e-6
# largest number of rows to add to the real ones
_MOST_SMOOTHING = 1_000_000_000
# questions to convert to floats at a time
_BLOCK = 256
# number of prefixes of the run to compare, evenly spaced
_TRIED = 10


class ChunkClassifier(ClassifierMixin, BooleanEstimator):
    """Classify by minimum description length, and list the chunks that decide.

    ``UFC`` finds chunks without using the classes. Then each class gets a code for rows. It states
    which chunks are present, larger chunks first, and skips chunks that a present chunk excludes,
    as in ``UFC.score``. The number of merges minimises the bits for the classes of the training
    rows, each predicted from all other rows. The weight of a bit in probabilities minimises the
    same bits; it corrects for answers that depend on each other. Without merges, this is Naive
    Bayes on the columns.

    Parameters
    ----------
    constructor : UFC, optional
        The model that finds the chunks, by default ``UFC()``. The classifier also uses its
        ``threshold``, ``missing`` and ``n_jobs``.
    smoothing : float, default=1.0
        Rows to add to each answer in each class. Without them, unseen answers cost infinite bits.

    Attributes
    ----------
    classes_ : array
        The sorted classes.
    vocabulary_ : UFC
        The chunks in use, as a fitted model.
    calibration_ : float
        Weight of each bit in ``predict_proba``, at most 1.

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
    calibration_: float
    _code: ClassCode

    def __init__(self, constructor: UFC | None = None, *, smoothing: float = 1.0) -> None:
        self.constructor = constructor
        self.smoothing = smoothing

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find chunks in the rows of ``X``, and the code of each class in ``y``.

        ``X`` and ``sample_weight`` are as in `UFC`, but must fit in memory.
        """
        self._check_parameters()
        data = self._read_to_fit(X)
        if y is None:
            raise InputError(
                "ChunkClassifier requires y to be passed, but the target y is None: pass the class "
                "of each row"
            )
        columns, weights, y = data.columns, np.ones(data.n_rows, np.int64), np.asarray(y)
        if sample_weight is not None:
            weights = check_weights(sample_weight, data.n_rows)
            class_codes(y, data.n_rows)
            rows = np.flatnonzero(weights)
            columns, weights, y = columns.take_rows(rows), weights[rows], y[rows]
        self.classes_, codes = class_codes(y, columns.n_rows)
        members = np.zeros((columns.n_rows, len(self.classes_)))
        members[np.arange(columns.n_rows), codes] = weights
        named = replace(data, columns=columns, ids=None)
        with warnings.catch_warnings():
            # the columns alone may predict the classes well enough
            warnings.simplefilter("ignore", ConjunctWarning)
            model = self._constructor().fit(named, sample_weight=weights)
            self._code, self.calibration_, last = self._choose_code(
                model.feature_set_, columns, members
            )
            if last < model.n_iter_ and model.feature_set_.known is not None:
                # with missing cells, counts cannot be derived from each other
                model.set_params(max_iter=last).fit(named, sample_weight=weights)
        self.vocabulary_ = model.after_iterations(last)
        if self.vocabulary_.feature_set_.code_counts is None:
            store = with_weights(columns, weights)
            self.vocabulary_.feature_set_ = self.vocabulary_.feature_set_.with_code_counts(store)
        return self

    def _choose_code(
        self, fitted: FeatureSet, columns: Columns, members: Floats
    ) -> tuple[ClassCode, float, int]:
        """Return the code that predicts the classes best, with its calibration and iterations."""
        n_iter = fitted.merges[-1].iteration if fitted.merges else 0
        tried, losses = [], []
        for last in sorted({round(k * n_iter / _TRIED) for k in range(_TRIED + 1)}):
            n_merges = sum(merge.iteration <= last for merge in fitted.merges)
            row_code = RowCode.of(fitted.after_first(n_merges))
            code = ClassCode.count(row_code, columns, members, self.smoothing)
            loss, calibration = least_loss(code.bits_left_out(columns, members), members)
            tried.append((code, calibration, last))
            losses.append(loss)
        return tried[first_minimum(losses)]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row of ``X``."""
        bits = self._bits(X)
        return np.asarray(self.classes_[bits.argmin(axis=1)])

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class for each row, in the order of ``classes_``."""
        return np.asarray(np.exp2(-normalise(self._bits(X) * self.calibration_)), np.float64)

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the natural logarithms of ``predict_proba``."""
        return np.asarray(-normalise(self._bits(X) * self.calibration_) * np.log(2), np.float64)

    def explain(self, X: Any, *, top: int | None = 5, backend: Backend | None = None) -> Any:
        """Return a table of the chunks that decide the class of each row, strongest first.

        Parameters
        ----------
        X : array, data frame, sparse matrix or list of baskets
            The rows to explain.
        top : int or None, default=5
            Maximum number of chunks per row; ``None``: all answers of the code. Their bits plus
            those of the class itself (``-log2`` of its share of the training rows) are the bits
            that ``predict`` compares.
        backend : {"pandas", "polars", "pyarrow", "dict"}, optional
            Kind of table; by default the kind the model was fitted on, otherwise pandas.

        Returns
        -------
        data frame
            ``row``, ``chunk``, ``there`` (True if the row has it), ``speaks_for`` (the class with
            the fewest bits), ``by`` (the difference from the next class), and ``bits if CLASS``
            for each class.
        """
        check_is_fitted(self)
        whole(1, optional=True).check("top", top)
        columns, code, classes = self.read_columns(X), self._code.code, self.classes_.tolist()
        # per row: lead of an answer, its question, yes or no, and its bits in each class
        answers: list[list[tuple[float, int, bool, Floats]]] = [[] for _ in range(columns.n_rows)]
        bits_of_answers = [(bits, _leads(bits)) for bits in self._code.answer_bits()]
        for rows, asked in code.iterate_answers(columns):
            yes = asked.yes
            given = (True, yes), (False, asked.questions & ~yes)
            for (there, answer), (bits, leads) in zip(given, bits_of_answers, strict=True):
                for number, row in np.argwhere(answer).tolist():
                    answers[rows.start + row].append((leads[number], number, there, bits[number]))
        names = "row", "chunk", "there", "speaks_for", "by", *(f"bits if {c}" for c in classes)
        cells: list[tuple[Any, ...]] = []
        for row, of_row in enumerate(answers):
            of_row.sort(key=lambda answer: (-round(answer[0], 9), answer[1]))
            for lead, number, there, bits in of_row[:top]:
                chunk, speaks_for = code.texts[number % len(code.texts)], classes[bits.argmin()]
                cells.append((row, chunk, there, speaks_for, lead, *bits.tolist()))
        return self.make_table({n: [c[k] for c in cells] for k, n in enumerate(names)}, backend)

    def _bits(self, X: Any) -> Floats:
        """Return the bits of each row in each class, including the bits of the class."""
        check_is_fitted(self)
        return self._code.row_bits(self.read_columns(X)) + self._code.prior_bits

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted classifier as JSON (docs/export.md), atomically."""
        files.write_model(
            path,
            files.ClassifierFile(
                format=files.CLASSIFIER_FORMAT,
                version=files.CLASSIFIER_VERSION,
                smoothing=float(self.smoothing),
                calibration=self.calibration_,
                classes=files.Labels.of(self.classes_),
                class_rows=self._code.n_rows.tolist(),
                true=self._code.true.tolist(),
                false=self._code.false.tolist(),
                vocabulary=self.vocabulary_.to_model_file(),
            ),
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a classifier that ``save`` wrote."""
        read = files.read_classifier(path)
        vocabulary = UFC.from_model_file(read.vocabulary, str(path))
        classifier = cls(clone(vocabulary), smoothing=read.smoothing)
        classifier.vocabulary_, classifier.calibration_ = vocabulary, read.calibration
        classifier._copy_columns(vocabulary)
        try:
            classifier._check_parameters()
            check_source(
                read.calibration in _CALIBRATIONS, "the calibration must be one of 0.05, 0.1, …, 1"
            )
            classifier.classes_ = read.classes.array()
            classifier._code = classifier._restore_code(read)
        except SourceError as error:
            raise ModelFileError(f"{path}: damaged classifier: {error}") from None
        except InputError as error:
            raise ModelFileError(f"{path}: {error}") from None
        return classifier

    def _restore_code(self, read: files.ClassifierFile) -> ClassCode:
        """Return the counts of a file, after checking them against the classes and chunks."""
        fitted = self.vocabulary_.feature_set_
        code, n_classes = RowCode.of(fitted.after_first(len(fitted.merges))), len(self.classes_)
        sizes = {*map(len, (*read.true, *read.false, read.class_rows))}
        n_lines = {len(read.true), len(read.false)}
        fits = sizes == {n_classes} and n_lines == {code.n_questions}
        check_source(fits, "the counts do not match the chunks")
        n_rows, true, false = map(np.array, (read.class_rows, read.true, read.false))
        is_all = n_rows.sum() == fitted.n_rows and bool(((true + false) <= n_rows).all())
        check_source(is_all, "the counts do not match the rows")
        supports = np.zeros(code.n_features, np.int64)
        supports[fitted.row_code.places] = fitted.supports + fitted.suppressed_supports
        by_feature = true.sum(axis=1).reshape(-1, code.n_features).sum(axis=0)
        check_source(np.array_equal(by_feature, supports), "the counts do not match the supports")
        if fitted.has_code and fitted.known is None:
            counts = fitted.known_counts().features
            questions = counts[[0, 2]] if len(true) > code.n_features else counts[[0]]
            same = np.array_equal((true + false).sum(axis=1), questions.ravel())
            check_source(same, "the counts do not match the code")
        return ClassCode(code, self.smoothing, n_rows, true, false)

    @property
    def missing(self) -> Any:  # type: ignore[override]
        return self._constructor().missing

    def _constructor(self) -> UFC:
        return UFC() if self.constructor is None else clone(self.constructor)

    def _adapt_advice(self, advice: str) -> str:
        missing = "pass missing='pairwise' or 'false' (--missing on the command line)"
        advice = advice.replace(missing, "pass constructor=UFC(missing='pairwise')")
        return advice.replace("pass threshold=", "pass constructor=UFC(threshold=…)")

    def reading_rules(self) -> CellRules:
        # each feature encodes each row, so lists of rows would not help
        return replace(self._constructor().reading_rules(), storage="dense")

    def _check_parameters(self) -> None:
        given = self.constructor
        check(given is None or isinstance(given, UFC), "constructor", given, "None or a UFC")
        self._constructor()._check_parameters()
        smoothing = self.smoothing
        holds = is_number(smoothing) and 0 < smoothing <= _MOST_SMOOTHING
        check(holds, "smoothing", smoothing, f"a number above 0, at most {_MOST_SMOOTHING:,}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # it only uses whether values exceed a threshold
        tags.classifier_tags.poor_score = True
        return tags


def _leads(bits: Floats) -> list[float]:
    """Return, for each question, the difference in bits between the two best classes."""
    if bits.shape[1] < 2:
        return [0.0] * len(bits)
    ordered = np.partition(bits, 1)
    leads: list[float] = (ordered[:, 1] - ordered[:, 0]).tolist()
    return leads


@dataclass(frozen=True, eq=False)
class ClassCode:
    """The number of rows per class that answer yes, and no, to each question.

    ``true`` and ``false`` have one row per question and one column per class. Each feature is a
    question. With variables, a second block has the same questions for rows with another value of
    the variable.
    """

    code: RowCode
    smoothing: float
    n_rows: Ints
    true: Ints
    false: Ints

    @property
    def prior_bits(self) -> Floats:
        """Return the bits of each class, from its share of the rows."""
        return _bits(self.n_rows, self.n_rows.sum())

    def answer_bits(self, *, less: int = 0) -> tuple[Floats, Floats]:
        """Return the bits of yes, and of no, per question and class, with ``less`` fewer rows."""
        true, false = np.maximum(self.true - less, 0), np.maximum(self.false - less, 0)
        return (
            _bits(true + self.smoothing, true + self.false + 2 * self.smoothing),
            _bits(false + self.smoothing, self.true + false + 2 * self.smoothing),
        )

    def row_bits(self, columns: Columns, *, less: int = 0) -> Floats:
        """Return the bits of each row in the code of each class."""
        if_true, if_false = self.answer_bits(less=less)
        total = np.zeros((columns.n_rows, if_true.shape[1]))
        for rows, asked in self.code.iterate_answers(columns):
            for some, yes, no in _answer_blocks(asked):
                total[rows] += yes.T @ if_true[some] + no.T @ if_false[some]
        return total

    @classmethod
    def count(cls, code: RowCode, columns: Columns, members: Floats, smoothing: float) -> ClassCode:
        """Count the answers of rows; ``members`` holds the weight of each row in each class."""
        true, false = np.zeros((2, code.n_questions, members.shape[1]))
        for rows, asked in code.iterate_answers(columns):
            for some, yes, no in _answer_blocks(asked):
                true[some] += yes @ members[rows]
                false[some] += no @ members[rows]
        n_rows = members.sum(axis=0).astype(np.int64)
        return cls(code, smoothing, n_rows, true.astype(np.int64), false.astype(np.int64))

    def bits_left_out(self, columns: Columns, members: Floats) -> Floats:
        """Return the bits of each row in the code of each class, without counting that row."""
        own = members.argmax(axis=1)[:, None]
        bits = self.row_bits(columns) + self.prior_bits
        without = np.take_along_axis(self.row_bits(columns, less=1), own, axis=1)
        left = self.n_rows[own] - 1 + self.smoothing
        every = self.n_rows.sum() - 1 + members.shape[1] * self.smoothing
        np.put_along_axis(bits, own, without + _bits(left, every), axis=1)
        return bits


def least_loss(bits: Floats, members: Floats) -> tuple[float, float]:
    """Return the fewest bits for the classes of all rows, and the calibration for them.

    The calibration is the weight of each bit: below 1 where dependent answers repeat information.
    """
    own, weights = members.argmax(axis=1)[:, None], members.max(axis=1)
    losses = [
        float(weights @ np.take_along_axis(normalise(calibration * bits), own, axis=1)[:, 0])
        for calibration in _CALIBRATIONS
    ]
    first = first_minimum(losses)
    return losses[first], _CALIBRATIONS[first]


def first_minimum(losses: Sequence[float]) -> int:
    """Return the position of the first minimum, with a tolerance for rounding errors."""
    least = min(losses)
    tolerance = _TOLERANCE * max(least, 1.0)
    return next(k for k, loss in enumerate(losses) if loss <= least + tolerance)


def _bits(part: Any, whole: Any) -> Floats:
    return np.asarray(np.log2(whole) - np.log2(part), np.float64)


def normalise(bits: Floats) -> Floats:
    """Shift the bits of each row so that the class probabilities sum to 1."""
    least = bits.min(axis=1, keepdims=True)
    every = np.log2(np.exp2(least - bits).sum(axis=1, keepdims=True))
    return np.asarray(bits - least + every, np.float64)


def _answer_blocks(asked: Asked) -> Iterator[tuple[slice, Floats, Floats]]:
    """Yield blocks of questions: their slice, the cells with yes, and the cells with no."""
    questions, true = asked.questions, asked.yes
    for start in range(0, len(questions), _BLOCK):
        some = slice(start, min(start + _BLOCK, len(questions)))
        yes = true[some]
        yield some, yes.astype(np.float64), (questions[some] & ~yes).astype(np.float64)
