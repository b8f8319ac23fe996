"""Arguments and options that several commands share, and how a command gets them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from conjunct.registry import described, summaries

# The sections of --help.
RULE, SEARCH, DATA, COUNTING, OUTPUT = "Rule", "Search", "Data", "Counting", "Output"

Command = Callable[..., None]


def add_options(command: Command, keyword: str, *makers: Callable[..., Any]) -> Command:
    """Return the command with the options of some functions after those it has.

    The last function is called with the values of all of them, and the command gets what that
    returns, as ``keyword``.
    """
    parameters: dict[str, inspect.Parameter] = {}
    for make in makers:
        # a parameter that an earlier function declares is passed on, and declared once
        parameters |= {n: p for n, p in _parameters(make).items() if n not in parameters}
    own = [p for p in _parameters(command).values() if p.name != keyword]

    def run(**given: Any) -> None:
        values = {name: given.pop(name) for name in parameters}
        command(**given, **{keyword: makers[-1](**values)})

    run.__name__ = command.__name__
    run.__doc__ = command.__doc__
    run.__annotations__ = {}
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [p.replace(kind=p.KEYWORD_ONLY) for p in (*own, *parameters.values())]
    )
    return run


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    found = inspect.signature(function, eval_str=True).parameters
    return {name: p for name, p in found.items() if p.kind is not p.VAR_KEYWORD}


# Spelled out, since the help must not wait for polars; a test compares them with the registry.
READ = (
    "Table (.csv, .tsv, .xlsx, .ods, .parquet, .arrow, .json, .jsonl, .arff), transactions "
    "(.dat, .basket) or .svmlight; text may be compressed (.gz, .zst)"
)
WRITTEN = "Table to write: .csv, .tsv, .jsonl (also .gz, .zst), .parquet or .arrow"
SPARSE = ".npz or .svmlight"

_DATA = typer.Argument(
    metavar="DATA",
    help=f"{READ}. - is standard input.",
    show_default=False,
)
DataFile = Annotated[Path, _DATA]
DataFiles = Annotated[list[Path], _DATA]
ModelFile = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="Model file that fit has written.", show_default=False),
]
ModelOut = Annotated[
    Path | None,
    typer.Option(
        help="Model file to write (JSON). Without it, nothing is saved.",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
TableOut = Annotated[
    Path | None,
    typer.Option(
        help=f"{WRITTEN}. Without it, CSV is printed.",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(help="Threads for counting; -1 for all processors.", rich_help_panel=COUNTING),
]
ReportFile = Annotated[
    Path | None,
    typer.Option(
        "--report",
        help="Page to write (HTML) that shows and explains it.",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
Ascii = Annotated[
    bool,
    typer.Option(
        "--ascii", help="Write sky & ~building, not sky ∧ ¬building.", rich_help_panel=OUTPUT
    ),
]
WithFormulas = Annotated[
    bool,
    typer.Option(
        "--formulas",
        help="Show the exact formulas, with what features deny.",
        rich_help_panel=OUTPUT,
    ),
]

KeepColumns = Annotated[
    bool,
    typer.Option(
        "--keep-columns",
        help="transform and export give the columns, then the features of two tags or more.",
        rich_help_panel=OUTPUT,
    ),
]

Missing = Annotated[
    Literal["raise", "false", "pairwise"],
    typer.Option(
        help="Refuse missing cells, take them as false, or keep them missing.",
        rich_help_panel=DATA,
    ),
]
MissingOrFalse = Annotated[
    Literal["raise", "false"],
    typer.Option(help="Refuse missing cells, or take them as false.", rich_help_panel=DATA),
]

VariablesFile = Annotated[
    Path | None,
    typer.Option(
        "--variables",
        metavar="FILE|none",
        help='Which columns exclude each other: a JSON file such as {"colour": ["red", "blue"]}, '
        "or none. By default the values of each raw column do, and what is recognised.",
        show_default=False,
        rich_help_panel=DATA,
    ),
]


def read_variables_option(given: Path | None) -> Any:
    """Return the value of ``--variables``, as UFC takes it."""
    from conjunct.files import read_variables

    if given is None:
        return None
    return False if str(given) == "none" else read_variables(given)


CRITERIA = summaries("conjunct.ufc.criteria")
STOPS = summaries("conjunct.ufc.stops")
DIALECTS = summaries("conjunct.export.dialects")
if TYPE_CHECKING:
    Measure: TypeAlias = str
    Test: TypeAlias = str
    Correction: TypeAlias = str
    Stop: TypeAlias = str
    Format: TypeAlias = str
    Dialect: TypeAlias = str
else:
    Measure = Literal[tuple(summaries("conjunct.ufc.association.measures"))]
    Test = Literal[tuple(summaries("conjunct.ufc.association.significance"))]
    Correction = Literal["none", *summaries("conjunct.ufc.association.corrections")]
    Stop = Literal[tuple(STOPS)]
    Format = Literal[
        tuple(
            name
            for name, text in described("conjunct.files.formats").items()
            if text.get("is_read", True)
        )
    ]
    Dialect = Literal[tuple(DIALECTS)]

# Spelled out, since the help must not wait for NumPy; a test compares them with the library's.
Search = Literal["batch", "pairwise"]
Form = Literal["built", "nested", "dnf", "simplified"]
Names = Literal["pattern", "formula"]
Unseen = Literal["warn", "keep"]


def with_rule_options(command: Command) -> Command:
    """Give a command the options of a rule; it gets the parameters for UFC as ``rule``."""
    return add_options(command, "rule", _rule_parameters)


# without the threshold, which is given as a number
NAMED_CRITERIA = {name: text for name, text in CRITERIA.items() if name != "threshold"}


def _complete_criterion(incomplete: str) -> list[tuple[str, str]]:
    """Return the names that a criterion may be completed to."""
    return [(name, text) for name, text in NAMED_CRITERIA.items() if name.startswith(incomplete)]


def _rule_parameters(
    criterion: Annotated[
        str,
        typer.Option(
            metavar="|".join([*NAMED_CRITERIA, "NUMBER"]),
            help=" ".join(f"{name}: {text}." for name, text in NAMED_CRITERIA.items())
            + f" A{CRITERIA['threshold'][1:]}.",
            autocompletion=_complete_criterion,
            rich_help_panel=RULE,
        ),
    ] = "evidence",
    factor: Annotated[
        float | None,
        typer.Option(
            help="evidence: how much evidence a chunk must bring, as a multiple of what it costs. "
            "1 if not given.",
            rich_help_panel=RULE,
        ),
    ] = None,
    alpha: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|none",
            help="bits: share of pairs by chance alone among those that may be joined, 0.05 if "
            "not given; none leaves the test out. risk: risk of joining an independent pair, "
            "0.001 if not given.",
            rich_help_panel=RULE,
        ),
    ] = None,
    test: Annotated[
        Test | None,
        typer.Option(
            help="bits, risk: Fisher's exact test, which is right for rare columns too, or the "
            "paper's normal one. exact for bits, normal for risk if not given.",
            rich_help_panel=RULE,
        ),
    ] = None,
    correction: Annotated[
        Correction | None,
        typer.Option(
            help="bits, risk: correct for the number of pairs tested. bh for bits, none for "
            "risk if not given.",
            rich_help_panel=RULE,
        ),
    ] = None,
    prune: Annotated[
        bool | None,
        typer.Option(
            "--prune/--no-prune",
            help="risk, NUMBER: leave out pairs that are too rare for the paper's test "
            "(expected frequency below 5). --prune for risk if not given.",
            show_default=False,
            rich_help_panel=RULE,
        ),
    ] = None,
    measure: Annotated[
        Measure | None,
        typer.Option(
            help="risk, NUMBER: what the number is compared with; the strongest pairs come "
            "first. phi, the correlation, if not given.",
            rich_help_panel=RULE,
        ),
    ] = None,
    search: Annotated[
        Search | None,
        typer.Option(
            help="What an iteration joins: many pairs, or the best one. pairwise for "
            "evidence and bits, batch for the paper's rules if not given.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    stop: Annotated[
        Stop | None,
        typer.Option(
            help="When to end. "
            + " ".join(f"{name}: {text}." for name, text in STOPS.items())
            + " gain for evidence and bits, rms for the paper's rules if not given.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    max_iter: Annotated[
        int | None,
        typer.Option(
            help="Most iterations. With the paper's rules exactly this many, unless --stop is "
            "given.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    max_length: Annotated[
        int | None,
        typer.Option(
            help="Make no feature with more tags than this, or more literals with the paper's "
            "rules.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    max_features: Annotated[
        int | None,
        typer.Option(
            help="Keep the best model with at most N features.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    min_support: Annotated[
        float | None,
        typer.Option(
            help="Suppress features that are true in less than this share of rows.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    variables: VariablesFile = None,
) -> dict[str, Any]:
    given: dict[str, Any] = {
        "factor": factor,
        "test": test,
        "prune": prune,
        "measure": measure,
    }
    settings = {name: value for name, value in given.items() if value is not None}
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
    from conjunct.errors import InputError
    from conjunct.ufc import CRITERIA as KNOWN

    number = _parse_number(given)
    if number is None and given not in NAMED_CRITERIA:
        raise InputError(
            f"--criterion must be {', '.join(NAMED_CRITERIA)} or a number; got {given!r}"
        )
    rule = KNOWN["threshold" if number is not None else given]
    known = [name for name in rule().get_params() if name != "threshold"]
    for name in settings:
        if name not in known:
            takes = ", ".join(f"--{setting}" for setting in known)
            raise InputError(f"--{name} does not go with --criterion {given}, which takes {takes}")
    if settings.get("alpha", 0) is None:
        if given != "bits":
            raise InputError("--alpha none leaves the test out, which only --criterion bits can")
        if len(settings) > 1:
            raise InputError("--alpha none leaves the test out, and so --test and --correction")
    if number is not None:
        return rule(threshold=number, **settings) if settings else number
    return rule(**settings) if settings else given


def parse_alpha(given: str) -> float | None:
    """Return the value of ``--alpha``."""
    from conjunct.errors import InputError

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
