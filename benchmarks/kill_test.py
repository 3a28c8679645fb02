"""Kill clients, servers and whole runs at random moments; what comes out must not show it.

Three kinds of disturbance, in turn: SIGKILL of a client that trains an arm, SIGKILL of the server
behind a living client, SIGKILL of `rx run --rehearse` (which takes its embedded service along).
After each the work is resumed until it ends. Required: the same adapter and optimizer state bit
for bit (for whole runs: the same scores), every step once, and a ledger that verifies.

Run with `python -m benchmarks.kill_test [disturbances, 200 by default] [seed]`.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from rx_tools.evidence.ledger import read_ledger
from rx_tools.evidence.verify import verify
from rx_tools.local.launcher import launch
from rx_tools.runner.arms.arm_loop import train_arm
from tests.endtoend.small import rx, write_small
from tests.runner.killing import (
    ROOT,
    Ending,
    connect,
    ending,
    start_client,
    train_with_server_kills,
)
from tests.runner.workshop import make_job, make_shop


def undisturbed(folder: Path) -> tuple[Ending, float]:
    """The ending without any kill, and how long a client process takes from start to end."""
    with launch(folder / "store", model_names=["tiny"]) as running:
        service = connect(running)
        (folder / "arm").mkdir()
        train_arm(make_job(), make_shop(folder / "arm", service))
        came_out = ending(folder / "arm", service)
        (folder / "timed").mkdir()
        start = time.perf_counter()
        assert start_client(folder / "timed", running).wait() == 0
        return came_out, time.perf_counter() - start


def client_kill(folder: Path, moment: float) -> Ending:
    with launch(folder / "store", model_names=["tiny"]) as running:
        client = start_client(folder, running)
        time.sleep(moment)
        client.kill()
        client.wait()
        client = start_client(folder, running)
        assert client.wait(timeout=300) in (0, 2), "2: it was done before the kill"
        return ending(folder, connect(running))


def server_kill(folder: Path, lines: int) -> Ending:
    return train_with_server_kills(folder, [lines])


def run_scores(run: Path) -> dict[str, float]:
    """Arm → token mean, and a check that every update stands once in a ledger that verifies."""
    reading = read_ledger(run / "ledger.jsonl")
    assert not reading.findings, reading.findings
    scored = [line.data for line in reading.lines if line.event == "arm_scored"]
    names = [data["arm"] for data in scored]
    assert len(set(names)) == len(names), f"scored twice: {names}"
    return {data["arm"]: data["token_mean"] for data in scored}


def run_kill(folder: Path, spec: Path, moment: float) -> dict[str, float]:
    run = folder / "run"
    command = [sys.executable, "-m", "rx_tools", "run", str(spec), "--rehearse", "--quiet"]
    process = subprocess.Popen(
        [*command, "--run-dir", str(run)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(moment)
    process.send_signal(signal.SIGKILL)
    process.wait()
    if not (run / "run.json").exists():
        rx("run", spec, "--rehearse", "--run-dir", run, cwd=folder, check=0)
    else:
        rx("run", "--resume", "--run-dir", run, cwd=folder, check=0)
    verification = verify(run.with_name("run.bundle"))
    assert verification.exit_code == 0, verification
    return run_scores(run)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    source = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    failures: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "undisturbed").mkdir()
        expected, seconds = undisturbed(place / "undisturbed")
        spec = write_small(place)
        start = time.perf_counter()
        rx("run", spec, "--rehearse", "--run-dir", place / "whole", cwd=place, check=0)
        whole_seconds, scores = time.perf_counter() - start, run_scores(place / "whole")
        for number in range(count):
            kind = ("client", "server", "run")[number % 3]
            folder = place / str(number)
            folder.mkdir()
            moment = source.random()
            try:
                if kind == "client":
                    same = replace(client_kill(folder, moment * seconds), restores=0) == expected
                elif kind == "server":
                    lines = 1 + int(moment * 15)
                    same = replace(server_kill(folder, lines), restores=0) == expected
                else:
                    same = run_kill(folder, spec, moment * whole_seconds) == scores
            except Exception as error:
                same = False
                print(f"{number} {kind} at {moment:.3f}: {error!r}"[:2000], flush=True)
            if not same:
                failures.append(f"{number} {kind} at {moment:.3f}")
                print("DIFFERENT:", failures[-1], flush=True)
            elif number % 10 == 9:
                print(f"{number + 1} disturbances, {len(failures)} failures", flush=True)
    print(
        f"{count} random kills: {count - len(failures)} came out the same, {failures or 'none'} not"
    )
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
