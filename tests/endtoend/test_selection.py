"""The experiment with a learning-rate selection: every gate in play, two optimizers."""

import json

import pytest

from tests.endtoend.small import ROOT, rx

EXAMPLE = ROOT / "examples" / "dimuon-vs-adamw.spec.json"
SEEDS, SEARCH, STEPS, ITEMS, HELD_OUT = (0, 1), 3, 11, 16, 500


def selection_spec():
    """The twelve arms made small: two seeds, three and eleven steps, sixteen items."""
    spec = json.loads(EXAMPLE.read_text())
    spec["arms"] = [arm for arm in spec["arms"] if arm["seed"] in SEEDS]
    for arm in spec["arms"]:
        arm["steps"] = SEARCH if arm["phase"] == "selection" else STEPS
    groups = spec["restoration_preflight"]["groups"]
    spec["restoration_preflight"]["groups"] = groups[: len(SEEDS)]
    spec["decision_rule"]["seeds"] = list(SEEDS)
    spec["steps"] = STEPS
    spec["eval"]["n_examples"] = ITEMS
    return spec


@pytest.fixture(scope="module")
def selected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("selected")
    spec, run = folder / "selection.spec.json", folder / "run"
    spec.write_text(json.dumps(selection_spec()))
    done = rx("run", spec, "--rehearse", "--run-dir", run, cwd=folder, check=0, timeout=600)
    lines = [json.loads(line) for line in (run / "ledger.jsonl").read_text().splitlines()]
    record = json.loads(sorted((run / "updates").glob("*.json"))[-1].read_text())
    return folder, run, lines, record, done


def test_every_gate_is_measured_and_opens(selected):
    _, _, lines, _, _ = selected
    judged = {
        line["data"]["gate"]: line["data"]["status"]
        for line in lines
        if line["event"] == "gate_judged"
    }
    assert judged == {
        "correctness_preflight": "passed",
        "restoration_preflight": "passed",
        "activation_gate": "passed",
        "feasibility": "passed",
        "generation_audit": "not_applicable",
        "evaluator": "passed",
        "loss_eval": "passed",
        "decision_rule": "passed",
        "evidence": "passed",
        "record": "passed",
    }


def test_the_selection_is_frozen_before_any_confirmation_arm(selected):
    _, run, lines, record, _ = selected
    events = [(line["event"], line["data"].get("arm", "")) for line in lines]
    frozen = events.index(("selection_frozen", ""))
    confirming = [
        i
        for i, (event, arm) in enumerate(events)
        if event == "arm_started" and "_s" in arm and not arm.startswith("lrsearch")
    ]
    assert min(confirming) > frozen
    selection = record["decision"]["selection"]
    searched = json.loads((run / "evidence" / "selection.json").read_text())["scores"]
    assert selection["frozen_before_confirmation"] is True
    for role, rate in selection["selected"].items():
        scores = {
            arm["lr"]: searched[arm["name"]]
            for arm in selection_spec()["arms"]
            if arm["phase"] == "selection" and (arm["optimizer"] == "adam") == (role == "baseline")
        }
        assert rate == min(scores, key=lambda rate: (scores[rate], rate))


def test_confirmation_arms_ran_at_the_frozen_rate(selected):
    _, _, lines, record, _ = selected
    selected_rates = record["decision"]["selection"]["selected"]
    rates = {
        line["data"]["arm"]: line["data"]["learning_rate"]
        for line in lines
        if line["event"] == "update_acknowledged" and not line["data"]["arm"].startswith("lrsearch")
    }
    assert rates == {
        f"{role}_{kind}_s{seed}": selected_rates[role]
        for role, kind in (("baseline", "adamw"), ("treatment", "dimuon"))
        for seed in SEEDS
    }


def test_the_optimizers_of_the_record_are_the_observed_ones(selected):
    _, _, _, record, _ = selected
    checks = {
        entry["name"]: entry["optimizer_checks"][0]
        for entry in record["initialization_provenance"]["arms"]
    }
    assert checks["baseline_adamw_s0"]["actual"] == "adamw"
    assert checks["treatment_dimuon_s1"]["actual"] == "dimuon"
    assert all(check["source"] == "server_response" for check in checks.values())


def test_the_record_passes_and_the_bundle_verifies(selected):
    folder, run, _, _, _ = selected
    handed = folder / "record.json"
    handed.write_text(rx("record", run, cwd=folder, check=0).stdout)
    judged = rx("validate", run / "spec.json", handed, "--format", "json", cwd=folder)
    answers = json.loads(judged.stdout)["validation"]
    assert {answer["status"] for answer in answers.values()} <= {"passed", "not_applicable"}
    rx("verify", run.with_name("run.bundle"), cwd=folder, check=0)


def test_search_and_confirmation_share_no_item(selected):
    _, run, _, _, _ = selected
    ids = {}
    for kind in ("search", "confirmation"):
        rows = (run / "evidence" / f"items-{kind}.jsonl").read_text().splitlines()
        ids[kind] = {json.loads(row)["item_id"] for row in rows}
    assert (len(ids["search"]), len(ids["confirmation"])) == (HELD_OUT, ITEMS)
    assert not ids["search"] & ids["confirmation"]
