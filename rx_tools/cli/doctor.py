"""`rx doctor`: what this machine can do, and what is missing; never the value of a credential."""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from rx_tools import __version__
from rx_tools.cli.console import emit
from rx_tools.cli.options import Debug, Format, FormatOption, Quiet
from rx_tools.errors import ExitCode, worst
from rx_tools.evidence.secrets import redact
from rx_tools.runner.wire.health import Check, State, examine

SCHEMA = "urn:rx:schema:doctor:1"
SIGNS = {State.OK: "✓", State.ABSENT: "·", State.FAILED: "✗"}


def command(
    format: FormatOption = Format.TEXT, quiet: Quiet = False, debug: Debug = False
) -> ExitCode:
    """Show versions, usable extras, the disk, set credentials, and whether the service answers.

    A value is never shown. Exit 0 when nothing needs mending; 74 for the disk, 5 for a service that
    does not answer within 3 seconds, 2 for credentials that cannot be meant.

    Example: rx doctor
    """
    checks = tuple(examine(Path(), os.environ))
    failed = [check.exit_code for check in checks if check.state is State.FAILED]
    if format is Format.JSON:
        emit(redact(as_json(checks)))
    elif not quiet:
        emit(redact("\n".join(lines(checks))))
    return worst(failed) if failed else ExitCode.OK


def lines(checks: Sequence[Check]) -> Iterator[str]:
    """One line per check, under its group."""
    group = ""
    for check in checks:
        if check.group != group:
            yield ("\n" if group else "") + check.group
            group = check.group
        yield f"  {SIGNS[check.state]} {check.name:<26}{check.detail}"


def as_json(checks: Sequence[Check]) -> str:
    """The same facts as one document."""
    body = {
        "schema": SCHEMA,
        "rx_version": __version__,
        "checks": [
            {
                "group": check.group,
                "name": check.name,
                "state": check.state.value,
                "detail": check.detail,
            }
            for check in checks
        ],
    }
    return json.dumps(body, indent=1)
