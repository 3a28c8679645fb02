"""The table of commands. Only the one that was asked for is imported."""

import os
from collections.abc import Callable, Sequence
from importlib import import_module

import typer

from rx_tools import __version__
from rx_tools.cli.guard import guarded
from rx_tools.errors import UsageError

COMMANDS = {
    "run": "plan, preflight, selection, confirmation, scoring, decision, bundle, verification",
    "plan": "freeze what the spec leaves to prose",
    "preflight": "measure every applicable gate before anything trains",
    "train": "train one arm, only with clearance",
    "decide": "recompute the decision from rows",
    "validate": "judge specs, records and plans as the server will",
    "applicability": "which gates apply, and why",
    "correctness": "the correctness gate on documents",
    "restoration": "the restoration gate on documents",
    "activation": "the activation gate on documents",
    "feasibility": "the feasibility gate on documents",
    "evaluator": "the evaluator gate on documents",
    "loss-eval": "the held-out loss record, and the standalone module",
    "audit": "the generation audit on documents",
    "parity": "parity errors of two tensor files",
    "status": "where a run stands",
    "record": "the run record as it stands, ready to hand in",
    "report": "one self-contained HTML page of a run",
    "diff": "what differs between two runs",
    "bundle": "pack the evidence of a run",
    "verify": "a stranger's verification of a bundle, offline",
    "sign": "attest a bundle's root digest",
    "serve": "the embedded Tinker-compatible service",
    "explain": "the manual page of a code",
    "schema": "print a JSON Schema",
    "doctor": "the environment, never a secret",
    "init": "write a new spec to start from",
}


EXTRAS = {"tinker": "local", "tokenizers": "local", "tinker_cookbook": "run", "datasets": "run"}
"""A package that a command may need → the extra of `rx-tools` that brings it."""


def module_of(command: str) -> str:
    """The module that holds a command's function, which is named `command`."""
    return f"rx_tools.cli.{command.replace('-', '_')}"


def function_of(command: str) -> Callable[..., None]:
    """The command's guarded function. Raises `UsageError` where an extra is missing."""
    try:
        return guarded(import_module(module_of(command)).command)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise UsageError(
            f"rx {command} needs {package}, which is not installed",
            hint=f"pip install 'rx-tools[{EXTRAS[package]}]'",
        ) from error


def listed() -> None:
    """Stands in `rx --help` for a command that was not asked for."""


def show_version(asked: bool) -> None:
    """Print the version and leave."""
    if asked:
        typer.echo(f"rx {__version__}")
        raise typer.Exit


def root(
    version: bool = typer.Option(
        False, "--version", callback=show_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Run pre-registered experiments and hand in evidence that every gate accepts."""


def words(arguments: Sequence[str]) -> list[str]:
    """The words of the command line, or of the one that the shell wants to complete."""
    completing = os.environ.get("_TYPER_COMPLETE_ARGS", "").split()
    return [word for word in (*arguments, *completing[1:]) if not word.startswith("-")]


def build(arguments: Sequence[str]) -> typer.Typer:
    """The application. Only the command that is named in `arguments` is imported."""
    app = typer.Typer(
        name="rx",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        pretty_exceptions_show_locals=False,
        rich_markup_mode=None,
    )
    app.callback()(root)
    named = next(iter(words(arguments)), "")
    if named in COMMANDS:
        app.command(named)(function_of(named))
        return app
    for name, summary in COMMANDS.items():
        app.command(name, help=summary)(listed)
    return app
