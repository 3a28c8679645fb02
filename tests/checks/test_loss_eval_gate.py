import copy
import json
from pathlib import Path

import pytest

import rx_tools
from rx_tools.checks.loss_eval import judge
from rx_tools.model.evidence import Evidence, EvidenceFile
from rx_tools.model.record import Record
from rx_tools.model.result import Status
from rx_tools.model.spec import Spec
from rx_tools.numerics.loss_eval import NO_RECORD

SPEC = json.loads(Path("tests/fixtures/exp_9574bbb76e.spec.json").read_text())
RUN = json.loads(Path("tests/fixtures/exp_9574bbb76e.run.json").read_text())
ARMS = RUN["completed_arms"]
ITEMS = {"a": (3, 6.5), "b": (2, 1.25), "c": (0, 0.0)}


def report(items=ITEMS):
    arms = {}
    for name in ARMS:
        arms[name] = rx_tools.LossEval("token_mean")
        arms[name].examples.extend((nll, n) for n, nll in items.values())
    return rx_tools.loss_report("token_mean", arms)


def predictions(**changed):
    files = {}
    for arm in ARMS:
        rows = [
            {"item_id": item, "arm": arm, "prediction": {"n_tokens": n, "nll_sum": nll}}
            for item, (n, nll) in {**ITEMS, **changed.get(arm, {})}.items()
        ]
        data = "".join(json.dumps(row) + "\n" for row in rows).encode()
        files[arm] = EvidenceFile.of_bytes(f"predictions-{arm}.jsonl", "predictions", data)
    return Evidence(files)


def judged(loss_eval, evidence=None, spec=SPEC, **more):
    record = {**RUN, "loss_eval": loss_eval, **more}
    return judge(Spec.of(spec), Record.of(record), evidence or Evidence())


def test_the_finished_run_kept_no_loss_record():
    result = judge(Spec.of(SPEC), Record.of(RUN), Evidence())
    assert (result.status, result.details["issues"]) == (Status.UNVERIFIED, [NO_RECORD])


def test_an_honest_record_passes_with_and_without_predictions():
    assert judged(report()).status is Status.PASSED
    assert judged(report(), predictions()).status is Status.PASSED


def test_equal_totals_over_different_tokens_fail_item_by_item():
    moved = predictions(**{ARMS[1]: {"a": (2, 6.5), "b": (3, 1.25)}})
    result = judged(report(), moved)
    assert result.status is Status.FAILED
    assert result.details["issues"] == [
        f"item a: 3 tokens in arm {ARMS[0]}, 2 in arm {ARMS[1]}",
        f"item b: 2 tokens in arm {ARMS[0]}, 3 in arm {ARMS[1]}",
    ]


def test_items_must_add_up_to_the_record():
    off = predictions(**{ARMS[2]: {"a": (3, 6.5 + 1e-10)}})
    result = judged(report(), off)
    assert (result.status, result.reasons[0].code) == (Status.FAILED, "RX456")


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (lambda r: r["arms"].pop(ARMS[0]), Status.UNVERIFIED),
        (lambda r: r["arms"].update({ARMS[0]: None}), Status.UNVERIFIED),
        (lambda r: r["arms"][ARMS[0]].update(value=1.0), Status.FAILED),
        (lambda r: r["arms"][ARMS[0]].update(n_tokens=6), Status.FAILED),
        (lambda r: r["arms"][ARMS[0]].update(nll_sum=float("nan")), Status.INVALID),
        (lambda r: r["arms"][ARMS[0]].update(nll_sum=None), Status.INVALID),
        (lambda r: r.update(aggregation="mean"), Status.INVALID),
        (lambda r: r.update(aggregation="example_mean"), Status.FAILED),
        (lambda r: r.update(arms={}), Status.UNVERIFIED),
    ],
)
def test_each_fault_has_its_status(change, status):
    record = copy.deepcopy(report())
    change(record)
    assert judged(record).status is status


def test_no_loss_no_gate():
    spec = copy.deepcopy(SPEC)
    spec["eval"] = {"metric": "accuracy"}
    spec["experiment_features"]["heldout_loss"] = False
    assert judged(None, spec=spec).status is Status.NOT_APPLICABLE
