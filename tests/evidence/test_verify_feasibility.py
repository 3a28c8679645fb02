"""A projection of other work than the plan's is contradicted, however well the seals fit."""

import json

import pytest

from rx_tools.cli.app import build
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
    """Every arm's steps, and one scoring more than arms (the base model) of every item."""
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


@pytest.mark.parametrize(("units", "found"), [(1, ["RX358"]), (48, [])])
def test_a_record_beside_its_plan_is_held_to_it(tmp_path, capsys, units, found):
    """`rx validate RUN` has the plan; the gate itself answers as the server, which has none."""
    forge = forged(("measurements", "training", "planned_units"), units) if found else Forge()
    forge.write(tmp_path)
    assert forge.record["feasibility"]["measurements"]["training"]["planned_units"] == units
    with pytest.raises(SystemExit) as left:
        build(["validate"])(["validate", str(tmp_path), "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    codes = [f["code"] for file in report["files"] for f in file["findings"]]
    assert [code for code in codes if code == "RX358"] == found
    assert report["validation"]["feasibility"]["status"] == "passed"
    assert left.value.code == (1 if found else 0)
