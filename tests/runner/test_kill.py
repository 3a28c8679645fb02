"""SIGKILL of client or server at several moments: the same adapter and optimizer, bit for bit.

`benchmarks/kill_test.py` does the same at 200 random moments.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rx_tools.local.launcher import Running, launch
from rx_tools.runner.arms.arm_loop import train_arm
from tests.runner.killing import (
    Ending,
    connect,
    ending,
    train_with_client_kills,
    train_with_server_kills,
)
from tests.runner.workshop import make_job, make_shop

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with launch(tmp_path_factory.mktemp("store"), model_names=["tiny"]) as service:
        yield service


@pytest.fixture(scope="module")
def undisturbed(running: Running, tmp_path_factory: pytest.TempPathFactory) -> Ending:
    folder, service = tmp_path_factory.mktemp("undisturbed"), connect(running)
    train_arm(make_job(), make_shop(folder, service))
    return ending(folder, service)


@pytest.mark.parametrize("kill_after", [[1], [5, 9], [8, 11, 16]])
def test_a_killed_client_goes_on_exactly(
    tmp_path: Path, running: Running, undisturbed: Ending, kill_after: list[int]
) -> None:
    train_with_client_kills(tmp_path, running, kill_after)
    came_out = ending(tmp_path, connect(running))
    assert replace(came_out, restores=0) == undisturbed
    assert came_out.steps == tuple(range(10))


@pytest.mark.parametrize("kill_after", [[4], [9, 15]])
def test_a_killed_server_costs_nothing_but_the_updates_since_the_checkpoint(
    tmp_path: Path, undisturbed: Ending, kill_after: list[int]
) -> None:
    came_out = train_with_server_kills(tmp_path, kill_after)
    assert replace(came_out, restores=0) == undisturbed
    assert came_out.restores >= len(kill_after) - 1
