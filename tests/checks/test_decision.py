"""The decision gate: what a record says against what its own rows show."""

import copy
import hashlib
import json
from pathlib import Path

import pytest

import rx_tools
from rx_tools.checks.deciding.issues import CATALOGUE
from rx_tools.checks.deciding.source import EXPECTED_ONE, NOT_RETAINED
from rx_tools.checks.decision import CODES, NO_VERDICT, judge
from rx_tools.model.evidence import Evidence, EvidenceFile
from rx_tools.model.record import Record
from rx_tools.model.result import Status
from rx_tools.model.spec import Spec

FIXTURES = Path("tests/fixtures")
SPEC = json.loads((FIXTURES / "exp_9574bbb76e.spec.json").read_text())
RUN = json.loads((FIXTURES / "exp_9574bbb76e.run.json").read_text())
ANSWER = json.loads((FIXTURES / "exp_9574bbb76e.validation.json").read_text())
METRIC = SPEC["decision_rule"]["criteria"][0]["metric"]
NAME = "scored-observations.jsonl"
OPEN = {"restoration_preflight": Status.PASSED, "evaluator": Status.NOT_APPLICABLE}
EFFECTS = (0.004549, 0.003932, 0.00534)
ITEMS = ("test:0", "test:1")


def provenance():
    return {"code_sha256": "0" * 64, "parser": "p", "items": {"ids": list(ITEMS)}}


EVALUATOR = rx_tools.evaluator_id(provenance())


def rows(effects=EFFECTS):
    return [
        {
            "item_id": item,
            "arm": role,
            "seed": seed,
            "metric": METRIC,
            "value": 2.0 + (effect if role == "baseline" else 0.0) + offset,
            "evaluator_id": EVALUATOR,
        }
        for seed, effect in enumerate(effects)
        for role in ("baseline", "treatment")
        for item, offset in zip(ITEMS, (-0.25, 0.25), strict=True)
    ]


def retained(content, **listed):
    data = "".join(json.dumps(row) + "\n" for row in content).encode()
    file = EvidenceFile.of_bytes(NAME, "metrics", data)
    record = copy.deepcopy(RUN)
    record["decision"] = {
        "version": 1,
        "observations_file": {"name": NAME, "sha256": file.sha256} | listed,
    }
    record["evaluation"] = {
        "version": 1,
        "evaluators": {EVALUATOR: provenance()},
        "scores": [],
        "comparisons": [],
    }
    return record, Evidence({NAME: file})


def judged(record, evidence, gates=OPEN, spec=SPEC):
    return judge(Spec.of(spec), Record.of(record), evidence, gates)


def codes(result):
    return [reason.code for reason in result.reasons]


def test_every_issue_has_a_manual_page():
    assert {code for code, _ in CATALOGUE.values()} <= set(CODES)


def test_the_finished_run_gets_the_servers_answer():
    result = judged(RUN, Evidence())
    assert result.details == ANSWER["decision_validation"]


def test_the_reported_tie_is_confirmed_from_rows():
    result = judged(*retained(rows()))
    assert result.status is Status.PASSED, result.reasons
    (criterion,) = result.details["criteria"]
    assert criterion["low"] == pytest.approx(0.0028537213667497, abs=1e-12)
    assert criterion["high"] == pytest.approx(0.0063602786332503, abs=1e-12)
    assert (criterion["reading_margin"], criterion["reading_band"]) == ("refuted", "tie")
    assert result.details["outcome_reason"] == "tie"


@pytest.mark.parametrize(("verdict", "reason"), [("refuted", "refuted"), ("supported", None)])
def test_a_record_that_says_more_than_its_rows_fails(verdict, reason):
    record, evidence = retained(rows())
    record |= {"verdict": verdict, "outcome_reason": reason}
    result = judged(record, evidence)
    assert result.status is Status.FAILED
    assert codes(result) == ["RX440"]
    assert "recomputed: inconclusive/tie" in result.reasons[0].message


