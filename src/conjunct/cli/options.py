"""Arguments and options that several commands share, and how a command gets them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

import typer

from conjunct import files, ufc
from conjunct.errors import InputError

# The sections of --help.
RULE, SEARCH, DATA, COUNTING, OUTPUT = "Rule", "Search", "Data", "Counting", "Output"
THRESHOLDS = "Thresholds (--over thresholds)"

Command = Callable[..., None]


def option(help: str, *flags: str, default: Any = None, **settings: Any) -> Any:
    """Return an option, as the default of its parameter; a default of None is not shown."""
    return typer.Option(default, *flags, help=help, **settings)


def argument(metavar: str, help: str, default: Any = ..., **settings: Any) -> Any:
    """Return a positional argument, as the default of its parameter."""
    return typer.Argument(default, metavar=metavar, help=help, show_default=False, **settings)


rule_option = partial(option, rich_help_panel=RULE)
search_option = partial(option, rich_help_panel=SEARCH)
data_option = partial(option, rich_help_panel=DATA)
counting_option = partial(option, rich_help_panel=COUNTING)
threshold_option = partial(option, rich_help_panel=THRESHOLDS)
output_option = partial(option, rich_help_panel=OUTPUT)


def takes(**groups: Sequence[Callable[..., Any]]) -> Callable[[Command], Command]:
    """Give a command the options of some functions after its own.

    For each keyword, the last function is called with the values of the options of all of them,
    and the command gets what that returns.
    """
    options: dict[str, dict[str, inspect.Parameter]] = {}
    for keyword, makers in groups.items():
        found: dict[str, inspect.Parameter] = {}
        for make in makers:
            # a parameter that an earlier function declares is passed on, and declared once
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


@cache  # to evaluate annotations takes long, and most commands share them
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

# Options that several commands share. The default of an option without one is None.
DATA_FILE = argument("DATA", f"{READ}. - is standard input.")
MODEL_FILE = argument("MODEL", "Model file written by fit.")
MODEL_OUT = output_option(
    "Model file to write (JSON). Without it, nothing is saved.", "--out", "-o"
)
TABLE_OUT = output_option(f"{WRITTEN}. Without it, CSV is printed.", "--out", "-o")
RESULT_OUT = output_option(f"{WRITTEN}.", "--out", "-o")
JOBS = counting_option("Threads for counting; -1 uses all processors.")
REPORT_FILE = output_option("HTML report to write.", "--report")
ASCII = output_option("Write sky & ~building, not sky ∧ ¬building.", "--ascii", default=False)
WITH_FORMULAS = output_option(
    "Show exact formulas, including the tags they deny.", "--formulas", default=False
)
KEEP_COLUMNS = output_option(
    "transform and export keep the columns and add the features of two tags or more.",
    "--keep-columns",
    default=False,
)
Missing = Literal["raise", "false", "pairwise"]
MISSING = data_option(
    "Reject missing cells, treat them as false, or keep them missing.", default="pairwise"
)
VARIABLES = data_option(
    'JSON file of columns that exclude each other, such as {"colour": ["red", "blue"]}, '
    "or none (default: the values of each raw column, and one-hot columns).",
    "--variables",
    metavar="FILE|none",
)


def read_variables_option(given: Path | None) -> Any:
    """Return the value of ``--variables``, as UFC takes it."""
    if given is None:
        return None
    return False if str(given) == "none" else files.read_variables(given)


# Spelled out because the help must not load NumPy; a test compares them with the library.
CRITERIA = {
    "bits": "join what makes the description of the data shortest",
    "evidence": "join what the rows show to go together",
    "risk": "the paper's uFCα: join what is significantly correlated",
    "threshold": "a number: the paper's λ, which the correlation must exceed",
}
STOPS = {
    "gain": "when the next merge is not worth what it costs",
    "never": "only when no pair is left that may be joined",
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


# without the threshold, which is given as a number
NAMED_CRITERIA = {name: text for name, text in CRITERIA.items() if name != "threshold"}


def _list_choices(choices: Mapping[str, str]) -> str:
    return " ".join(f"{name}: {text}." for name, text in choices.items())


def _complete_criterion(incomplete: str) -> list[tuple[str, str]]:
    """Return the names that a criterion may be completed to."""
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
        "risk, NUMBER: skip pairs that are too rare for the paper's test, with an expected "
        "frequency below 5 (default: --prune for risk).",
        "--prune/--no-prune",
    ),
    measure: Measure | None = rule_option(
        "risk, NUMBER: measure of association; the strongest pairs come first (default: phi, the "
        "correlation)."
    ),
    search: Search | None = search_option(
        "Join many pairs per iteration, or only the best one (default: pairwise for evidence and "
        "bits, batch for the paper's rules)."
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
    """Return the criterion as UFC takes it: a name, a number, or an object with settings."""
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
"""The options of a rule, for `takes`; the command gets the parameters of UFC."""
