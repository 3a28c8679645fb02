"""`rx doctor`: what is installed and which variables are set, never their values."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version

from rx_tools import __version__
from rx_tools.cli.console import emit
from rx_tools.cli.options import Debug, Quiet
from rx_tools.errors import ExitCode

PACKAGES = (
    "numpy",
    "scipy",
    "jsonschema",
    "msgspec",
    "tinker",
    "tinker-cookbook",
    "datasets",
    "torch",
)
VARIABLES = (
    "TINKER_BASE_URL",
    "TINKER_API_KEY",
    "MODAL_PROXY_TOKEN_ID",
    "MODAL_PROXY_TOKEN_SECRET",
    "RUNS_PROXY_TOKEN_ID",
    "RUNS_PROXY_TOKEN_SECRET",
)


def installed(package: str) -> str:
    """The version of a package, or that it is missing."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def command(quiet: Quiet = False, debug: Debug = False) -> ExitCode:
    """Show versions and which credentials are set. A value is never shown.

    Example: rx doctor
    """
    rows = [("rx", __version__), ("python", platform.python_version())]
    rows += [(package, installed(package)) for package in PACKAGES]
    rows += [(name, "set" if os.environ.get(name) else "not set") for name in VARIABLES]
    if not quiet:
        emit("\n".join(f"{name:<26}{value}" for name, value in rows))
    return ExitCode.OK
