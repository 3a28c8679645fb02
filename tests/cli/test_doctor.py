"""`rx doctor`: what it sees, what it answers, and that no value ever shows."""

import json
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from typer.testing import CliRunner

from rx_tools.checks.shape import judge_shape
from rx_tools.cli.app import build
from rx_tools.errors import ExitCode
from rx_tools.evidence.disk_check import disk_problem
from rx_tools.local.launcher import launch
from rx_tools.runner.wire.health import EXTRAS, VARIABLES, State, check_service, check_variable

ROOT = Path(__file__).parents[2]
CREDENTIALS = {name: f"{name.lower()}-Va1ue9Va1ue" for name in VARIABLES[1:]}


@pytest.fixture
def doctor(monkeypatch, tmp_path):
    """Call it in an empty folder with exactly these credentials."""

    def call(*arguments, **variables):
        monkeypatch.chdir(tmp_path)
        for name in VARIABLES:
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        return CliRunner().invoke(build(["doctor"]), ["doctor", *arguments])

    return call


def state_of(result, name):
    document = json.loads(result.stdout)
    assert judge_shape(document, "doctor", "doctor") == ()
    checks = document["checks"]
    return next((one["state"], one["detail"]) for one in checks if one["name"] == name)


def test_without_credentials_nothing_needs_mending(doctor, tmp_path):
    result = doctor("--format", "json")
    assert result.exit_code == 0
    assert state_of(result, "write and sync") == ("ok", "written, synced, linked and locked")
    assert state_of(result, "TINKER_API_KEY") == ("absent", "not set")
    assert state_of(result, "reachable")[0] == "absent"
    assert list(tmp_path.iterdir()) == []


def test_the_embedded_service_is_reached(tmp_path):
    with launch(tmp_path / "store") as running:
        check = check_service(running.environment)
    assert check.state is State.OK
    assert check.detail == "127.0.0.1 serves 1 models"


def test_a_service_that_refuses_or_never_answers_exits_5(doctor):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        refused = doctor(TINKER_BASE_URL=address, TINKER_API_KEY="k")
        silent.listen()
        unanswered = doctor(TINKER_BASE_URL=address, TINKER_API_KEY="k")
    for result in (refused, unanswered):
        assert result.exit_code == ExitCode.SERVICE
        assert "✗ reachable" in result.stdout


def test_half_a_proxy_credential_is_named(doctor):
    result = doctor(
        "--format",
        "json",
        TINKER_BASE_URL="http://127.0.0.1:9",
        TINKER_API_KEY="k",
        MODAL_PROXY_TOKEN_ID="id",
    )
    assert result.exit_code == ExitCode.USAGE
    assert "MODAL_PROXY_TOKEN_SECRET" in state_of(result, "reachable")[1]


@pytest.mark.parametrize("value", ["key\n", " key", "key\r", "k\x00y"])
def test_a_value_with_stray_characters_is_noticed(value):
    check = check_variable("TINKER_API_KEY", {"TINKER_API_KEY": value})
    assert check.state is State.FAILED
    assert "key" not in check.detail


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_value_is_ever_shown(doctor, form):
    address = "http://someone:Pa55wordPa55@127.0.0.1:9/path?token=T0kenT0ken"
    result = doctor("--format", form, TINKER_BASE_URL=address, **CREDENTIALS)
    shown = result.stdout + result.stderr
    for value in (*CREDENTIALS.values(), address, "Pa55wordPa55", "T0kenT0ken", "someone"):
        assert value not in shown


def test_a_folder_that_cannot_hold_a_run(tmp_path):
    assert disk_problem(tmp_path) == ""
    assert disk_problem(tmp_path / "missing") != ""
    assert disk_problem(Path("/proc")) != ""


def test_extras_are_those_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for extra, (packages, _) in EXTRAS.items():
        declared = map(Requirement, project["optional-dependencies"][extra])
        assert {one.name for one in declared} - {"rx-tools"} == set(packages)


def test_it_is_quick_to_start_and_needs_no_sdk():
    code = (
        "import sys, rx_tools.cli.doctor; "
        "print([name for name in ('tinker', 'torch', 'scipy', 'datasets') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == "[]"