def test_a_frozen_reading_in_the_retained_plan_decides():
    record, evidence = retained(rows())
    plan = {"plan": {"readings": {"primary": "margin"}}}
    file = EvidenceFile.of_bytes("config.json", "effective_config", json.dumps(plan).encode())
    with_plan = Evidence({**evidence.files, file.name: file})
    assert judged(record, with_plan).status is Status.FAILED
    record |= {"verdict": "refuted", "outcome_reason": "refuted"}
    assert judged(record, with_plan).status is Status.PASSED


def test_a_gate_that_is_not_passed_takes_the_verdict_away():
    record, evidence = retained(rows((0.05, 0.052, 0.051)))
    record |= {"verdict": "supported", "outcome_reason": "supported"}
    assert judged(record, evidence).status is Status.PASSED
    result = judged(record, evidence, {"restoration_preflight": Status.UNVERIFIED})
    assert result.status is Status.FAILED
    record |= {"verdict": "inconclusive", "outcome_reason": "insufficient_evidence"}
    closed = judged(record, evidence, {"restoration_preflight": Status.UNVERIFIED})
    assert closed.status is Status.PASSED


def test_without_statuses_the_other_gates_are_judged_here():
    record, evidence = retained(rows((0.05, 0.052, 0.051)))
    record |= {"verdict": "supported", "outcome_reason": "supported"}
    result = judge(Spec.of(SPEC), Record.of(record), evidence)
    assert result.status is Status.FAILED
    assert "restoration_preflight is unverified" in result.reasons[0].message


def test_another_hash_is_not_retained():
    result = judged(*retained(rows(), sha256="a" * 64))
    assert (result.status, result.details["issues"]) == (Status.UNVERIFIED, [NOT_RETAINED])


@pytest.mark.parametrize("name", ["out/o.jsonl", "../o.jsonl", "https://x/o.jsonl", "C:\\o", "", 3])
def test_a_path_is_no_name(name):
    result = judged(*retained(rows(), name=name))
    assert (result.status, codes(result)) == (Status.INVALID, ["RX413"])


def test_exactly_one_source():
    record, evidence = retained(rows())
    record["decision"]["observations"] = rows()
    both = judged(record, evidence)
    assert (both.status, both.details["issues"]) == (Status.INVALID, [EXPECTED_ONE])
    record["decision"] = {"version": 1}
    neither = judged(record, evidence)
    assert (neither.status, neither.details["issues"]) == (Status.UNVERIFIED, [EXPECTED_ONE])
    del record["decision"]
    assert judged(record, evidence).status is Status.UNVERIFIED


def test_inline_rows_serve_as_well():
    record, _ = retained(rows())
    record["decision"] = {"version": 1, "observations": rows()}
    assert judged(record, Evidence()).status is Status.PASSED


def test_more_than_ten_mebibytes_are_not_read():
    record, _ = retained(rows())
    digest = record["decision"]["observations_file"]["sha256"]

    def never():
        raise AssertionError("read")

    huge = EvidenceFile(NAME, "metrics", digest, 10 * 2**20 + 1, never)
    result = judged(record, Evidence({NAME: huge}))
    assert (result.status, codes(result)) == (Status.INVALID, ["RX415"])


def test_missing_rows_are_unverified_and_bad_rows_invalid():
    assert judged(*retained(rows()[:-1])).status is Status.UNVERIFIED
    assert judged(*retained([*rows(), rows()[0]])).status is Status.INVALID
    assert judged(*retained([{**rows()[0], "seed": 7}, *rows()])).status is Status.INVALID


def test_items_must_be_explicit():
    record, evidence = retained(rows())
    record["evaluation"]["evaluators"][EVALUATOR]["items"] = {"manifest_ref": "m.json"}
    result = judged(record, evidence)
    assert (result.status, codes(result)) == (Status.UNVERIFIED, ["RX439"])


