"""The main job, through the real command line, the real SDK and the embedded service."""

import itertools
import json
import shutil

from scipy import stats

from tests.endtoend.small import ITEMS, SEEDS, STEPS, rx

ARMS = [f"{role}_seed{seed}" for seed in SEEDS for role in ("baseline_lr1e-4", "treatment_lr3e-4")]


def test_it_prints_gates_decision_and_root_digest(rehearsed):
    for part in ("restoration_preflight   passed", "activation_gate         passed", "root digest"):
        assert part in rehearsed.output
    assert "0 contradicted" in rehearsed.output


def test_the_record_is_complete_and_cannot_claim_the_hypothesis(rehearsed):
    record = rehearsed.record
    assert record["status"] == "succeeded"
    assert record["verdict"] == "inconclusive"
    assert record["original_hypothesis_tested"] is False
    assert record["tested_instead"]
    assert sorted(record["completed_arms"]) == sorted(ARMS)
    assert {entry["field"] for entry in record["deviations"]} == {"model", "dataset"}
    assert {arm["steps"] for arm in record["metrics"]["arms"].values()} == {STEPS}
    assert len(record["evidence"]["checkpoints"]) == len(ARMS)


def test_the_interval_is_the_one_of_scipy(rehearsed):
    metrics = rehearsed.record["metrics"]
    values = {arm: data["token_mean_nll"] for arm, data in metrics["arms"].items()}
    effects = [
        values[f"baseline_lr1e-4_seed{seed}"] - values[f"treatment_lr3e-4_seed{seed}"]
        for seed in SEEDS
    ]
    low, high = stats.ttest_1samp(effects, 0.0).confidence_interval(0.95)
    assert abs(metrics["D_ci_low"] - low) < 1e-12
    assert abs(metrics["D_ci_high"] - high) < 1e-12


def test_deviations_come_before_training_and_the_base_before_the_arms(rehearsed):
    lines = (rehearsed.run / "ledger.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    order = [event["event"] for event in events]
    assert order.index("deviations_declared") < order.index("arm_started")
    assert order.index("evaluator_frozen") < order.index("scoring_started")
    scored = [event["data"]["arm"] for event in events if event["event"] == "arm_scored"]
    assert scored[0] == "base"
    updates = [e["data"] for e in events if e["event"] == "update_acknowledged"]
    assert len(updates) == len(ARMS) * STEPS


def test_every_update_keeps_what_an_earlier_one_said(rehearsed):
    updates = [json.loads(p.read_text()) for p in sorted((rehearsed.run / "updates").iterdir())]
    for earlier, later in itertools.pairwise(updates):
        assert set(earlier["completed_arms"]) <= set(later["completed_arms"])
        assert earlier["metrics"]["arms"].items() <= later["metrics"]["arms"].items()
    assert [update["status"] for update in updates[:-1]] == ["running"] * (len(updates) - 1)
    assert all("verdict" not in update for update in updates[:-1])


def test_every_gate_accepts_the_record_that_is_handed_in(rehearsed):
    handed = rehearsed.folder / "record.json"
    handed.write_text(rx("record", rehearsed.run, cwd=rehearsed.folder, check=0).stdout)
    judged = rx(
        "validate", rehearsed.run / "spec.json", handed, "--format", "json", cwd=rehearsed.folder
    )
    answers = json.loads(judged.stdout)["validation"]
    assert {answer["status"] for answer in answers.values()} <= {"passed", "not_applicable"}
    assert judged.returncode == 0


def test_the_original_spec_rightly_refuses_the_rehearsal(rehearsed):
    handed = rehearsed.folder / "record-for-original.json"
    handed.write_text(rx("record", rehearsed.run, cwd=rehearsed.folder, check=0).stdout)
    judged = rx("validate", rehearsed.spec, handed, cwd=rehearsed.folder)
    assert judged.returncode == 1


def test_a_stranger_verifies_the_bundle_and_finds_one_flipped_byte(rehearsed, tmp_path):
    copy = tmp_path / "elsewhere"
    shutil.copytree(rehearsed.bundle, copy)
    rx("verify", copy, cwd=tmp_path, check=0)
    rows = copy / "evidence" / "scored-observations.jsonl"
    content = bytearray(rows.read_bytes())
    content[len(content) // 2] ^= 1
    rows.chmod(0o644)
    rows.write_bytes(content)
    found = rx("verify", copy, cwd=tmp_path, check=4)
    assert "scored-observations.jsonl" in found.stdout + found.stderr


def test_predictions_hold_every_item_and_no_text(rehearsed):
    for arm in [*ARMS, "base"]:
        rows = (rehearsed.run / "evidence" / f"predictions-{arm}.jsonl").read_text().splitlines()
        assert len(rows) == ITEMS
        assert "content" not in rows[0]


def test_a_finished_run_goes_nowhere_twice(rehearsed):
    done = rx("train", "--arm", ARMS[0], "--run-dir", rehearsed.run, cwd=rehearsed.folder)
    assert done.returncode == 2
    assert ARMS[0] in done.stderr
    before = (rehearsed.run / "ledger.jsonl").read_bytes()
    again = rx("run", "--resume", "--run-dir", rehearsed.run, cwd=rehearsed.folder, check=0)
    assert (rehearsed.run / "ledger.jsonl").read_bytes() == before
    root = next(line for line in rehearsed.output.splitlines() if line.startswith("root digest"))
    assert root in again.stdout


def test_the_ledger_keeps_the_answer_of_every_gate(rehearsed):
    """Those on the record as a whole after the decision and before the record that they judge."""
    lines = [json.loads(line) for line in (rehearsed.run / "ledger.jsonl").read_text().splitlines()]
    judged = [(line["seq"], line["data"]) for line in lines if line["event"] == "gate_judged"]
    statuses = {data["gate"]: data["status"] for _, data in judged}
    assert list(statuses)[-3:] == ["decision_rule", "evidence", "record"]
    answers = rx("validate", rehearsed.run, "--format", "json", cwd=rehearsed.folder).stdout
    validation = json.loads(answers)["validation"]
    for gate, name in (("decision_rule", "decision"), ("evidence",) * 2, ("record",) * 2):
        assert statuses[gate] == validation[f"{name}_validation"]["status"]
    decided = next(line["seq"] for line in lines if line["event"] == "decision_made")
    posted = max(line["seq"] for line in lines if line["event"] == "record_posted")
    assert all(decided < seq < posted for seq, _ in judged[-3:])


def test_an_update_that_was_never_posted_is_named(rehearsed):
    done = rx("record", rehearsed.run, "--update", 99, cwd=rehearsed.folder, check=2)
    posted = len(list((rehearsed.run / "updates").iterdir()))
    assert f"99 is no update: {posted} were posted" in done.stderr
