"""Every case file under `tests/cases`: dropped in, not coded.

A case holds `spec`, `record` or `updates`, and the `codes` that must be found, in order. Its name
begins with the status that the family of rules must answer.
"""

import json
from importlib import import_module
from pathlib import Path

import pytest

from rx_tools.checks.catalogue import RECORD_RULES, SPEC_RULES, UPDATE_RULES
from rx_tools.checks.record_rules.updates import judge_updates
from rx_tools.model.evidence import Evidence
from rx_tools.model.record import Record
from rx_tools.model.result import Status
from rx_tools.model.spec import Spec

CASES = Path(__file__).parent.parent / "cases"
FOLDERS = {
    "rx_tools.checks.spec_rules.activation": "activation_plan",
    "rx_tools.checks.spec_rules.evaluation": "evaluation_plan",
    "rx_tools.checks.record_rules.arms": "record_arms",
}
FAMILIES = {
    FOLDERS.get(module, module.rpartition(".")[2]): module
    for module in (*SPEC_RULES, *RECORD_RULES, *UPDATE_RULES)
}
FILES = sorted(path for family in FAMILIES for path in (CASES / family).glob("*.json"))
SEVERITY = (Status.FAILED, Status.UNVERIFIED, Status.PASSED, Status.NOT_APPLICABLE)


def answers(family, case):
    if "updates" in case:
        return judge_updates([Record.of(update) for update in case["updates"]])
    judge = import_module(FAMILIES[family]).judge
    return (judge(Spec.of(case.get("spec")), Record.of(case.get("record")), Evidence()),)


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_case(path):
    case = json.loads(path.read_text())
    results = answers(path.parent.name, case)
    codes = [reason.code for result in results for reason in result.reasons]
    worst = min((result.status for result in results), key=SEVERITY.index)
    assert (worst.value, codes) == (path.stem.partition("-")[0], case["codes"])


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_every_code_has_a_case_and_every_family_a_clean_one(family):
    cases = [json.loads(path.read_text()) for path in (CASES / family).glob("*.json")]
    found = {code for case in cases for code in case["codes"]}
    assert found == set(import_module(FAMILIES[family]).CODES)
    assert any(case["codes"] == [] for case in cases)
