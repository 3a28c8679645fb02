"""The table of commands. Only the one that was asked for is imported."""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

import typer

from rx_tools import __version__
from rx_tools.cli.guard import guarded

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


def module_of(command: str) -> str:
    """The module that holds a command's function, which is named `command`."""
    return f"rx_tools.cli.{command.replace('-', '_')}"


def present() -> list[str]:
    """The commands of this build."""
    return [name for name in COMMANDS if find_spec(module_of(name))]


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


def build(arguments: Sequence[str]) -> typer.Typer:
    """The application; with a command named in `arguments`, only that command is loaded."""
    app = typer.Typer(
        name="rx",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        pretty_exceptions_show_locals=False,
        rich_markup_mode=None,
    )
    app.callback()(root)
    named = next((word for word in arguments if not word.startswith("-")), "")
    for name in [named] if named in COMMANDS else present():
        app.command(name, help=None)(guarded(import_module(module_of(name)).command))
    return app