def test_a_retained_manifest_with_its_hash_is_explicit():
    record, evidence = retained(rows())
    content = json.dumps({"ids": list(ITEMS)}).encode()
    file = EvidenceFile.of_bytes("m.json", "metrics", content)
    items = {"manifest_ref": "m.json", "manifest_sha256": hashlib.sha256(content).hexdigest()}
    record["evaluation"]["evaluators"][EVALUATOR]["items"] = items
    assert judged(record, Evidence({**evidence.files, "m.json": file})).status is Status.PASSED


def test_an_item_beyond_the_evaluators_list_is_invalid():
    record, evidence = retained(rows())
    record["evaluation"]["evaluators"][EVALUATOR]["items"] = {"ids": ["test:0"]}
    assert codes(judged(record, evidence))[0] == "RX423"


def test_old_evaluators_may_stay_in_the_record():
    record, evidence = retained(rows())
    old = provenance() | {"parser": "an older one", "items": {"ids": ["test:9"]}}
    evaluators = {rx_tools.evaluator_id(old): old, EVALUATOR: provenance()}
    record["evaluation"]["evaluators"] = evaluators
    assert judged(record, evidence).status is Status.PASSED


def test_rows_of_an_evaluator_that_is_not_recorded_are_invalid():
    record, evidence = retained([{**row, "evaluator_id": "f" * 64} for row in rows()])
    result = judged(record, evidence)
    assert (result.status, codes(result)) == (Status.INVALID, ["RX445"])


def test_a_stated_score_is_the_mean_of_its_rows_to_1e_12():
    record, evidence = retained(rows())
    score = {"arm": "treatment", "metric": METRIC, "seed": 1, "evaluator_id": EVALUATOR}
    record["evaluation"]["scores"] = [{**score, "value": 2.0 + 1e-12}]
    assert judged(record, evidence).status is Status.PASSED
    record["evaluation"]["scores"] = [{**score, "value": 2.0 + 3e-12}]
    result = judged(record, evidence)
    assert (result.status, codes(result)) == (Status.FAILED, ["RX442"])


def test_a_loss_record_is_the_mean_of_its_rows_where_the_plan_names_the_arm():
    record, evidence = retained(rows())
    arm = {"name": "treatment_lr3e-4_seed1", "role": "treatment", "seed": 1}
    plan = {"evaluation": {"metric": METRIC}, "arms": [{**arm, "phase": "confirmation"}]}
    file = EvidenceFile.of_bytes("plan.json", "effective_config", json.dumps(plan).encode())
    with_plan = Evidence({**evidence.files, file.name: file})
    for value, status in [(2.0, Status.PASSED), (2.00001, Status.FAILED), (None, Status.INVALID)]:
        record["loss_eval"] = {"arms": {arm["name"]: {"value": value}}}
        assert judged(record, with_plan).status is status
        assert judged(record, evidence).status is Status.PASSED


def test_a_running_record_has_nothing_to_agree_with():
    record, evidence = retained(rows())
    del record["verdict"], record["outcome_reason"]
    result = judged(record, evidence)
    assert (result.status, result.details["issues"]) == (Status.UNVERIFIED, [NO_VERDICT])


def test_the_verdict_of_a_changed_experiment_is_kept_for_it():
    record, evidence = retained(rows((0.05, 0.052, 0.051)))
    record |= {"original_hypothesis_tested": False, "tested_instead": "another model"}
    for verdict, reason in [("supported", "supported"), ("inconclusive", "insufficient_evidence")]:
        record |= {"verdict": verdict, "outcome_reason": reason}
        assert judged(record, evidence).status is Status.PASSED
    record |= {"verdict": "refuted", "outcome_reason": "refuted"}
    assert judged(record, evidence).status is Status.FAILED


def test_an_arm_that_did_not_finish_makes_the_execution_incomplete():
    record, evidence = retained(rows())
    record["completed_arms"] = record["completed_arms"][1:]
    record |= {"verdict": "inconclusive", "outcome_reason": "incomplete_execution"}
    assert judged(record, evidence).status is Status.PASSED


