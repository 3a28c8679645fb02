"""Bundles: whole or not there, the same bytes anywhere, complete or refused."""

import json
import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rx_tools.errors import IntegrityError, UnverifiedError
from rx_tools.evidence.bundle import bundle
from rx_tools.evidence.digest import sha256_file
from rx_tools.evidence.ledger import Ledger
from rx_tools.evidence.tree import open_tree
from tests.evidence.small_run import RUN_ID, SmallRun


@pytest.fixture
def run_dir(tmp_path):
    return SmallRun(tmp_path / "run").build()


def test_sha256sum_verifies_the_manifest_and_its_digest_is_the_root(run_dir, tmp_path):
    info = bundle(run_dir, tmp_path / "out")
    check = subprocess.run(
        ["sha256sum", "--strict", "-c", "manifest-sha256.txt"],
        cwd=tmp_path / "out",
        capture_output=True,
        text=True,
    )
    assert check.returncode == 0, check.stderr
    listed = {line.removesuffix(": OK") for line in check.stdout.splitlines()}
    present = {str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*.*")}
    assert listed == present - {"manifest-sha256.txt"}
    assert info.root_digest == sha256_file(tmp_path / "out" / "manifest-sha256.txt")
    assert info.run_id == RUN_ID


def test_what_is_private_stays_out_and_what_is_published_is_in(run_dir, tmp_path):
    bundle(run_dir, tmp_path / "out")
    files = open_tree(tmp_path / "out").files
    assert not any("work" in path or b"never bundled" in data for path, data in files.items())
    for path in ("run.json", "spec.json", "plan.json", "clearance-1.json", "ledger.jsonl"):
        assert files[path] == (run_dir / path).read_bytes()
    assert files["record.json"] == (run_dir / "updates" / "record-0002.json").read_bytes()
    described = json.loads(files["bundle.json"])
    kinds = {entry["name"]: entry["kind"] for entry in described["files"]}
    assert kinds["evidence/observations.jsonl"] == "metrics"
    assert kinds["updates/record-0001.json"] == "update"
    assert kinds.keys() == files.keys() - {"bundle.json", "manifest-sha256.txt"}


def test_the_same_run_gives_the_same_bytes_elsewhere_and_later(run_dir, tmp_path, monkeypatch):
    first = bundle(run_dir, tmp_path / "a.zip", zip=True)
    folder = bundle(run_dir, tmp_path / "a")
    with Ledger.open(run_dir / "ledger.jsonl") as ledger:
        ledger.append("bundle_written", {"root_digest": first.root_digest})
    shutil.copytree(run_dir, tmp_path / "elsewhere" / "run", copy_function=shutil.copyfile)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    second = bundle(tmp_path / "elsewhere" / "run", tmp_path / "b.zip", zip=True)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    assert first.root_digest == second.root_digest == folder.root_digest
    assert open_tree(tmp_path / "a").files == open_tree(tmp_path / "a.zip").files


def test_unzip_unpacks_what_sha256sum_verifies(run_dir, tmp_path):
    bundle(run_dir, tmp_path / "a.zip", zip=True)
    command = [sys.executable, "-m", "zipfile", "-e", tmp_path / "a.zip", tmp_path / "unpacked"]
    subprocess.run(command, check=True)
    check = ["sha256sum", "--quiet", "-c", "manifest-sha256.txt"]
    assert subprocess.run(check, cwd=tmp_path / "unpacked").returncode == 0


@pytest.mark.parametrize("zipped", [False, True])
def test_an_existing_bundle_is_never_replaced_and_its_digest_is_told(run_dir, tmp_path, zipped):
    first = bundle(run_dir, tmp_path / "out", zip=zipped)
    before = open_tree(tmp_path / "out").files
    with pytest.raises(IntegrityError, match=f"{first.root_digest} .the same content"):
        bundle(run_dir, tmp_path / "out", zip=zipped)
    with Ledger.open(run_dir / "ledger.jsonl") as ledger:
        ledger.append("run_interrupted", {})
    with pytest.raises(IntegrityError, match=f"{first.root_digest} .this run has"):
        bundle(run_dir, tmp_path / "out", zip=zipped)
    assert open_tree(tmp_path / "out").files == before


def test_something_else_at_the_place_is_left_alone(run_dir, tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(IntegrityError, match="something else"):
        bundle(run_dir, tmp_path / "out")
    assert (tmp_path / "out").read_text() == "mine"


RACE = """
import sys
from pathlib import Path
from pathlib import Path
from rx_tools.evidence.bundle import bundle
sys.stdin.read(1)
print(bundle(Path(sys.argv[1]), Path(sys.argv[2]), zip=sys.argv[3] == "zip").root_digest)
"""


@pytest.mark.parametrize("form", ["folder", "zip"])
def test_of_several_bundlers_at_once_exactly_one_wins(run_dir, tmp_path, form):
    command = [sys.executable, "-c", RACE, run_dir, tmp_path / "out", form]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    racers = [subprocess.Popen(command, **pipes, text=True) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda racer: racer.communicate("g"), racers))
    winners = [out.strip() for out, _ in answers if out]
    assert len(winners) == 1
    assert all(winners[0] in err for out, err in answers if not out)
    assert {path.name for path in tmp_path.iterdir()} == {"run", "out"}


KILLED = """
import os, signal, sys
from pathlib import Path
from rx_tools.evidence import bundle as module
def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)
write, left = module.write_file, [int(sys.argv[3])]
def some(path, data):
    left[0] -= 1
    write(path, data) if left[0] >= 0 else die()
module.write_file = some
module.bundle(Path(sys.argv[1]), Path(sys.argv[2]))
"""


@pytest.mark.parametrize("written", [0, 7])
def test_a_kill_leaves_no_bundle_and_the_next_one_cleans_up(run_dir, tmp_path, written):
    command = [sys.executable, "-c", KILLED, run_dir, tmp_path / "out", str(written)]
    assert subprocess.run(command).returncode == -signal.SIGKILL
    assert not (tmp_path / "out").exists()
    bundle(run_dir, tmp_path / "out")
    assert {path.name for path in tmp_path.iterdir()} == {"run", "out"}


def without(name):
    return lambda run: (run / name).unlink()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (without("plan.json"), UnverifiedError, "there is no plan.json"),
        (without("ledger.jsonl"), UnverifiedError, "there is no ledger.jsonl"),
        (without("evidence/script.py"), UnverifiedError, "script.py: the record lists this file"),
        (
            lambda run: (run / "evidence" / "script.py").write_text("other"),
            IntegrityError,
            "script.py: does not have the SHA-256 of the record",
        ),
        (lambda run: shutil.rmtree(run / "updates"), UnverifiedError, "no record yet"),
        (
            lambda run: (run / "evidence" / "link").symlink_to("/etc/passwd"),
            IntegrityError,
            "symbolic link",
        ),
        (
            lambda run: (run / "evidence" / "SCRIPT.py").write_text("x"),
            IntegrityError,
            "collide where case is ignored",
        ),
        (
            lambda run: (run / "updates" / "notes.txt").write_text("x"),
            IntegrityError,
            "belongs into no bundle",
        ),
        (
            lambda run: os.truncate(run / "ledger.jsonl", 0),
            IntegrityError,
            "the ledger is damaged",
        ),
    ],
)
def test_what_is_incomplete_or_changed_is_not_packed(run_dir, tmp_path, change, error, message):
    change(run_dir)
    with pytest.raises(error, match=message):
        bundle(run_dir, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_torn_tail_does_not_get_into_the_bundle(run_dir, tmp_path):
    whole = (run_dir / "ledger.jsonl").read_bytes()
    (run_dir / "ledger.jsonl").write_bytes(whole + b'{"half')
    bundle(run_dir, tmp_path / "out")
    assert (tmp_path / "out" / "ledger.jsonl").read_bytes() == whole


def rx(*words, cwd=None):
    command = [sys.executable, "-m", "rx_tools", *map(str, words)]
    environment = os.environ | {"PYTHONPATH": str(Path.cwd())}
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment)


