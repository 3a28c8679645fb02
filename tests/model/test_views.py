"""The views read documents of any quality."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from rx_tools.model.evidence import inline_evidence
from rx_tools.model.json_path import below, child, parent
from rx_tools.model.record import Record
from rx_tools.model.spec import Spec

FIXTURES = Path(__file__).parent.parent / "fixtures"


def fixture(name):
    return json.loads((FIXTURES / name).read_text())


def test_spec_of_the_finished_run():
    spec = Spec.of(fixture("exp_9574bbb76e.spec.json"))
    assert (spec.steps, spec.lora_rank, spec.batch_size, spec.max_seq_len) == (60, 32, 32, 2048)
    assert spec.arm_names[:2] == ("baseline_lr1e-4_seed0", "treatment_lr3e-4_seed0")
    assert [arm.lr for arm in spec.arms] == [1e-4, 3e-4] * 3
    assert spec.decision_rule is not None
    assert spec.decision_rule.criteria[0].weights == {"baseline": 1.0, "treatment": -1.0}
    assert spec.features["paired_comparison"] is True
    assert [len(group) for group in spec.restoration.groups] == [2, 2, 2]
    assert spec.activation.checks[2].one_of == ("Qwen/Qwen3.5-2B",)
    assert (spec.budget.gpu_hours, spec.budget.max_wall_minutes) == (1.5, 90)


def test_spec_with_a_selection():
    spec = Spec.of(fixture("exp_71911f0fb9.spec.json"))
    assert spec.arms[6].lr is None and spec.arms[6].lr_text == "frozen from selection"
    path = spec.correctness.paths[0]
    assert path.learning_rates == (1e-4, 1e-3, 1e-2) and path.scaling_rtol == 0.01
    assert path.tolerances["baseline_update"].min_cosine == 0.99999
    assert spec.decision_rule is not None and spec.decision_rule.adaptive_selection is not None


def test_record_of_the_finished_run():
    record = Record.of(fixture("exp_9574bbb76e.run.json"))
    assert len(record.completed_arms) == len(record.checkpoints) == 6
    assert (record.verdict, record.outcome_reason) == ("inconclusive", "tie")
    kept = inline_evidence(record.raw)["code-revision.txt"]
    assert kept.kind == "code_revision" and kept.size == len(kept.read())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
KEYS = (*fixture("exp_71911f0fb9.spec.json"), *fixture("exp_9574bbb76e.run.json"))


@given(st.dictionaries(st.sampled_from(KEYS), JSON) | JSON)
def test_any_document_can_be_viewed(value):
    Spec.of(value)
    Record.of(value)
    inline_evidence(value)


def test_true_is_no_seed():
    assert Spec.of({"arms": [{"seed": True, "name": "a"}], "steps": 3.0}).arms[0].seed is None


@given(st.lists(st.text() | st.integers(0, 99), max_size=4))
def test_parent_undoes_child(keys):
    path = below("$", *keys)
    assert parent(child(path, "x")) == parent(child(path, 'a"].b[0]')) == path
