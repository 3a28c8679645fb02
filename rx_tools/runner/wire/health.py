"""What this machine can do for an experiment: packages, extras, programs, credentials, service."""

import platform
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from rx_tools import __version__
from rx_tools.errors import ExitCode, RxError
from rx_tools.evidence.disk_check import NEEDED, disk_problem, free_bytes
from rx_tools.runner.whole.versions import PACKAGES, installed_version
from rx_tools.runner.wire.credentials import (
    ADDRESS,
    KEY,
    PROXY_HEADERS,
    missing_variables,
    proxy_headers,
)
from rx_tools.runner.wire.limits import Limits

EXTRAS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "local": (("tinker", "tokenizers", "stamina"), "rehearsals, the service, training"),
    "run": (("tinker-cookbook", "datasets"), "data sets of the hub, the cookbook's renderers"),
}
"""Extra → the packages that it adds, and what they are good for."""

PROGRAMS = {"git": "revisions of forks", "ssh-keygen": "signing bundles"}
VARIABLES = (
    ADDRESS,
    KEY,
    *PROXY_HEADERS.values(),
    "RUNS_PROXY_TOKEN_ID",
    "RUNS_PROXY_TOKEN_SECRET",
)
PROBE_SECONDS = 3.0
MIB = 1 << 20


class State(StrEnum):
    """How a check came out; only `FAILED` needs mending."""

    OK = "ok"
    ABSENT = "absent"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `exit_code` is what a failure answers."""

    group: str
    name: str
    state: State
    detail: str
    exit_code: ExitCode = ExitCode.OK


def examine(folder: Path, environment: Mapping[str, str]) -> Iterator[Check]:
    """Every check, in the order in which they are shown."""
    yield Check("packages", "rx", State.OK, __version__)
    yield Check("packages", "python", State.OK, platform.python_version())
    for package in PACKAGES:
        version = installed_version(package)
        state = State.OK if version else State.ABSENT
        yield Check("packages", package, state, version or "not installed")
    yield from (check_extra(name) for name in EXTRAS)
    yield from (check_program(name) for name in PROGRAMS)
    yield from check_disk(folder)
    yield from (check_variable(name, environment) for name in VARIABLES)
    yield check_service(environment)


def check_extra(name: str) -> Check:
    """Whether everything that an extra adds is there."""
    packages, use = EXTRAS[name]
    missing = [package for package in packages if not installed_version(package)]
    if not missing:
        return Check("extras", name, State.OK, use)
    lacks = f"lacks {', '.join(missing)} ({use}): pip install 'rx-tools[{name}]'"
    return Check("extras", name, State.ABSENT, lacks)


def check_program(name: str) -> Check:
    """Whether a program is on the path."""
    found, use = shutil.which(name), PROGRAMS[name]
    return Check("programs", name, State.OK if found else State.ABSENT, found or f"for {use}")


def check_disk(folder: Path) -> Iterator[Check]:
    """Whether runs can live where the user is now."""
    problem = disk_problem(folder)
    if problem:
        yield Check("disk", "write and sync", State.FAILED, problem, ExitCode.DISK)
    else:
        yield Check("disk", "write and sync", State.OK, "written, synced, linked and locked")
    free = free_bytes(folder)
    if free >= NEEDED:
        yield Check("disk", "free", State.OK, f"{free // MIB} MiB")
    else:
        few = f"{free // MIB} MiB, a run may need {NEEDED // MIB}"
        yield Check("disk", "free", State.FAILED, few, ExitCode.DISK)


def check_variable(name: str, environment: Mapping[str, str]) -> Check:
    """Whether a variable is set, and whether its value can be meant; never the value."""
    value = environment.get(name)
    if not value:
        return Check("credentials", name, State.ABSENT, "not set")
    if value != value.strip() or not value.isprintable():
        odd = "set, with blanks or control characters around or in it"
        return Check("credentials", name, State.FAILED, odd, ExitCode.USAGE)
    return Check("credentials", name, State.OK, "set")


def check_service(environment: Mapping[str, str], seconds: float = PROBE_SECONDS) -> Check:
    """Ask the service what it serves, if one is named; the answer shows its host and no more."""
    if not environment.get(ADDRESS):
        return Check("service", "reachable", State.ABSENT, f"{ADDRESS} is not set: --rehearse only")
    missing = missing_variables(environment)
    if missing:
        lacks = f"not asked: {', '.join(missing)} not set"
        return Check("service", "reachable", State.FAILED, lacks, ExitCode.USAGE)
    try:
        return ask_service(environment, seconds)
    except ImportError as error:
        return Check("service", "reachable", State.ABSENT, f"not asked: {error.name} is missing")


def ask_service(environment: Mapping[str, str], seconds: float) -> Check:
    """One request for the capabilities."""
    from rx_tools.runner.wire.service_http import ServiceHttp

    headers = proxy_headers(environment) | {"X-API-Key": environment[KEY]}
    http = ServiceHttp(environment[ADDRESS], headers, Limits(probe=seconds))
    try:
        served = http.capabilities().get("supported_models")
    except RxError as error:
        what = f"{http.host}: {error.what}"
        return Check("service", "reachable", State.FAILED, what, ExitCode.SERVICE)
    finally:
        http.close()
    number = len(served) if isinstance(served, list) else 0
    return Check("service", "reachable", State.OK, f"{http.host} serves {number} models")
