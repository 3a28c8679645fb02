"""Kill a client or a server at a chosen moment, go on, and look at what came out."""

import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from rx_tools.evidence.ledger import read_ledger
from rx_tools.evidence.tensors import adapter_digest
from rx_tools.local.launcher import Running, launch
from rx_tools.model.names import ArmName, CheckpointUri
from rx_tools.runner.arms.arm_loop import train_arm
from rx_tools.runner.arms.resume import arm_history
from rx_tools.runner.service import ModelConfig, TrainingService
from rx_tools.runner.wire.limits import Limits
from rx_tools.runner.wire.reviving import RevivingService
from rx_tools.runner.wire.tinker_service import TinkerService
from tests.runner.workshop import ADAMW, FakeTime, make_job, make_shop

QUICK = Limits(create=60, silence_before_unreachable=0.5, first_wait=0.2, close=1.0)
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Ending:
    """What a finished arm left behind."""

    adapter: str
    optimizer: str
    steps: tuple[int, ...]
    restores: int


def ending(folder: Path, service: TrainingService) -> Ending:
    reading = read_ledger(folder / "ledger.jsonl")
    assert reading.findings == () or not list(reading.findings)
    history = arm_history(reading.lines, ArmName("adamw-s0"))
    assert history.finished is not None
    return Ending(
        *digests(service, history.finished, folder / "work"),
        tuple(row["step"] for row in history.rows),
        history.restores,
    )


def digests(service: TrainingService, uri: CheckpointUri, folder: Path) -> tuple[str, str]:
    model, _ = service.create_from_state(ModelConfig("tiny", 4, ADAMW), uri, with_optimizer=True)
    files = model.download_weights("look", folder / "look")
    state = model.info().observation["state_sha256"]
    model.release()
    return adapter_digest(files["adapter_model.safetensors"]), state


def connect(running: Running) -> TinkerService:
    return TinkerService(running.base_url, running.api_key, limits=QUICK)


def train_with_client_kills(folder: Path, running: Running, kill_after: list[int]) -> None:
    """Kill the client each time its ledger has so many lines, then let it finish."""
    for lines in [*kill_after, None]:
        client = start_client(folder, running)
        if lines is None:
            assert client.wait(timeout=120) == 0
            return
        wait_for_lines(folder / "ledger.jsonl", lines, client)
        client.kill()
        client.wait()


def start_client(folder: Path, running: Running) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.runner.kill_driver", str(folder), running.base_url],
        cwd=ROOT,
        env={**os.environ, **running.environment},
    )


def wait_for_lines(ledger: Path, lines: int, client: "subprocess.Popen[bytes]") -> None:
    while client.poll() is None:
        if ledger.exists() and ledger.read_bytes().count(b"\n") >= lines:
            return
        time.sleep(0.001)


class Phoenix:
    """An embedded service that is killed when a ledger has so many lines, and started anew."""

    def __init__(self, store: Path, ledger: Path, kill_after: list[int]) -> None:
        self.store, self.ledger, self.kill_after = store, ledger, sorted(kill_after)
        self.running = launch(store, model_names=["tiny"])
        self.over = threading.Event()
        self.killer = threading.Thread(target=self._kill_when_due, daemon=True)
        self.killer.start()

    def connect(self) -> TinkerService:
        if self.running.process.poll() is not None:
            self.running.stop()
            self.running = launch(self.store, model_names=["tiny"])
        return connect(self.running)

    def stop(self) -> None:
        self.over.set()
        self.killer.join()
        self.running.stop()

    def _kill_when_due(self) -> None:
        for lines in self.kill_after:
            while not self.over.is_set():
                if self.ledger.exists() and self.ledger.read_bytes().count(b"\n") >= lines:
                    self.running.process.kill()
                    self.running.process.wait()
                    break
                time.sleep(0.001)


def train_with_server_kills(folder: Path, kill_after: list[int]) -> Ending:
    """Kill the server each time the ledger has so many lines; the client lives on."""
    phoenix = Phoenix(folder / "store", folder / "ledger.jsonl", kill_after)
    try:
        service = RevivingService(phoenix.connect)
        shop = make_shop(folder, service, time=FakeTime())
        train_arm(make_job(), shop)
        shop.ledger.close()
        return ending(folder, service)
    finally:
        phoenix.stop()
