"""Declare the options that commands share, and read the data and models that they name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from conjunct import counting, estimators, files, ufc
from conjunct import data as data_
from conjunct.cli.terminal import file_of, name_of, show_rows_read, time_step
from conjunct.errors import InputError

if TYPE_CHECKING:
    from conjunct.counting import Engine
    from conjunct.data import Binarizer, BooleanData, Ids, Preparation, TagCleaner
    from conjunct.estimators import UFC, FeatureConstructor, InvertibleConstructor
    from conjunct.files import ReadOptions, Stream

# sections of --help
RULE, SEARCH, DATA, COUNTING, OUTPUT = "Rule", "Search", "Data", "Counting", "Output"
THRESHOLDS = "Thresholds (--over thresholds)"

Command = Callable[..., None]


def option(help: str, *flags: str, default: Any = None, **settings: Any) -> Any:
    """Return an option as the default of its parameter; a default of None is not shown."""
    return typer.Option(default, *flags, help=help, **settings)


def argument(metavar: str, help: str, default: Any = ..., **settings: Any) -> Any:
    """Return a positional argument as the default of its parameter."""
    return typer.Argument(default, metavar=metavar, help=help, show_default=False, **settings)


rule_option = partial(option, rich_help_panel=RULE)
search_option = partial(option, rich_help_panel=SEARCH)
data_option = partial(option, rich_help_panel=DATA)
counting_option = partial(option, rich_help_panel=COUNTING)
threshold_option = partial(option, rich_help_panel=THRESHOLDS)
output_option = partial(option, rich_help_panel=OUTPUT)


def takes(**groups: Sequence[Callable[..., Any]]) -> Callable[[Command], Command]:
    """Add the parameters of some functions to a command as options.

    Each keyword names functions. The last one is called with the values of the parameters of all of
    them, and the command receives its result under the keyword.
    """
    options: dict[str, dict[str, inspect.Parameter]] = {}
    for keyword, makers in groups.items():
        found: dict[str, inspect.Parameter] = {}
        for make in makers:
            # a parameter that an earlier function declares keeps that declaration
            found |= {n: p for n, p in _parameters(make).items() if n not in found}
        options[keyword] = found

    def decorate(command: Command) -> Command:
        own = [p for p in _parameters(command).values() if p.name not in groups]

        def run(**given: Any) -> None:
            for keyword, makers in reversed(groups.items()):
                values = {name: given.pop(name) for name in options[keyword]}
                given[keyword] = makers[-1](**values)
            command(**given)

        run.__name__ = command.__name__
        run.__doc__ = command.__doc__
        run.__annotations__ = {}
        shared = [p for some in options.values() for p in some.values()]
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [p.replace(kind=p.KEYWORD_ONLY) for p in (*own, *shared)]
        )
        return run

    return decorate


@cache  # evaluating annotations is slow, and most commands share these functions
def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    found = inspect.signature(function, eval_str=True).parameters
    return {name: p for name, p in found.items() if p.kind is not p.VAR_KEYWORD}


# Spelled out because the help must not load polars; a test compares them with the registry.
READ = (
    "Table (.csv, .tsv, .txt, .xlsx, .ods, .parquet, .arrow, .json, .jsonl, .arff, .sqlite), "
    "transactions (.dat, .basket) or .svmlight; text may be compressed (.gz, .zst)"
)
WRITTEN = "Table to write: .csv, .tsv, .jsonl (also .gz, .zst), .parquet or .arrow"
SPARSE = ".npz or .svmlight"

# Options that several commands share; their default is None unless one is given.
DATA_FILE = argument("DATA", f"{READ}. - is standard input.")
MODEL_FILE = argument("MODEL", "Model file written by fit.")
MODEL_OUT = output_option(
    "Model file to write (JSON). Without it, nothing is saved.", "--out", "-o"
)
TABLE_OUT = output_option(f"{WRITTEN}. Without it, CSV is printed.", "--out", "-o")
RESULT_OUT = output_option(f"{WRITTEN}.", "--out", "-o")
JOBS = counting_option("Threads for counting; -1 uses all processors.")
REPORT_FILE = output_option("HTML report to write.", "--report")
ASCII = output_option("Write sky & ~building instead of sky ∧ ¬building.", "--ascii", default=False)
WITH_FORMULAS = output_option(
    "Show exact formulas, including the tags they deny.", "--formulas", default=False
)
KEEP_COLUMNS = output_option(
    "In transform and export, keep the columns and add the features of at least two tags.",
    "--keep-columns",
    default=False,
)
Missing = Literal["raise", "false", "pairwise"]
MISSING = data_option(
    "Reject missing cells, treat them as false, or keep them missing.", default="pairwise"
)
VARIABLES = data_option(
    'JSON file of mutually exclusive columns, such as {"colour": ["red", "blue"]}, or none '
    "(default: the values of each raw column, and one-hot columns).",
    "--variables",
    metavar="FILE|none",
)


def read_variables_option(given: Path | None) -> Any:
    """Return the value of ``--variables`` in the form that UFC expects."""
    if given is None:
        return None
    return False if str(given) == "none" else files.read_variables(given)


# Spelled out because the help must not load NumPy; a test compares them with the library.
CRITERIA = {
    "bits": "join the tags that compress the data most",
    "evidence": "join tags that go together in the rows",
    "risk": "the paper's uFCα: join columns with a significant correlation",
    "threshold": "a number: the paper's λ, which the correlation must exceed",
}
STOPS = {
    "gain": "when the next merge costs more than it saves",
    "never": "only when no pair may be joined any more",
    "rms": "the paper's: before the RMS of overlap (OI) and growth (C0) rises",
}
Stop = Literal["gain", "never", "rms"]
Measure = Literal["cosine", "jaccard", "lift", "mutual_information", "npmi", "phi", "pmi", "yule_q"]
Test = Literal["exact", "normal"]
Correction = Literal["none", "bh", "bonferroni", "by", "holm"]
# fmt: off
Format = Literal[
    "csv", "tsv", "text", "parquet", "arrow", "excel", "database", "jsonl", "json", "arff",
    "baskets", "svmlight", "long"
]
Dialect = Literal[
    "bigquery", "clickhouse", "databricks", "duckdb", "mysql", "oracle", "postgres", "redshift",
    "snowflake", "spark", "sqlite", "trino", "tsql"
]
# fmt: on
Search = Literal["batch", "pairwise"]
Form = Literal["built", "nested", "dnf", "simplified"]
FeatureNames = Literal["tags", "formula"]
HandleUnknown = Literal["warn", "keep"]


# all but the threshold, which is given as a number
NAMED_CRITERIA = {name: text for name, text in CRITERIA.items() if name != "threshold"}


def _list_choices(choices: Mapping[str, str]) -> str:
    return " ".join(f"{name}: {text}." for name, text in choices.items())


def _complete_criterion(incomplete: str) -> list[tuple[str, str]]:
    """Return the criteria whose names begin with the text."""
    return [(name, text) for name, text in NAMED_CRITERIA.items() if name.startswith(incomplete)]


def _rule_parameters(
    criterion: str = rule_option(
        f"{_list_choices(NAMED_CRITERIA)} A{CRITERIA['threshold'][1:]}.",
        default="evidence",
        metavar="|".join([*NAMED_CRITERIA, "NUMBER"]),
        autocompletion=_complete_criterion,
    ),
    factor: float | None = rule_option(
        "evidence: minimum evidence of a chunk, as a multiple of its cost (default: 1)."
    ),
    alpha: str | None = rule_option(
        "bits: false discovery rate among the pairs that may be joined (default: 0.05), or "
        "none for no test. risk: risk of joining an independent pair (default: 0.001).",
        metavar="NUMBER|none",
    ),
    test: Test | None = rule_option(
        "bits, risk: Fisher's exact test, also valid for rare columns, or the paper's normal "
        "approximation (default: exact for bits, normal for risk)."
    ),
    correction: Correction | None = rule_option(
        "bits, risk: correction for the number of pairs tested (default: bh for bits, none for "
        "risk)."
    ),
    prune: bool | None = rule_option(
        "risk, NUMBER: skip pairs with an expected frequency below 5, which are too rare for the "
        "paper's test (default: --prune for risk).",
        "--prune/--no-prune",
    ),
    measure: Measure | None = rule_option(
        "risk, NUMBER: measure of association; the strongest pairs come first (default: phi, the "
        "correlation)."
    ),
    search: Search | None = search_option(
        "Join many pairs per iteration, which needs fewer passes over rows on disk or a cluster, "
        "or only the best one (default: pairwise for evidence and bits, batch for the paper's "
        "rules)."
    ),
    stop: Stop | None = search_option(
        f"When to stop. {_list_choices(STOPS)} Default: gain for evidence and bits, rms for the "
        "paper's rules."
    ),
    max_iter: int | None = search_option(
        "Maximum number of iterations. The paper's rules run exactly this many, unless --stop is "
        "given."
    ),
    max_length: int | None = search_option(
        "Maximum number of tags per feature, or of literals with the paper's rules."
    ),
    max_features: int | None = search_option("Keep the best model with at most N features."),
    min_support: float | None = search_option(
        "Suppress features that are true in less than this share of rows."
    ),
    variables: Path | None = VARIABLES,
) -> dict[str, Any]:
    given = {"factor": factor, "test": test, "prune": prune, "measure": measure}
    settings: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if alpha is not None:
        settings["alpha"] = parse_alpha(alpha)
    if correction is not None:
        settings["correction"] = None if correction == "none" else correction
    return {
        "criterion": _make_criterion(criterion, settings),
        "search": search,
        "stop": stop,
        "max_iter": max_iter,
        "max_length": max_length,
        "max_features": max_features,
        "min_support": min_support,
        "variables": read_variables_option(variables),
    }


def _make_criterion(given: str, settings: Mapping[str, Any]) -> Any:
    """Return the criterion for UFC: a name, a number, or an object with settings."""
    number = _parse_number(given)
    if number is None and given not in NAMED_CRITERIA:
        raise InputError(
            f"--criterion must be {', '.join(NAMED_CRITERIA)} or a number; got {given!r}"
        )
    rule = ufc.CRITERIA["threshold" if number is not None else given]
    known = [name for name in rule().get_params() if name != "threshold"]
    for name in settings:
        if name not in known:
            options = ", ".join(f"--{setting}" for setting in known)
            raise InputError(f"--{name} does not apply to --criterion {given}, which has {options}")
    if settings.get("alpha", 0) is None:
        if given != "bits":
            raise InputError("--alpha none requires --criterion bits: the other rules need a test")
        if len(settings) > 1:
            raise InputError("--alpha none runs no test: drop --test and --correction")
    if number is not None:
        return rule(threshold=number, **settings) if settings else number
    return rule(**settings) if settings else given


def parse_alpha(given: str) -> float | None:
    """Return the value of ``--alpha``."""
    if given == "none":
        return None
    number = _parse_number(given)
    if number is None:
        raise InputError(f"--alpha must be a number or none; got {given!r}")
    return number


def _parse_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


RULE_OPTIONS = (_rule_parameters,)
"""The options of a rule, for `takes`, which passes the parameters of UFC to the command."""


# delimiters that are hard to type in a shell
_SPELLED = {r"\t": "\t", "tab": "\t", "space": " "}


@dataclass(frozen=True)
class DataInput:
    """The way a command reads its data; with ``has_weights``, the ids are weights."""

    options: ReadOptions
    binarizer: Binarizer | None = None
    cleaner: TagCleaner | None = None
    has_weights: bool = False

    def read_weights_from(self, column: str | None) -> DataInput:
        """Return this input with a column of weights, if any."""
        if column is None:
            return self
        if self.options.id is not None:
            raise InputError("use either --id or --weights, not both")
        return replace(self, options=replace(self.options, id=column), has_weights=True)

    def with_weights(self, table: BooleanData) -> tuple[BooleanData, dict[str, list[float]]]:
        """Return the table without its weights, and the weights as an argument of ``fit``."""
        if not self.has_weights or table.ids is None:
            return table, {}
        weights = []
        for row, text in enumerate(table.ids.values):
            weight = data_.number(text)
            if weight is None:
                raise InputError(
                    f"column {table.ids.name!r}, row {row}: {text!r} is not a number: --weights "
                    "needs numbers"
                )
            weights.append(weight)
        return replace(table, ids=None), {"sample_weight": weights}

    def read(self, data: Path, model: FeatureConstructor | None = None) -> BooleanData:
        """Read a Boolean table; with a model, read its columns and prepare them as in training."""
        name, names = name_of(data), None
        preparing: DataInput | Preparation = self
        if model is not None:
            preparing = model.preparation_
            if hasattr(model, "feature_names_in_"):
                names = list(model.feature_names_in_)
        with time_step(f"read {name}"), show_rows_read(f"Reading {name}") as progress:
            return files.read_boolean(
                file_of(data),
                **asdict(self.options),
                binarizer=preparing.binarizer,
                cleaner=preparing.cleaner,
                names=names,
                progress=progress,
            )

    def naming_cells_of(
        self, data: Path, if_empty: str = "fill it in or drop the row"
    ) -> AbstractContextManager[None]:
        """Add the file and the line to errors about cells."""
        return files.naming_cells_of(file_of(data), self.options, if_empty)


def _make_input(
    format_: Format | None = data_option(
        "File format, if the extension does not show it: csv, tsv, text, parquet, arrow, excel, "
        "database, jsonl, json, arff, baskets, svmlight or long.",
        "--format",
        metavar="FORMAT",
    ),
    columns: list[str] | None = data_option(
        "Columns (or tags) to read, such as a,b; may be repeated.", metavar="NAMES"
    ),
    exclude: list[str] | None = data_option("Columns (or tags) to ignore.", metavar="NAMES"),
    id_: str | None = data_option("Column that identifies the rows.", "--id", metavar="NAME"),
    separator: str | None = data_option(
        "Delimiter between cells, or between the items of a transaction.", metavar="TEXT"
    ),
    tags: str | None = data_option(
        "Column with the tags of each row, such as water;tree or a JSON list.", metavar="NAME"
    ),
    tag_separator: str | None = data_option("Delimiter between tags, with --tags.", metavar="TEXT"),
    null: list[str] | None = data_option(
        "Text that marks a missing cell, such as ?.", metavar="TEXT"
    ),
    sheet: str | None = data_option("Spreadsheet sheet (default: the first).", metavar="NAME"),
    table: str | None = data_option("Database table, if there are several.", metavar="NAME"),
    header: bool | None = data_option(
        "Read the first line as a header, or as data (default: inferred).", "--header/--no-header"
    ),
) -> DataInput:
    return DataInput(
        files.ReadOptions(
            format_,
            columns or None,
            exclude or (),
            id_,
            _SPELLED.get(separator or "", separator),
            tags,
            null or (),
            _SPELLED.get(tag_separator or "", tag_separator),
            sheet,
            table,
            header,
        )
    )


def _make_preparing_input(
    binning: Literal["quantile", "width", "kmeans"] = data_option(
        "How to bin numbers: by quantiles, into equal widths, or by k-means.", default="quantile"
    ),
    bins: int = data_option("Number of bins per numeric column.", default=4),
    cumulative: bool = data_option(
        "Create tags such as age ≥ 30 instead of age in [30, 45).", "--cumulative", default=False
    ),
    edges: list[str] | None = data_option(
        "Bin edges of a column, such as age=30,45,60.", metavar="NAME=NUMBERS"
    ),
    min_frequency: float = data_option(
        "Group values rarer than this count (or share, if below 1).", default=1
    ),
    max_categories: int = data_option(
        "Maximum number of tags per categorical column; the rarest are grouped.", default=20
    ),
    rare_categories: Literal["group", "drop"] = data_option(
        "Group rare values, or drop them.", default="group"
    ),
    categorical: list[str] | None = data_option(
        "Columns to read as categories, even if they hold numbers or dates.", metavar="NAMES"
    ),
    clean_tags: bool = data_option(
        "Merge spellings of tags, as conjunct tags does.", "--clean-tags", default=False
    ),
    synonyms: Path | None = data_option("File that maps tags to their preferred names."),
    **reading: Any,
) -> DataInput:
    binarizer = data_.Binarizer(
        binning,
        n_bins=bins,
        cumulative=cumulative,
        edges=dict(map(_parse_edges, edges)) if edges else None,
        min_frequency=min_frequency,
        max_categories=max_categories,
        rare_categories=rare_categories,
        categorical=[name for given in categorical or () for name in given.split(",")],
    )
    binarizer.settings()
    cleaner = None
    if clean_tags or synonyms is not None:
        known = None if synonyms is None else files.read_synonyms(synonyms)
        cleaner = data_.TagCleaner(synonyms=known)
    return DataInput(_make_input(**reading).options, binarizer, cleaner)


def _parse_edges(given: str) -> tuple[str, list[float]]:
    column, _, numbers = given.rpartition("=")
    try:
        return column, [float(number) for number in numbers.split(",")]
    except ValueError:
        raise InputError(f"--edges must be like age=30,45,60; got {given!r}") from None


READING_OPTIONS = (_make_input,)
"""The options for reading data, for `takes`, which passes a `DataInput` to the command."""
PREPARING_OPTIONS = (_make_input, _make_preparing_input)
"""The same and the options that make raw columns Boolean."""


@dataclass(frozen=True)
class StreamInput:
    """Files that are read as one stream."""

    source: DataInput
    files: Sequence[Path]
    memory: str | None = None
    scheduler: str | None = None
    engine: str | None = None

    @property
    def cluster(self) -> Engine | None:
        """The cluster engine that counts the rows, if any."""
        is_local = self.scheduler is None and self.engine is None
        return None if is_local else counting.ENGINES[self.engine or "dask"]

    def read(self, data: Path) -> Stream:
        """Return all files as a stream; ``data`` is the first one."""
        words = name_of(data) if len(self.files) == 1 else f"{len(self.files)} files"
        with time_step(f"looked through {words}"), show_rows_read(f"Reading {words}") as progress:
            found = files.stream(
                *map(file_of, self.files),
                **asdict(self.source.options),
                memory=self.memory,
                binarizer=self.source.binarizer,
                cleaner=self.source.cleaner,
                progress=progress,
            )
        # this progress bar has ended; the next one shows iterations
        found = replace(found, progress=None)
        return found if self.cluster is None else replace(found, engine=self.cluster.name)

    @contextmanager
    def naming_cells_of(self, data: Path, if_empty: str = "") -> Iterator[None]:
        """Connect to the cluster, if any; errors of a stream already name their cells."""
        from conjunct.memory import parse_bytes

        if self.cluster is None:
            yield
            return
        memory = None if self.memory is None else parse_bytes(self.memory)
        address = None if self.scheduler == "local" else self.scheduler
        with self.cluster.connect(address, memory):
            yield


def read_model(file: Path) -> FeatureConstructor:
    """Read a model."""
    with time_step(f"read {file}"):
        return estimators.load(file)


def read_chunk_model(file: Path) -> InvertibleConstructor:
    """Read a model that has chunks."""
    model = read_model(file)
    if not isinstance(model, estimators.InvertibleConstructor):
        raise InputError(
            f"{file}: a {type(model).__name__} model has no chunks: use a model written by "
            "conjunct fit or path"
        )
    return model


def read_ufc(file: Path, otherwise: str) -> UFC:
    """Read a UFC; ``otherwise`` completes the error message about other models."""
    model = read_model(file)
    if not isinstance(model, estimators.UFC):
        kind = type(model).__name__
        raise InputError(f"{file}: a {kind} model {otherwise}: use a model written by conjunct fit")
    return model


def check_id_name(ids: Ids | None, *columns: str) -> None:
    """Reject a column of ids with the name of an output column."""
    if ids is not None and ids.name in columns:
        raise InputError(f"the output has its own column {ids.name!r}: rename the --id column")


def set_column_options(model: FeatureConstructor, **given: Any) -> None:
    """Set parameters of a model's output columns, except those that are None."""
    for name, value in given.items():
        if value is None:
            continue
        if not isinstance(model, estimators.InvertibleConstructor):
            option, kind = f"--{name.replace('_', '-')}", type(model).__name__
            raise InputError(f"{option} does not apply to a {kind} model")
        setattr(model, name, value)
