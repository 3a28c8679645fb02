"""A projection of other work than the plan's is contradicted, however well the seals fit."""

import json

import pytest

from rx_tools.errors import ExitCode
from rx_tools.evidence.claim import State
from rx_tools.evidence.verify import verify
from tests.evidence.forge import Forge

MEASURED = "evidence/preflight-feasibility.json"
FORGED = [
    (("measurements", "training", "planned_units"), 1),
    (("measurements", "evaluation", "planned_units"), 1),
    (("measurements", "setup", "planned_units"), 1),
    (("measurements", "training", "planned_units"), True),
    (("measurements", "training", "samples"), 10**6),
    (("measurements", "evaluation", "samples"), 1),
    (("config", "steps"), 1),
    (("effective_config", "n_eval"), 1),
    (("primary_endpoint",), "training loss at step 1"),
]


def put(section, path, value):
    *parents, last = path
    for name in parents:
        section = section[name]
    assert section[last] != value or isinstance(value, bool)
    section[last] = value


def forged(path, value):
    """Record and evidence say the same, and ledger, digests and seals fit them."""
    forge = Forge()
    measured = json.loads(forge.files[MEASURED])
    put(measured["feasibility"], path, value)
    put(forge.record["feasibility"], path, value)
    forge.files[MEASURED] = json.dumps(measured).encode()
    return forge.reforge()


@pytest.mark.parametrize(("path", "value"), FORGED, ids=lambda item: str(item)[:60])
def test_figures_that_the_plan_determines_are_derived_again(tmp_path, path, value):
    forged(path, value).write(tmp_path)
    found = verify(tmp_path)
    assert found.exit_code is ExitCode.INTEGRITY
    wrong = [claim for claim in found.of(State.CONTRADICTED) if "feasibility" in claim.subject]
    assert any(path[-1] in claim.message for claim in wrong)


def test_the_plan_of_the_true_bundle_says_the_same_units(tmp_path):
    """Six arms of twelve steps, and seven scorings (the base model too) of every item."""
    forge = Forge()
    plan = json.loads(forge.files["plan.json"])
    stated = forge.record["feasibility"]["measurements"]
    assert stated["setup"]["planned_units"] == len(plan["arms"])
    assert stated["training"]["planned_units"] == sum(arm["steps"] for arm in plan["arms"])
    items = plan["data"]["n_eval"] * (len(plan["arms"]) + 1)
    assert stated["evaluation"]["planned_units"] == items
    forge.write(tmp_path)
    claims = [c for c in verify(tmp_path).of(State.VERIFIED) if "feasibility" in c.subject]
    assert any("plan.json" in claim.message for claim in claims)
