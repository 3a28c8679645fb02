"""A run that is interrupted, then killed, then resumed: the same numbers as one left in peace."""

import json
import os
import signal
import subprocess
import sys
import time

from tests.endtoend.small import ROOT, rx, write_small


def start(folder, *arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "rx_tools", "run", *map(str, arguments), "--run-dir", "run"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT), "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for_updates(process, ledger, count):
    while process.poll() is None:
        if ledger.exists() and ledger.read_text().count('"update_acknowledged"') >= count:
            return
        time.sleep(0.01)
    raise AssertionError(process.communicate())


def events(ledger):
    return [json.loads(line) for line in ledger.read_text().splitlines()]


def scores(ledger):
    scored = [event["data"] for event in events(ledger) if event["event"] == "arm_scored"]
    assert len({data["arm"] for data in scored}) == len(scored)
    return {data["arm"]: data["token_mean"] for data in scored}


def test_nothing_is_lost_or_done_twice(tmp_path, rehearsed):
    ledger = tmp_path / "run" / "ledger.jsonl"
    first = start(tmp_path, write_small(tmp_path), "--rehearse")
    wait_for_updates(first, ledger, 15)
    os.killpg(first.pid, signal.SIGINT)
    _, said = first.communicate(timeout=120)
    assert first.returncode == 130 and "--resume" in said
    assert "checkpoint_saved" in [event["event"] for event in events(ledger)]

    scored = {event["data"]["arm"] for event in events(ledger) if event["event"] == "arm_scored"}
    unscored = next(arm for arm in rehearsed.record["completed_arms"] if arm not in scored)
    orphan = tmp_path / "run" / "evidence" / f"predictions-{unscored}.jsonl"
    orphan.write_text("published by a crash that nobody announced\n")

    second = start(tmp_path, "--resume")
    wait_for_updates(second, ledger, 30)
    os.killpg(second.pid, signal.SIGKILL)
    second.communicate(timeout=120)

    rx("run", "--resume", "--run-dir", "run", cwd=tmp_path, check=0)
    rx("verify", "run.bundle", cwd=tmp_path, check=0)
    assert scores(ledger) == scores(rehearsed.run / "ledger.jsonl")
    assert [
        event["data"]["restore"] for event in events(ledger) if event["event"] == "arm_restored"
    ]
