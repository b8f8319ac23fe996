"""What ``--help`` prints: options in groups, as plain text."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

from conjunct.cli.starting import load_scikit_learn

RULE, SEARCH, DATA, COUNTING, OUTPUT = "Rule", "Search", "Data", "Counting", "Output"
_SECTIONS = ("Arguments", "Options", RULE, SEARCH, DATA, COUNTING, OUTPUT)


class GroupedCommand(TyperCommand):
    """A command that lists its options by their ``rich_help_panel``.

    Plain text: rich would add 0.1 s to --help and a column of types to every option.
    """

    def invoke(self, ctx: Any) -> Any:
        # not for --help, which needs none of it
        load_scikit_learn()
        return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        lines: dict[str, list[tuple[str, str]]] = {title: [] for title in _SECTIONS}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                lines[_section(parameter)].append(record)
        for title, records in lines.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def _section(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return "Arguments"
    if parameter.name == "help":
        return OUTPUT
    return parameter.rich_help_panel or "Options"
