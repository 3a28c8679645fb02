"""`rx doctor`: what is installed and which variables are set, never their values."""

import json
import os
import platform

from rx_tools import __version__
from rx_tools.cli.console import emit
from rx_tools.cli.options import Debug, Format, FormatOption, Quiet
from rx_tools.errors import ExitCode
from rx_tools.runner.versions import PACKAGES, installed_version

VARIABLES = (
    "TINKER_BASE_URL",
    "TINKER_API_KEY",
    "MODAL_PROXY_TOKEN_ID",
    "MODAL_PROXY_TOKEN_SECRET",
    "RUNS_PROXY_TOKEN_ID",
    "RUNS_PROXY_TOKEN_SECRET",
)


def command(
    format: FormatOption = Format.TEXT, quiet: Quiet = False, debug: Debug = False
) -> ExitCode:
    """Show versions and which credentials are set. A value is never shown.

    Example: rx doctor
    """
    facts = {"rx": __version__, "python": platform.python_version()}
    facts |= {package: installed_version(package) or "not installed" for package in PACKAGES}
    facts |= {name: "set" if os.environ.get(name) else "not set" for name in VARIABLES}
    if format is Format.JSON:
        emit(json.dumps({"schema": "urn:rx:schema:doctor:1", "rx_version": __version__} | facts))
    elif not quiet:
        emit("\n".join(f"{name:<26}{value}" for name, value in facts.items()))
    return ExitCode.OK
