"""Options about which pairs are joined and until when, for the commands that fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from conjunct.cli.extending import Command, extended
from conjunct.cli.help import RULE, SEARCH
from conjunct.cli.options import (
    CRITERIA,
    STOPS,
    Correction,
    Measure,
    Search,
    Stop,
    Test,
    VariablesFile,
    read_variables_option,
)


def chooses_rule(command: Command) -> Command:
    """Give a command these options; it gets the parameters of UFC they stand for, as ``rule``."""
    return extended(command, "rule", _chosen)


# a number stands for the threshold
NAMED = {name: told for name, told in CRITERIA.items() if name != "threshold"}


def _completed(incomplete: str) -> list[tuple[str, str]]:
    """What a criterion may be completed to; a number may not."""
    return [(name, told) for name, told in NAMED.items() if name.startswith(incomplete)]


def _chosen(
    criterion: Annotated[
        str,
        typer.Option(
            metavar="|".join([*NAMED, "NUMBER"]),
            help=" ".join(f"{name}: {told}." for name, told in NAMED.items())
            + f" A{CRITERIA['threshold'][1:]}.",
            autocompletion=_completed,
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
            + " ".join(f"{name}: {told}." for name, told in STOPS.items())
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
        settings["alpha"] = level(alpha)
    if correction is not None:
        settings["correction"] = None if correction == "none" else correction
    return {
        "criterion": _criterion(criterion, settings),
        "search": search,
        "stop": stop,
        "max_iter": max_iter,
        "max_length": max_length,
        "max_features": max_features,
        "min_support": min_support,
        "variables": read_variables_option(variables),
    }


def _criterion(given: str, settings: Mapping[str, Any]) -> Any:
    """The criterion as UFC takes it: by name or number, or with settings of its own."""
    from conjunct.errors import InputError
    from conjunct.ufc import CRITERIA as KNOWN

    number = _number(given)
    if number is None and given not in NAMED:
        raise InputError(f"--criterion must be {', '.join(NAMED)} or a number; got {given!r}")
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


def level(given: str) -> float | None:
    """What ``--alpha`` says."""
    from conjunct.errors import InputError

    if given == "none":
        return None
    number = _number(given)
    if number is None:
        raise InputError(f"--alpha must be a number or none; got {given!r}")
    return number


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