def adaptive_documents(**selection):
    spec = copy.deepcopy(SPEC)
    spec["decision_rule"]["adaptive_selection"] = {
        "kind": "hyperparameter",
        "search_item_ids": "prose",
        "confirmation_item_ids": "prose",
    }
    record, evidence = retained(rows((0.05, 0.052, 0.051)))
    record |= {"verdict": "supported", "outcome_reason": "supported"}
    record["decision"]["selection"] = {
        "frozen_before_confirmation": True,
        "selected": {"baseline": 1e-4},
        "grids": {"baseline": [5e-5, 1e-4, 2e-4]},
        "search_ref": "search.jsonl",
        "confirmation_ref": "confirmation.jsonl",
    } | selection
    files = dict(evidence.files)
    for name, ids in [("search.jsonl", ["train:1"]), ("confirmation.jsonl", ITEMS)]:
        content = "".join(json.dumps({"item_id": item}) + "\n" for item in ids).encode()
        files[name] = EvidenceFile.of_bytes(name, "metrics", content)
    return spec, record, Evidence(files)


def adaptive(**selection):
    spec, record, evidence = adaptive_documents(**selection)
    return judged(record, evidence, spec=spec)


def test_a_selection_in_order_keeps_the_verdict():
    assert adaptive().status is Status.PASSED


@pytest.mark.parametrize(
    ("selection", "status"),
    [
        ({"frozen_before_confirmation": False}, Status.UNVERIFIED),
        ({"search_ref": None}, Status.UNVERIFIED),
        ({"search_ref": "confirmation.jsonl"}, Status.FAILED),
        ({"selected": {"baseline": 2e-4}}, Status.FAILED),
        ({"grids": {"baseline": [1e-4, 2e-4]}}, Status.FAILED),
    ],
)
def test_a_selection_out_of_order_takes_it_away(selection, status):
    assert adaptive(**selection).status is status


def with_selection_arms(grids, selected):
    """A selection of a spec that plans two grids of three rates."""
    spec, record, evidence = adaptive_documents()
    spec["arms"] += [
        {"name": f"search_{role}_{rate:g}", "phase": "selection", "optimizer": "adam", "lr": rate}
        for role in ("baseline", "treatment")
        for rate in (5e-5, 1e-4, 2e-4)
    ]
    record["completed_arms"] = [arm["name"] for arm in spec["arms"]]
    record["decision"]["selection"] |= {"grids": grids, "selected": selected}
    return judged(record, evidence, spec=spec)


GRID = [2e-4, 5e-5, 1e-4]


@pytest.mark.parametrize(
    ("grids", "selected", "status"),
    [
        ({"baseline": GRID, "treatment": GRID}, {"baseline": 1e-4, "treatment": 1e-4}, "passed"),
        # an edge that a rate which never ran would turn into the middle
        (
            {"baseline": GRID, "treatment": [*GRID, 4e-4]},
            {"baseline": 1e-4, "treatment": 2e-4},
            "failed",
        ),
        (
            {"baseline": GRID, "treatment": [1e-4]},
            {"baseline": 1e-4, "treatment": 1e-4},
            "failed",
        ),
        ({"baseline": GRID}, {"baseline": 1e-4}, "unverified"),
    ],
)
def test_the_recorded_grids_are_the_planned_ones(grids, selected, status):
    assert with_selection_arms(grids, selected).status.value == status


def test_no_comparison_no_decision():
    spec = copy.deepcopy(SPEC)
    del spec["decision_rule"]
    spec["experiment_features"] |= {"paired_comparison": False}
    result = judged(RUN, Evidence(), spec=spec)
    assert result.status is Status.NOT_APPLICABLE


@pytest.mark.parametrize("section", [3, [], "rows", {"version": True}, {"version": 1.0}])
def test_a_section_of_any_shape_is_judged(section):
    record, evidence = retained(rows())
    record["decision"] = section
    assert judged(record, evidence).status in (Status.UNVERIFIED, Status.INVALID)
