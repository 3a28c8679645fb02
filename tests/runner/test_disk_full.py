"""A disk that is full in the middle of an arm: one clear error, nothing lost, and it goes on."""

import resource
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rx_tools.errors import DiskError, ServiceError
from rx_tools.evidence.ledger import read_ledger
from rx_tools.local.launcher import Running, launch
from rx_tools.runner.arms.arm_loop import train_arm
from rx_tools.runner.arms.events import StepDone
from tests.runner.killing import ROOT, connect, ending
from tests.runner.memory_service import MemoryService
from tests.runner.workshop import make_job, make_shop

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
LESS_THAN_AN_ADAPTER = 20_000
ROOMY = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)

CLIENT = """
import resource, sys
from pathlib import Path
from rx_tools.errors import DiskError
from rx_tools.runner.arms.arm_loop import train_arm
from tests.runner.memory_service import MemoryService
from tests.runner.workshop import make_job, make_shop
resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
try:
    train_arm(make_job(checkpoint_every=99), make_shop(Path(sys.argv[1]), MemoryService()))
except DiskError as error:
    print(error)
    sys.exit(error.exit_code)
"""


def test_a_full_disk_under_the_ledger_stops_the_arm_and_the_ledger_stays_whole(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-c", CLIENT, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == DiskError.exit_code, done.stderr
    assert "the ledger is as it was" in done.stdout
    reading = read_ledger(tmp_path / "ledger.jsonl")
    assert not reading.findings and not reading.torn and len(reading.lines) > 5
    job = make_job(checkpoint_every=99)
    outcome = train_arm(job, make_shop(tmp_path, MemoryService()), resume=True)
    assert outcome.steps == 10


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    with launch(tmp_path / "store", model_names=["tiny"]) as service:
        yield service


def test_a_full_disk_under_the_service_fails_the_checkpoint_and_a_resume_is_exact(
    tmp_path: Path, running: Running
) -> None:
    service = connect(running)
    for name in ("steady", "full"):
        (tmp_path / name).mkdir()
    train_arm(make_job(), make_shop(tmp_path / "steady", service))

    def fill(event: object) -> None:
        if isinstance(event, StepDone) and event.step == 5:
            resource.prlimit(
                running.process.pid, resource.RLIMIT_FSIZE, (LESS_THAN_AN_ADAPTER, ROOMY[1])
            )

    shop = make_shop(tmp_path / "full", service)
    with pytest.raises(ServiceError, match="saving a checkpoint"):
        train_arm(make_job(), replace(shop, tell=fill))
    resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, ROOMY)
    train_arm(make_job(), shop, resume=True)
    shop.ledger.close()
    came_out = ending(tmp_path / "full", service)
    assert replace(came_out, restores=0) == ending(tmp_path / "steady", service)
