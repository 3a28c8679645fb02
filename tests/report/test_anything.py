"""Ledgers whose lines hold anything: a status, a page and a comparison, never an exception."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from calling import rx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from making import Made

from rx_tools.evidence.ledger import Ledger
from rx_tools.evidence.run_dir import RunDir
from rx_tools.report.diff import compare
from rx_tools.report.diff_show import diff_json, diff_text
from rx_tools.report.html import render_html
from rx_tools.report.run_view import look
from rx_tools.report.status import status_json, status_text

MEMBERS = {
    "run_created": "rehearsal like",
    "evaluator_frozen": "items evaluator_id provenance",
    "deviations_declared": "deviations tested_instead",
    "probe_started": "probe",
    "probe_finished": "probe",
    "initialization_recorded": "seed uri",
    "optimizer_checked": "arm after_restore",
    "gate_judged": "gate status reasons",
    "unverified_accepted": "gate",
    "clearance_issued": "clearance arms",
    "clearance_spent": "clearance arm",
    "arm_started": "arm attempt clearance",
    "update_acknowledged": "arm step train_nll batch_sha256",
    "checkpoint_saved": "arm step uri",
    "arm_restored": "arm step restore discarded",
    "arm_stopped": "arm step reason",
    "arm_finished": "arm steps uri",
    "scoring_started": "arm items",
    "arm_scored": "arm items value token_mean n_tokens",
    "selection_frozen": "selected edge selection",
    "capacity_waited": "seconds error",
    "decision_made": "verdict outcome_reason",
    "record_posted": "update status",
    "bundle_written": "root_digest",
    "run_interrupted": "reason",
    "something_new": "what",
}
ARMS = ("lrsearch_adamw_5e-5_s0", "treatment_dimuon_s1", "base")
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from((*ARMS, "baseline", "passed", 1e-4, 0, 3, -1))
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(("baseline", "items", "ids", "a")), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def ledger_lines(draw):
    """Some events, each with its own members, most of them holding what nobody expects."""
    lines = []
    for event in draw(st.lists(st.sampled_from(sorted(MEMBERS)), max_size=14)):
        members = {name: draw(VALUES) for name in MEMBERS[event].split()}
        if "arm" in members and draw(st.booleans()):
            members["arm"] = draw(st.sampled_from(ARMS))
        lines.append((event, members))
    return lines


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    run = Made(tmp_path_factory.mktemp("anything") / "run", "exp_71911f0fb9")
    run.close()
    return run


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(lines=ledger_lines())
def test_any_ledger_can_be_looked_at(made, lines):
    with TemporaryDirectory() as folder:
        place = Path(folder)
        for name in ("run.json", "spec.json", "plan.json"):
            (place / name).write_bytes((made.place / name).read_bytes())
        for name in ("evidence", "updates"):
            (place / name).mkdir()
        moments = (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=n) for n in range(99))
        with Ledger.create(place / "ledger.jsonl", "made-0001", lambda: next(moments)) as ledger:
            for event, data in lines:
                ledger.append(event, data)
        view = look(RunDir(place))
        assert status_text(view)
        assert json.loads(status_json(view))["ledger"]["lines"] == len(lines)
        assert "</html>" in render_html(view)
        parts = compare(view, view)
        assert all(part.equal for part in parts)
        assert diff_text(view, view, parts)
        assert json.loads(diff_json(view, view, parts))["equal"] is True


@pytest.mark.parametrize(
    "change",
    [
        {"arms": 5},
        {"arms": [{"name": "a"}]},
        {"grids": None},
        {"schedule": "linear"},
        {"readings": [1]},
        {"gates": [{}]},
        {"evidence": "x"},
        {"new_member": 1},
    ],
)
@pytest.mark.parametrize("command", ["status", "report"])
def test_a_plan_that_is_none_is_one_line(made, tmp_path, change, command):
    for name in ("run.json", "spec.json", "ledger.jsonl"):
        (tmp_path / name).write_bytes((made.place / name).read_bytes())
    plan = json.loads((made.place / "plan.json").read_text())
    (tmp_path / "plan.json").write_text(json.dumps(plan | change))
    done = rx(command, tmp_path)
    assert done.returncode in (0, 1, 4)
    if done.returncode:
        assert len(done.stderr.splitlines()) == 1
        assert "plan.json" in done.stderr
