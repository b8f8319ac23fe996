"""Define the application: quick start, help, and exit codes."""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import typer
from typer.core import TyperCommand

import conjunct
from conjunct.cli import commands, terminal
from conjunct.cli.options import COUNTING, DATA, OUTPUT, RULE, SEARCH, THRESHOLDS, option
from conjunct.errors import ConjunctError, InputError, one_line

# `import sklearn.base` takes half of its time to load these modules for functions that no command
# calls. The values are functions that it imports from them by name.
UNUSED: dict[str, tuple[str, ...]] = {
    "asyncio": (),
    "numpy.ctypeslib": (),
    "numpy.f2py": (),
    "numpy.fft": (),
    "numpy.ma": (),
    "numpy.polynomial": (),
    "numpy.testing": (),
    "pandas": (),
    "pydoc": (),
    "scipy.linalg": (),
    "scipy.stats": (),
    "scipy.sparse.csgraph": ("laplacian",),
    "scipy.sparse.linalg": ("LinearOperator", "cg"),
}
# The file that holds each package's version, and the oldest and newest versions tested. Other
# versions may call these functions on import, so they are loaded completely.
PUT_OFF = {
    "numpy/version.py": ((2, 4), (2, 5)),
    "scipy/version.py": ((1, 17), (1, 18)),
    "sklearn/__init__.py": ((1, 9), (1, 9)),
}


class LazyModule(ModuleType):
    """A stand-in for a module that loads it when an attribute is first used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)

    def defer(self, function: str) -> None:
        """Add a stand-in for a function, which loads the module when it is called."""
        setattr(self, function, lambda *args, **named: self.__getattr__(function)(*args, **named))


def can_put_off() -> bool:
    """Return True if the versions of NumPy, SciPy and scikit-learn were tested."""
    for place, (oldest, newest) in PUT_OFF.items():
        package, file = place.split("/")
        path = Path(str(getattr(find_spec(package), "origin", None))).with_name(file)
        text = path.read_text("utf-8") if path.exists() else ""
        found = re.search(r'^(?:__)?version(?:__)? = "(\d+)\.(\d+)', text, re.MULTILINE)
        if found is None or not oldest <= (int(found[1]), int(found[2])) <= newest:
            return False
    return True


def load_scikit_learn() -> None:
    """Load scikit-learn's base with stand-ins for UNUSED modules, which are removed afterwards."""
    if "sklearn" in sys.modules or not can_put_off():
        return
    import numpy  # its modules are also attributes of it

    stand_ins = {
        name: LazyModule(name)
        for name in UNUSED
        if name not in sys.modules and find_spec(name.partition(".")[0]) is not None
    }
    # compiled code of SciPy 1.18 imports functions from compiled submodules
    if "scipy.linalg" in stand_ins:
        scipy: Any = find_spec("scipy")
        stand_ins["scipy.linalg"].__path__ = [str(Path(scipy.origin).with_name("linalg"))]
    of_numpy = [name for name in stand_ins if name.startswith("numpy.")]
    for name, module in stand_ins.items():
        sys.modules[name] = module
        for function in UNUSED[name]:
            module.defer(function)
    for name in of_numpy:
        setattr(numpy, name.removeprefix("numpy."), stand_ins[name])
    try:
        with _skip_docstrings():
            importlib.import_module("sklearn.utils.validation")
    finally:
        for name, module in stand_ins.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]
        for name in of_numpy:
            if isinstance(vars(numpy).get(name.removeprefix("numpy.")), LazyModule):
                delattr(numpy, name.removeprefix("numpy."))


@contextmanager
def _skip_docstrings() -> Iterator[None]:
    """Keep SciPy from parsing the docstrings of its functions on import.

    SciPy 1.16 and later do this to add a note, which takes a tenth of a small command's time.
    """
    try:
        module: Any = importlib.import_module("scipy._lib._array_api")
        parser = module.FunctionDoc
    except (ImportError, AttributeError):
        yield
        return
    module.FunctionDoc = partial(parser, doc="")
    try:
        yield
    finally:
        module.FunctionDoc = parser


_SECTIONS = ("Arguments", "Options", RULE, SEARCH, THRESHOLDS, DATA, COUNTING, OUTPUT)


