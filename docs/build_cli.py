"""Write docs/cli.md from what the commands declare: docstrings, options and arguments."""

import inspect
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

from typer.models import ArgumentInfo

from rx_tools.cli.app import COMMANDS, module_of
from rx_tools.errors import MEANINGS, WORST_FIRST

HEAD = """# The command line

Written by `docs/build_cli.py` from the commands themselves; do not edit.

`rx COMMAND --help` prints the same. Data goes to stdout, prose to stderr; colour only on a
terminal. `rx …` and `python -m rx_tools …` are the same; `rx --install-completion` sets up the
shell's completion.
"""
WORDS = {Path: "PATH", int: "INTEGER", float: "NUMBER", str: "TEXT"}


@dataclass(frozen=True)
class Declared:
    """One option or argument as its command declares it."""

    names: tuple[str, ...]
    argument: bool
    kind: str
    repeatable: bool
    required: bool
    default: str
    help: str


def commands() -> dict[str, Callable[..., Any]]:
    """Every command with its function, in the order of `rx --help`."""
    return {name: import_module(module_of(name)).command for name in COMMANDS}


def declared(function: Callable[..., Any]) -> list[Declared]:
    """Every option and argument of a command."""
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    return [one_declared(parameter) for parameter in parameters]


def one_declared(parameter: inspect.Parameter) -> Declared:
    """One option or argument; raises where a parameter is not annotated as such."""
    if get_origin(parameter.annotation) is not Annotated:
        raise TypeError(f"{parameter.name} says neither Option nor Argument")
    bare, info = get_args(parameter.annotation)[:2]
    kind, repeatable = kind_of(bare)
    dashed = parameter.name.replace("_", "-")
    argument = isinstance(info, ArgumentInfo)
    own = info.metavar or dashed.upper()
    names = (own,) if argument else spelled(info) or (f"--{dashed}",)
    required = parameter.default is inspect.Parameter.empty
    return Declared(
        names=names,
        argument=argument,
        kind=kind,
        repeatable=repeatable,
        required=required,
        default="" if required else shown(parameter.default),
        help=info.help or "",
    )


def spelled(info: Any) -> tuple[str, ...]:
    """The spellings of an option; the first stands where an unannotated option has its default."""
    return tuple(
        word for word in (info.default, *(info.param_decls or ())) if str(word).startswith("-")
    )


def kind_of(annotation: Any) -> tuple[str, bool]:
    """What to write after an option, nothing for a flag; and whether it may be repeated."""
    if get_origin(annotation) in (Union, types.UnionType):
        (annotation,) = [one for one in get_args(annotation) if one is not type(None)]
    if get_origin(annotation) is list:
        return kind_of(get_args(annotation)[0])[0], True
    if annotation is bool:
        return "", False
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return "|".join(str(member.value) for member in annotation), False
    return WORDS[annotation], False


def shown(default: Any) -> str:
    """A default worth telling."""
    if default is None or default is False:
        return ""
    return str(default.value if isinstance(default, Enum) else default)


def book() -> str:
    """The whole document."""
    return "\n".join([HEAD, *exit_table(), *overview(), *pages()]).rstrip() + "\n"


def exit_table() -> Iterator[str]:
    """Every exit code with its meaning."""
    yield "## Exit codes\n"
    yield "| code | meaning |"
    yield "|---:|---|"
    yield from (f"| {code:d} | {meaning} |" for code, meaning in MEANINGS.items())
    order = ", ".join(str(int(code)) for code in WORST_FIRST)
    yield "\nNo output format, `--quiet` or pipe changes a code; over several files the worst one"
    yield f"decides, in this order: {order}.\n"


def overview() -> Iterator[str]:
    """Every command in one line."""
    yield "## Commands\n"
    yield "| command | does |"
    yield "|---|---|"
    yield from (f"| [`rx {name}`](#rx-{name}) | {does} |" for name, does in COMMANDS.items())
    yield ""


def pages() -> Iterator[str]:
    """Every command in full."""
    for name, function in commands().items():
        yield f"## rx {name}\n"
        yield from page(name, function)


def page(name: str, function: Callable[..., Any]) -> Iterator[str]:
    """Usage, prose, example, arguments and options of one command."""
    parts = declared(function)
    yield f"```\n{usage(name, parts)}\n```\n"
    prose = inspect.getdoc(function) or ""
    text, _, example = prose.partition("Example: ")
    yield f"{text.strip()}\n"
    if example:
        yield f"```\n$ {example.strip()}\n```\n"
    if parts:
        yield "| | |"
        yield "|---|---|"
        yield from map(row, parts)
        yield ""


def usage(name: str, parts: list[Declared]) -> str:
    """The line that says how the command is called."""
    words = [f"rx {name}"]
    for part in parts:
        if part.argument:
            word = f"{part.names[0]}{'…' if part.repeatable else ''}"
            words.append(word if part.required else f"[{word}]")
        elif part.required:
            words.append(f"{part.names[0]} {part.kind}")
    return " ".join([*words, *(["[OPTIONS]"] if any(not p.argument for p in parts) else [])])


def row(part: Declared) -> str:
    """One line of the table."""
    names = ", ".join(f"`{name}`" for name in part.names)
    kind = f" `{part.kind}`".replace("|", "\\|") if part.kind and not part.argument else ""
    notes = [
        *(["required"] if part.required else []),
        *(["repeatable"] if part.repeatable else []),
        *([f"default `{part.default}`"] if part.default else []),
    ]
    after = f" ({', '.join(notes)})" if notes else ""
    return f"| {names}{kind} | {part.help}{after} |".replace("||", "\\|\\|")


if __name__ == "__main__":
    Path(__file__).with_name("cli.md").write_text(book(), "utf-8")
