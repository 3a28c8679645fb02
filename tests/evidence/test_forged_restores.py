"""What the ledger saw of an optimizer after a restore, against what a forged record says of it."""

import pytest

from rx_tools.errors import ExitCode
from rx_tools.evidence.claim import State
from rx_tools.evidence.verify import verify
from tests.evidence.forge import TRUE, Forge


def dimuon(seen):
    seen["actual"]["type"] = seen["observation"]["optimizer"]["type"] = "dimuon"


def other_beta(seen):
    seen["observation"]["last"] = {"beta2": 0.999, "learning_rate": 1e-5}


@pytest.mark.parametrize(
    ("forge_sight", "message"),
    [
        (dimuon, "optimizer check 1: actual is stated as 'adamw', derived is 'dimuon'"),
        (other_beta, "optimizer check 1: beta2 is stated as 0.95, derived is 0.999"),
        (dict.clear, "optimizer check 1: before_next_update is stated as True, derived is False"),
    ],
)
def test_a_record_that_tells_another_optimizer_than_the_ledger_saw(tmp_path, forge_sight, message):
    forge = Forge(TRUE.with_name("restored-0.1.zip"))
    for line in forge.lines:
        if line["event"] == "arm_restored":
            forge_sight(line["data"]["optimizer"])
    found = verify(forge.reforge().write(tmp_path / "bundle"))
    assert found.exit_code is ExitCode.INTEGRITY
    assert [claim.message for claim in found.of(State.CONTRADICTED)] == [message]