def test_the_command_prints_the_root_digest_and_notes_it_in_the_ledger(run_dir, tmp_path):
    first = rx("bundle", run_dir, "-o", tmp_path / "out")
    assert (first.returncode, first.stderr.count("\n")) == (0, 1), first.stderr
    root = sha256_file(tmp_path / "out" / "manifest-sha256.txt")
    assert first.stdout == f"{root}\n"
    again = rx("bundle", "--zip", "--format", "json", cwd=run_dir)
    answer = json.loads(again.stdout)
    assert answer["root_digest"] == root
    assert answer["path"] == str(tmp_path / "run.bundle.zip")
    with Ledger.open(run_dir / "ledger.jsonl") as ledger:
        notes = [line.data for line in ledger.lines if line.event == "bundle_written"]
    assert [note["root_digest"] for note in notes] == [root, root]


def test_the_command_refuses_with_the_right_code(run_dir, tmp_path):
    assert rx("bundle", tmp_path).returncode == 3
    assert rx("bundle", run_dir, "-o", run_dir).returncode == 4
    with Ledger.open(run_dir / "ledger.jsonl"):
        busy = rx("bundle", run_dir, "-o", tmp_path / "out")
    assert busy.returncode == 4
    assert "another process is writing this ledger" in busy.stderr
    small = f"ulimit -f 4; exec {sys.executable} -m rx_tools bundle {run_dir} -o {tmp_path / 'out'}"
    full = subprocess.run(["bash", "-c", small], capture_output=True, text=True)
    assert full.returncode == 74
    assert "nothing was changed" in full.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"run"}


KILLED_ZIP = """
import os, signal, sys
from pathlib import Path
from rx_tools.evidence import bundle as module
def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)
setattr(module, sys.argv[3], die)
module.bundle(Path(sys.argv[1]), Path(sys.argv[2]), zip=True)
"""


@pytest.mark.parametrize("point", ["zip_bytes", "link", "sync_folder"])
def test_a_kill_while_zipping_leaves_all_or_nothing(run_dir, tmp_path, point):
    command = [sys.executable, "-c", KILLED_ZIP, run_dir, tmp_path / "out", point]
    assert subprocess.run(command).returncode == -signal.SIGKILL
    whole = point == "sync_folder"
    assert (tmp_path / "out").exists() == whole
    if whole:
        assert open_tree(tmp_path / "out").files
    bundle(run_dir, tmp_path / "next", zip=True)
    assert {path.name for path in tmp_path.iterdir()} - {"out"} == {"run", "next"}


def test_the_losers_of_several_commands_learn_the_root_digest_of_the_winner(run_dir, tmp_path):
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: rx("bundle", run_dir, "-o", tmp_path / "out"), range(4)))
    root = sha256_file(tmp_path / "out" / "manifest-sha256.txt")
    assert sorted(one.returncode for one in done) == [0, 4, 4, 4]
    assert all(root in one.stdout + one.stderr for one in done)
