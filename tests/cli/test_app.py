"""The command line as a whole: quick to start, and clear where an extra is missing."""

import json
import shlex
import subprocess
import sys

import pytest

from rx_tools.cli.app import COMMANDS
from tests.endtoend.small import EXAMPLE, ROOT, rx

HEAVY = ("numpy", "scipy", "tinker", "torch", "datasets", "tinker_cookbook")
LOADED = (
    "import sys; from rx_tools.cli.app import build\n"
    "sys.argv = ['rx', *sys.argv[1:]]\n"
    "try: build(sys.argv[1:])()\n"
    "except SystemExit: pass\n"
    f"print('LOADED', *[name for name in {HEAVY} if name in sys.modules])"
)


def loaded_by(*arguments):
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments], capture_output=True, text=True, cwd=ROOT
    )
    return done.stdout.splitlines()[-1].split()[1:]


@pytest.mark.parametrize("arguments", [("--help",), ("validate", str(EXAMPLE)), ("--version",)])
def test_a_quick_command_imports_nothing_heavy(arguments):
    assert loaded_by(*arguments) == []


def test_help_lists_every_command(tmp_path):
    listed = rx("--help", cwd=tmp_path, check=0).stdout
    assert all(f"  {name} " in listed for name in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command, tmp_path):
    shown = rx(command, "--help", cwd=tmp_path, check=0).stdout
    assert "Example" in shown
    assert "--debug" in shown


def test_a_missing_extra_is_named(tmp_path):
    hidden = (
        "import sys; sys.modules['tinker'] = None\n"
        "from rx_tools.__main__ import main; sys.argv = ['rx', 'run', 'spec.json']; main()"
    )
    done = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 2
    assert "rx run needs tinker" in done.stderr
    assert "rx-tools[local]" in done.stderr


def test_a_stream_that_is_only_ascii_gets_the_same_json(tmp_path):
    spec = tmp_path / "größe.spec.json"
    spec.write_bytes(EXAMPLE.read_bytes())
    ascii_only = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    plain = rx("validate", spec, "--format", "json", cwd=tmp_path, check=0)
    poor = rx("validate", spec, "--format", "json", cwd=tmp_path, check=0, **ascii_only)
    assert json.loads(poor.stdout) == json.loads(plain.stdout)
    assert "\\u2713 python" in rx("doctor", cwd=tmp_path, check=0, **ascii_only).stdout


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-", ">&- 2>&- <&-", "| true", "2>&1 | true"])
def test_the_exit_code_stands_when_nobody_reads(closed, tmp_path):
    spec = tmp_path / "wrong.spec.json"
    spec.write_text(json.dumps(json.loads(EXAMPLE.read_text()) | {"steps": -1}))
    quoted = shlex.join([sys.executable, "-m", "rx_tools", "validate", str(spec)])
    script = f"{quoted} {closed}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stderr) == (1, "")
    passing = shlex.join([sys.executable, "-m", "rx_tools", "explain", "RX001"])
    done = subprocess.run(["bash", "-c", f"{passing} {closed}; exit ${{PIPESTATUS[0]}}"], cwd=ROOT)
    assert done.returncode == 0


def test_nothing_in_a_document_moves_the_cursor(tmp_path):
    document = json.loads(EXAMPLE.read_text())
    document["arms"][0] |= {"name": "a\x1b[2K\r\x07", "role": None}
    (tmp_path / "odd.spec.json").write_text(json.dumps(document))
    shown = rx("plan", "odd.spec.json", cwd=tmp_path, check=3)
    assert "\x1b" not in shown.stdout + shown.stderr
    assert "a\ufffd[2K\ufffd\ufffd" in shown.stdout
