"""A service that stays full: the run ends by the policy, and its record says so."""

import json

import pytest

from rx_tools.cli.bench import Asked, workbench
from rx_tools.evidence.ledger import read_ledger
from rx_tools.runner.preflight.measure import Wishes, preflight
from rx_tools.runner.whole.complete import recorded_ending
from rx_tools.runner.wire import capacity
from rx_tools.runner.wire.capacity import CapacityBlockedError
from tests.endtoend.small import write_small


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_preflight_without_capacity_ends_as_the_contract_says(tmp_path, monkeypatch):
    monkeypatch.setattr(capacity, "BACKOFF", (0.1, 0.2, 0.4))
    monkeypatch.setattr(capacity, "BEFORE_ANY_STEP", 1.0)
    asked = Asked(
        write_small(tmp_path), tmp_path / "run", rehearse=True, quiet=True, faults=["capacity:99"]
    )
    with workbench(asked) as bench, pytest.raises(CapacityBlockedError), recorded_ending(bench):
        preflight(bench, Wishes())
    record = json.loads(sorted((tmp_path / "run" / "updates").iterdir())[-1].read_text())
    assert record["status"] == "failed" and record["verdict"] == "inconclusive"
    assert record["outcome_reason"] == "incomplete_execution"
    assert record["capacity_block"]["comparison_steps_completed"] == 0
    assert "trainer capacity exhausted" in record["capacity_block"]["error"]
    waits = [
        line.data["seconds"]
        for line in read_ledger(tmp_path / "run" / "ledger.jsonl").lines
        if line.event == "capacity_waited"
    ]
    assert waits[0] == 0.1 and max(waits) <= 0.4