class GroupedCommand(TyperCommand):
    """A command that lists its options by section as plain text: rich would add 0.1 s to --help."""

    def invoke(self, ctx: Any) -> Any:
        # here, and not at the start: --help does not need scikit-learn
        with nullcontext() if ctx.params.get("quiet") else terminal.WATCH.watch(self._words(ctx)):
            load_scikit_learn()
            return super().invoke(ctx)

    def _words(self, ctx: Any) -> str:
        """Return the command and its first files."""
        names: list[str] = []
        for parameter in self.params:
            value = ctx.params.get(parameter.name)
            if parameter.param_type_name == "argument" and value is not None:
                each = value if isinstance(value, list | tuple) else [value]
                names += [one_line(terminal.name_of(Path(str(name)))) for name in each]
        more = [f"and {len(names) - 3} more"] if len(names) > 3 else []
        return " ".join([str(ctx.info_name), *names[:3], *more])

    def format_options(self, ctx: Any, formatter: Any) -> None:
        lines: dict[str, list[tuple[str, str]]] = {title: [] for title in _SECTIONS}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            if parameter.param_type_name == "argument":
                section = "Arguments"
            elif parameter.name == "help":
                section = OUTPUT
            else:
                section = getattr(parameter, "rich_help_panel", None) or "Options"
            lines[section].append(record)
        for title, records in lines.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


# Each command and its file in commands/, in the order of --help. Any other file in that folder is
# a command with the same name as the file, and comes last.
COMMANDS = {
    "demo": "fit",
    "fit": "fit",
    "chunks": "rows",
    "transform": "rows",
    "path": "fit",
    "fringe": "fit",
    "stability": "study",
    "show": "show",
    "compare": "compare",
    "describe": "compare",
    "groups": "compare",
    "report": "show",
    "export": "show",
    "update": "rows",
    "suggest": "rows",
    "relations": "data",
    "look": "data",
    "tags": "data",
    "reproduce": "study",
    "datasets": "data",
}


@cache
def application(only: str | None = None) -> typer.Typer:
    """Return all commands in the order of --help, or only one, which starts faster."""
    found = {module.name for module in pkgutil.iter_modules(commands.__path__)}
    known = COMMANDS | {name: name for name in sorted(found.difference(COMMANDS.values()))}
    app = typer.Typer(rich_markup_mode=None)
    for name in (only,) if only in known else known:
        module = importlib.import_module(f"{commands.__name__}.{known[name]}")
        app.command(cls=GroupedCommand)(getattr(module, name))
    app.callback(invoke_without_command=True)(conjunct_)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"conjunct {conjunct.__version__}\n")
        raise typer.Exit


def conjunct_(
    context: typer.Context,
    version: bool = option(
        "Print the version.", "--version", default=False, callback=_print_version, is_eager=True
    ),
) -> None:
    """Group tags that occur together into chunks, without labels.

    A photograph tagged book, chair, dining table, person and tv becomes
    "book + tv · chair + dining table · person". Nothing is lost: each chunk is an exact Boolean
    feature of the row.

    \b
    Examples:
      $ conjunct demo
      $ conjunct datasets zoo --out zoo.csv
      $ conjunct fit zoo.csv --out model.json
      $ conjunct chunks model.json zoo.csv --out chunks.csv
      $ conjunct transform model.json zoo.csv --out features.csv
    """
    if context.invoked_subcommand is None:
        sys.stdout.write(context.get_help() + "\n")


def run(args: Sequence[str] | None = None) -> int:
    """Run one command, print any error as one line to standard error, and return the exit code."""
    terminal.tolerate_any_encoding()
    terminal.set_volume(0)
    words = sys.argv[1:] if args is None else list(args)
    try:
        with terminal.notes_on_stderr():
            app = application(words[0] if words else None)
            code = app(words, prog_name="conjunct", standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "conjunct"
        text = error.format_message() if hasattr(error, "format_message") else str(error)
        end = "" if text.endswith((".", "?")) else "."
        look = "conjunct look FILE, which writes nothing, and " * ("--dry-run" in text)
        terminal.print_error(f"{text}{end} See {look}{path} --help")
        return 2
    except ConjunctError as error:
        terminal.print_error(str(error))
        return 2 if isinstance(error, InputError) else 1
    except BrokenPipeError:
        # the reader closed the pipe: nothing can be written any more, not even at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    except MemoryError:
        terminal.print_error("not enough memory")
        return 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        terminal.print_error(f"{where}{error.strerror or error}")
        return 1
    finally:
        terminal.remove_copy()
    return code if isinstance(code, int) else 0
