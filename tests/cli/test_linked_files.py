"""Links, pipes and folders in the place of a run's files: integrity, in one line, at once."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.evidence.forge import TRUE

COMMANDS = [
    ("bundle", "{run}"),
    ("status", "{run}"),
    ("train", "--arm", "treatment_lr3e-4_seed0", "--run-dir", "{run}"),
]
FILES = (
    "ledger.jsonl",
    "plan.json",
    "spec.json",
    "evidence/preflight-service.json",
    "clearance-1.json",
)


def link(path):
    elsewhere = path.parents[1] / f"real-{path.name}"
    shutil.move(path, elsewhere)
    path.symlink_to(elsewhere)


def pipe(path):
    path.unlink()
    os.mkfifo(path)


def folder(path):
    path.unlink()
    path.mkdir()


def rx(*arguments):
    line = [sys.executable, "-m", "rx_tools", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, timeout=60)


@pytest.fixture
def run(tmp_path):
    place = shutil.copytree(TRUE, tmp_path / "run")
    (place / "manifest-sha256.txt").unlink()
    (place / "bundle.json").unlink()
    return place


@pytest.mark.parametrize("spoil", [link, pipe, folder])
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_ledger_that_is_no_file_of_its_own_is_refused(run, command, spoil):
    spoil(run / "ledger.jsonl")
    done = rx(*(part.format(run=run) for part in command))
    assert done.returncode == 4, done.stderr
    assert done.stderr.count("\n") == 1
    assert f"{run}/ledger.jsonl" in done.stderr
    assert "put the file itself in its place" in done.stderr


@pytest.mark.parametrize("name", FILES)
def test_no_link_is_packed(run, name):
    link(run / name)
    done = rx("bundle", run)
    assert done.returncode == 4, done.stderr
    assert f"{run}/{name}: is a symbolic link (" in done.stderr
    assert not run.with_name("run.bundle").exists()


def test_a_linked_run_directory_packs_to_the_same_bundle(run):
    run.with_name("linked").symlink_to(run)
    first = rx("bundle", run, "-o", run.with_name("first"))
    second = rx("bundle", run.with_name("linked"), "-o", run.with_name("second"))
    assert (first.returncode, second.returncode) == (0, 0)
    assert first.stdout == second.stdout


@pytest.mark.parametrize("command", ["status", "report", "record", "diff"])
def test_a_zipped_bundle_is_told_from_a_folder_and_its_unpacked_form_serves(run, command):
    zipped, unpacked = run.with_name("run.zip"), run.with_name("unpacked")
    assert rx("bundle", run, "--zip", "-o", zipped).returncode == 0
    more = ["-o", run.with_name("page.html")] if command == "report" else []
    more = [run] if command == "diff" else more
    done = rx(command, zipped, *more)
    assert done.returncode == 2
    assert (
        f"rx: {zipped}: is a zip, where a folder is expected (`rx verify` reads it" in done.stderr
    )
    assert f"python -m zipfile -e {zipped} FOLDER" in done.stderr
    subprocess.run([sys.executable, "-m", "zipfile", "-e", zipped, unpacked], check=True)
    assert rx(command, unpacked, *more).returncode == 0
