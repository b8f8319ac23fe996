"""Options that several commands share: given to a command by decorating it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

Command = Callable[..., None]


def extended(command: Command, keyword: str, *makers: Callable[..., Any]) -> Command:
    """The command with the options of some functions after its own.

    The last function is called with what was given for all of them, and the command with what
    that returns, as ``keyword``.
    """
    parameters: dict[str, inspect.Parameter] = {}
    for make in makers:
        # a parameter that an earlier function declares is passed on, and declared once
        parameters |= {n: p for n, p in _parameters(make).items() if n not in parameters}
    own = [p for p in _parameters(command).values() if p.name != keyword]

    def extended_(**given: Any) -> None:
        told = {name: given.pop(name) for name in parameters}
        command(**given, **{keyword: makers[-1](**told)})

    extended_.__name__ = command.__name__
    extended_.__doc__ = command.__doc__
    extended_.__annotations__ = {}
    extended_.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [p.replace(kind=p.KEYWORD_ONLY) for p in (*own, *parameters.values())]
    )
    return extended_


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    found = inspect.signature(function, eval_str=True).parameters
    return {name: p for name, p in found.items() if p.kind is not p.VAR_KEYWORD}
