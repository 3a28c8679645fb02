"""Whatever stops a run, finished work is kept, and a resumed run ends as an uninterrupted one."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.endtoend.small import ROOT, STEPS, rx, write_small


def start(spec, run, folder, *options):
    command = ("-m", "rx_tools", "run", spec, "--rehearse", "--run-dir", run, *options)
    return subprocess.Popen(
        [sys.executable, *map(str, command)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_updates(run, count, process):
    ledger = run / "ledger.jsonl"
    deadline = time.monotonic() + 200
    while time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        if ledger.exists() and ledger.read_text().count("update_acknowledged") >= count:
            return
        time.sleep(0.02)
    raise AssertionError("no progress")


@pytest.mark.parametrize(
    ("how", "code", "updates"),
    [(signal.SIGINT, 130, 6), (signal.SIGKILL, -signal.SIGKILL, 6), (signal.SIGKILL, -9, 1)],
)
def test_a_stopped_run_goes_on_where_it_stood(how, code, updates, rehearsed, tmp_path):
    spec, run, answers = write_small(tmp_path), tmp_path / "run", tmp_path / "answers.json"
    answers.write_text('{"checkpoint_every": 4}')
    process = start(spec, run, tmp_path, "--answers", answers)
    wait_for_updates(run, STEPS + updates, process)
    process.send_signal(how)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == code, errors
    assert "Traceback" not in errors
    rx("run", "--resume", "--run-dir", run, cwd=tmp_path, check=0)
    assert values(run) == values(rehearsed.run)
    rx("verify", run.with_name("run.bundle"), cwd=tmp_path, check=0)
    handed = tmp_path / "record.json"
    handed.write_text(rx("record", run, cwd=tmp_path, check=0).stdout)
    rx("validate", run / "spec.json", handed, cwd=tmp_path, check=0)


def values(run):
    record = json.loads(sorted((run / "updates").glob("*.json"))[-1].read_text())
    return {arm: data["token_mean_nll"] for arm, data in record["metrics"]["arms"].items()}


def test_a_second_process_on_one_run_is_refused(tmp_path):
    spec, run = write_small(tmp_path), tmp_path / "run"
    process = start(spec, run, tmp_path)
    wait_for_updates(run, 1, process)
    second = rx("run", "--resume", "--run-dir", run, cwd=tmp_path)
    assert second.returncode == 4
    assert "another process" in second.stderr or "holds" in second.stderr
    process.kill()
    process.communicate()


def test_a_full_disk_is_told_and_the_run_goes_on_when_there_is_room(rehearsed, tmp_path):
    spec, run = write_small(tmp_path), tmp_path / "run"
    arguments = ("run", spec, "--rehearse", "--run-dir", run)
    full = rx(*arguments, cwd=tmp_path, check=74, largest_file=300_000)
    assert len([line for line in full.stderr.splitlines() if line.startswith("rx: ")]) == 1
    assert "File too large" in full.stderr
    rx("run", "--resume", "--run-dir", run, cwd=tmp_path, check=0)
    assert values(run) == values(rehearsed.run)
