"""`-o`: every command tells in one line which place cannot be written to, and how to mend it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.evidence.forge import TRUE

SPEC = Path(__file__).parents[1] / "fixtures" / "exp_9574bbb76e.spec.json"
COMMANDS = {
    "plan": ("plan", SPEC, "--answers", "answers.json", "-o"),
    "loss-eval": ("loss-eval", "--standalone", "-o"),
    "init": ("init",),
    "report": ("report", "run", "-o"),
    "bundle": ("bundle", "run", "-o"),
    "zip": ("bundle", "run", "--zip", "-o"),
}
TELLS = {
    "missing/x": (2, "missing/x: there is no folder missing (make it first"),
    "file/x": (2, "file/x: there is no folder file (make it first"),
    "a" * 300: (2, "no usable file name (choose a shorter"),
    "/proc/x": (74, "/proc: nothing can be written here: "),
}


def rx(folder, *arguments):
    line = [sys.executable, "-m", "rx_tools", *map(str, arguments)]
    path = {"PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.run(
        line, capture_output=True, text=True, cwd=folder, env={**os.environ, **path}
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("output")
    shutil.copytree(TRUE, place / "run")
    (place / "run" / "manifest-sha256.txt").unlink()
    (place / "run" / "bundle.json").unlink()
    (place / "answers.json").write_text('{"evaluation.renderer": "qwen3_5"}')
    (place / "file").write_text("mine")
    (place / "folder").mkdir()
    return place


@pytest.mark.parametrize("output", TELLS, ids=lambda name: name[:12])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_place_that_cannot_be_written_to(folder, command, output):
    code, told = TELLS[output]
    done = rx(folder, *COMMANDS[command], output)
    errors = [line for line in done.stderr.splitlines() if line.startswith("rx: ")]
    assert (done.returncode, len(errors)) == (code, 1), done.stderr
    assert told in errors[0]
    assert ".rx-" not in done.stderr and ".writing" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("output", ["folder", ".", "/"])
@pytest.mark.parametrize("command", ["plan", "loss-eval", "init", "report"])
def test_a_folder_is_no_file(folder, command, output):
    done = rx(folder, *COMMANDS[command], output)
    assert done.returncode == 2
    assert f"rx: {output}: is a folder (name a file in it, such as " in done.stderr


@pytest.mark.parametrize("command", ["plan", "loss-eval", "init", "bundle", "zip"])
def test_an_existing_file_is_kept(folder, command):
    done = rx(folder, *COMMANDS[command], "file")
    assert done.returncode == (4 if command in ("bundle", "zip") else 2)
    assert "rx: file: " in done.stderr and "(choose a" in done.stderr
    assert (folder / "file").read_text() == "mine"


def test_a_report_replaces_the_page_that_a_link_leads_to(folder):
    (folder / "page.html").write_text("old")
    (folder / "link.html").symlink_to("page.html")
    assert rx(folder, *COMMANDS["report"], "link.html").returncode == 0
    assert (folder / "link.html").is_symlink()
    assert (folder / "page.html").read_text().startswith("<!DOCTYPE html>")


def test_a_report_into_a_pipe_leaves_the_pipe(folder):
    """As `-o /dev/null` leaves the device: what is no regular file is written to."""
    os.mkfifo(folder / "pipe")
    reader = subprocess.Popen(["cat", folder / "pipe"], stdout=subprocess.PIPE)
    assert rx(folder, *COMMANDS["report"], "pipe").returncode == 0
    page, _ = reader.communicate()
    assert page.startswith(b"<!DOCTYPE html>")
    assert (folder / "pipe").is_fifo()
