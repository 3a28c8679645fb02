"""The plan of the two real specs, against what their own prose and commands say."""

import json
from pathlib import Path

import pytest

from rx_tools.errors import DocumentError, UnverifiedError
from rx_tools.planning.derive import derive, frozen
from rx_tools.planning.from_plan import answers_of
from rx_tools.planning.plan import Plan
from rx_tools.planning.questions import answers_in
from rx_tools.planning.rehearsal import ANSWERS, Stage, derived_spec, deviations

FIXTURES = Path(__file__).parents[1] / "fixtures"
STAGE = Stage("rx/tiny", "rx/built-in-chats", "rx-local/1")


def spec(name):
    return json.loads((FIXTURES / f"{name}.spec.json").read_text())


def plan_of(document, **options):
    return derive(document, "0" * 64, experiment="exp", **options)


def test_rates_experiment():
    """Six arms, AdamW of the restoration groups, the recipe's linear decay, a band of ±0.02."""
    plan = plan_of(spec("exp_9574bbb76e")).plan
    assert [(arm.role, arm.seed, arm.learning_rate) for arm in plan.arms] == [
        (role, seed, rate)
        for seed in (0, 1, 2)
        for role, rate in (("baseline", 1e-4), ("treatment", 3e-4))
    ]
    assert {arm.optimizer.type for arm in plan.arms} == {"adamw"}
    assert plan.arms[0].optimizer.parameters == {"beta1": 0.9, "beta2": 0.95, "eps": 1e-8}
    assert plan.schedule.kind == "linear"
    assert plan.readings == {"primary": "band"}
    assert (plan.data.n_train, plan.data.n_eval, plan.data.order) == (1920, 300, "shuffle_per_seed")
    assert plan.effective_config == {
        "base_model": "Qwen/Qwen3.5-2B",
        "lora_rank": 32,
        "dataset": "HuggingFaceH4/no_robots",
        "batch_size": 32,
        "max_seq_len": 2048,
        "steps": 60,
        "arms": 6,
        "n_examples": 1920,
        "n_eval": 300,
    }


def test_optimizer_experiment():
    """Twelve arms, two grids of three, a constant rate, a margin of 0.02, 500 rows held out."""
    plan = plan_of(spec("exp_71911f0fb9")).plan
    assert len(plan.selection) == len(plan.confirmation) == 6
    assert [(grid.role, grid.learning_rates) for grid in plan.grids] == [
        ("baseline", (5e-5, 1e-4, 2e-4)),
        ("treatment", (3e-4, 1e-3, 3e-3)),
    ]
    assert {arm.learning_rate for arm in plan.confirmation} == {None}
    assert {(arm.role, arm.optimizer.type) for arm in plan.arms} == {
        ("baseline", "adamw"),
        ("treatment", "dimuon"),
    }
    assert plan.schedule.kind == "constant"
    assert plan.readings == {"primary": "margin"}
    data = plan.data
    assert (data.split_seed, data.held_out, data.order) == (1234, 500, "split_then_shuffle")
    assert (data.n_train, data.n_eval) == (3200, 500)


def test_what_the_specs_leave_open_is_asked_by_name():
    names = [question.name for question in plan_of(spec("exp_71911f0fb9")).questions]
    assert names == [
        "evaluation.renderer",
        "correctness.spindle_dimuon_lite_optimizer.baseline_revision",
        "correctness.spindle_dimuon_lite_optimizer.reference_revision",
    ]
    with pytest.raises(UnverifiedError, match="which chat renderer"):
        frozen(plan_of(spec("exp_9574bbb76e")))


def test_an_answer_freezes_the_plan_and_a_mistyped_one_is_named():
    answered = plan_of(spec("exp_9574bbb76e"), answers={"evaluation.renderer": "qwen3_5"})
    assert frozen(answered).evaluation.renderer == "qwen3_5"
    mistyped = plan_of(
        spec("exp_9574bbb76e"), answers={"evaluation.renderer": "qwen3_5", "evaluation.render": "x"}
    )
    with pytest.raises(UnverifiedError, match=r"evaluation\.render\b"):
        frozen(mistyped)


def test_an_answer_outside_the_options_stays_a_question():
    derivation = plan_of(spec("exp_9574bbb76e"), answers={"evaluation.renderer": "gpt2"})
    assert [question.name for question in derivation.blocking] == ["evaluation.renderer"]


@pytest.mark.parametrize(
    ("prose", "reading"),
    [
        ("Failed if it lies entirely below -0.02.", "band"),
        ("Failed if it lies entirely below \u22120.02.", "band"),
        ("Failed if it lies entirely below 0.02.", "margin"),
        ("Failed if it lies entirely below 0.05.", None),
        ("Refuted otherwise.", None),
        ("Failed below -0.02, or below 0.02.", None),
    ],
)
def test_reading_of_a_margin(prose, reading):
    document = spec("exp_9574bbb76e") | {"success_criterion": prose}
    assert plan_of(document).plan.readings == {"primary": reading}


def test_an_ambiguous_role_is_asked_for():
    document = spec("exp_9574bbb76e")
    document["arms"][0]["name"] = "baseline_or_treatment_seed0"
    names = [question.name for question in plan_of(document).questions]
    assert "arms.baseline_or_treatment_seed0.role" in names


def test_a_plan_survives_json_and_answers_itself():
    derivation = plan_of(spec("exp_9574bbb76e"), answers={"evaluation.renderer": "qwen3_5"})
    plan = frozen(derivation)
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan
    again = plan_of(spec("exp_9574bbb76e"), answers=answers_of(plan))
    assert not again.unknown_answers
    assert frozen(again).arms == plan.arms


def test_the_derived_spec_keeps_the_structure_and_leaves_the_original_alone():
    original = spec("exp_71911f0fb9")
    before = json.dumps(original)
    derived = derived_spec(original, "d" * 64, STAGE)
    assert json.dumps(original) == before
    assert derived["derived_from"] == "d" * 64
    assert derived["base_model"] == "rx/tiny"
    assert derived["arms"] == original["arms"]
    assert derived["decision_rule"] == original["decision_rule"]
    assert "UNRESOLVED" not in json.dumps(derived["correctness_preflight"]["paths"])
    assert not plan_of(derived, answers=ANSWERS).questions
    assert {entry["field"] for entry in deviations(original, STAGE)} == {"model", "dataset"}


@pytest.mark.parametrize("broken", [{}, {"arms": [1, None]}, {"decision_rule": 3, "arms": [{}]}])
def test_a_hollow_spec_yields_questions_not_a_crash(broken):
    assert plan_of(broken).blocking


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("evaluation.max_length", "big"),
        ("evaluation.max_length", 0),
        ("evaluation.max_length", True),
        ("readings.primary", ["band"]),
        ("readings.primary", "margins"),
        ("arms.baseline_lr1e-4_seed0.seed", "0"),
        ("jobs", 1.5),
        ("checkpoint_every", None),
        ("data.eval_split", ""),
    ],
)
def test_an_answer_of_the_wrong_kind_is_asked_for_again(name, answer):
    derivation = plan_of(
        spec("exp_9574bbb76e"), answers={"evaluation.renderer": "qwen3_5", name: answer}
    )
    assert [question.name for question in derivation.blocking] == [name]
    with pytest.raises(UnverifiedError, match="the answer given is none"):
        frozen(derivation)


@pytest.mark.parametrize("document", [[], None, "band", 3])
def test_answers_that_are_no_object_are_refused(document):
    with pytest.raises(DocumentError, match="is no object of answers"):
        answers_in(document, "answers.json")
