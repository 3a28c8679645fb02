"""What the record says of each restore: what a server showed, and nothing that nobody saw."""

import json
from pathlib import Path

from rx_tools.evidence.ledger_line import LedgerLine
from rx_tools.planning.plan import Plan
from rx_tools.runner.whole.restores import with_arm_restores

BUNDLE = Path(__file__).parents[1] / "evidence" / "corpus" / "rehearsal-0.1"
PLAN = Plan.from_json(json.loads((BUNDLE / "plan.json").read_text()))
ARM = PLAN.arms[0]
CREATED = {
    "after_restore": 0,
    "source": "server_response",
    "actual": "adamw",
    "actual_config": {"learning_rate": ARM.learning_rate, "beta1": 0.9},
}
ENTRY = {"name": ARM.name, "restore_count": 0, "optimizer_checks": [CREATED]}


def seen(kind, **last):
    observation = {"optimizer": {"type": kind}, "last": last or None}
    return {"source": "server_response", "actual": {"type": kind}, "observation": observation}


def restore(step, optimizer=None, number=1):
    data = {"arm": ARM.name, "restore": number, "step": step}
    data |= {"optimizer": optimizer} if optimizer else {}
    return LedgerLine(data, "arm_restored", {}, "0" * 64, "run", number, "t", "1" * 64)


def told(*lines):
    entry = with_arm_restores(PLAN, ENTRY, lines)
    assert entry["restore_count"] == len(lines)
    return entry["optimizer_checks"][1:]


def test_a_restore_whose_optimizer_nobody_saw_is_declared_only():
    (check,) = told(restore(20))
    assert check["before_next_update"] is False
    assert (check["source"], check["actual"], check["actual_config"]) == ("declared", None, None)


def test_the_settings_are_those_that_the_server_showed():
    (check,) = told(restore(20, seen("adamw", learning_rate=9.0, beta1=0.8)))
    assert check["before_next_update"] is True
    assert check["actual_config"] == {"learning_rate": 9.0, "beta1": 0.8}


def test_back_at_the_initialization_what_was_measured_there_stands():
    (check,) = told(restore(0, seen("adamw")))
    assert check["actual_config"] == CREATED["actual_config"]


def test_back_at_the_initialization_another_type_is_told_as_it_was_seen():
    (check,) = told(restore(0, seen("dimuon")))
    assert (check["actual"], check["actual_config"]) == ("dimuon", {})


def test_every_restore_has_its_check():
    checks = told(restore(0, seen("adamw")), restore(20, number=2))
    assert [check["after_restore"] for check in checks] == [1, 2]
    assert [check["before_next_update"] for check in checks] == [True, False]
