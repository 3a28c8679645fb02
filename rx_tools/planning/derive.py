"""From a spec, and the answers to what it leaves open, to the frozen plan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rx_tools.checks.applicability import check_applicability
from rx_tools.checks.feasibility import effective_config
from rx_tools.checks.loss_record import requested_aggregation
from rx_tools.errors import UnverifiedError
from rx_tools.model.json import JsonObject, as_list, as_object, as_text, is_integer
from rx_tools.model.names import Sha256
from rx_tools.planning.arms import grids_of, planned_arms, roles_of
from rx_tools.planning.evidence_names import planned_files
from rx_tools.planning.metrics import planned_metrics
from rx_tools.planning.plan import CorrectnessPath, EvaluationPlan, Plan, PlannedArm
from rx_tools.planning.prose import data_of, readings_of, renderer_of, schedule_of
from rx_tools.planning.questions import Inquiry, Question

GATES = (
    "correctness_preflight",
    "restoration_preflight",
    "activation_gate",
    "generation_audit",
    "decision_rule",
    "loss_eval",
    "feasibility",
)
UNRESOLVED = "UNRESOLVED"


@dataclass(frozen=True, slots=True)
class Derivation:
    """A plan, and the questions that still stand before it may be frozen."""

    plan: Plan
    questions: tuple[Question, ...]
    unknown_answers: tuple[str, ...]

    @property
    def blocking(self) -> tuple[Question, ...]:
        """The questions without whose answer nothing runs; a reading may stay unanswered."""
        return tuple(q for q in self.questions if q.refused or not q.name.startswith("readings."))


def derive(
    spec: JsonObject,
    spec_sha256: Sha256,
    *,
    experiment: str,
    answers: Mapping[str, Any] | None = None,
    derived_from: Sha256 | None = None,
) -> Derivation:
    """Everything that the spec decides, and every question that it does not answer."""
    inquiry = Inquiry(answers or {})
    arms = planned_arms(spec, inquiry)
    plan = Plan(
        experiment=experiment,
        spec_sha256=spec_sha256,
        derived_from=derived_from,
        arms=arms,
        grids=grids_of(arms),
        readings=readings_of(spec, inquiry),
        schedule=schedule_of(spec, inquiry),
        data=data_of(spec, rows_needed(spec, arms), inquiry),
        evaluation=evaluation_of(spec, inquiry),
        activation=planned_metrics(spec, arms, roles_of(spec)),
        correctness=correctness_of(spec, inquiry),
        effective_config=effective_config(spec),
        gates=tuple(check_applicability(spec, gate) for gate in GATES),
        evidence=planned_files(arms, any(arm.phase == "selection" for arm in arms)),
        jobs=inquiry.resolve("jobs", 1, "how many arms run at once?", blank=1),
        checkpoint_every=inquiry.resolve(
            "checkpoint_every", 20, "after how many steps is a checkpoint saved?", blank=20
        ),
    )
    return Derivation(plan, tuple(inquiry.open), tuple(inquiry.unknown))


def frozen(derivation: Derivation) -> Plan:
    """The plan, if nothing is open; else one line that names what is."""
    if derivation.unknown_answers:
        raise UnverifiedError(
            f"answers that no question asks for: {', '.join(derivation.unknown_answers)}",
            where="answers",
            hint="`rx plan SPEC` lists the questions",
        )
    if derivation.blocking:
        names = "; ".join(str(question) for question in derivation.blocking)
        raise UnverifiedError(
            f"the spec leaves open: {names}",
            where="plan",
            hint="answer them in a JSON file and pass `--answers FILE`",
        )
    return derivation.plan


def rows_needed(spec: JsonObject, arms: Sequence[PlannedArm]) -> int:
    """Training rows that the longest arm reads: its steps times the batch."""
    batch = spec.get("batch_size")
    size = int(batch) if is_integer(batch) else 0
    return max((arm.steps for arm in arms), default=0) * size


def evaluation_of(spec: JsonObject, inquiry: Inquiry) -> EvaluationPlan:
    """The evaluator's fixed parts."""
    criteria = as_list(as_object(spec.get("decision_rule")).get("criteria"))
    metric = as_text(as_object(criteria[0]).get("metric")) if criteria else ""
    length = spec.get("max_seq_len")
    return EvaluationPlan(
        metric=metric or as_text(as_object(spec.get("eval")).get("metric")),
        aggregation=inquiry.resolve(
            "evaluation.aggregation",
            requested_aggregation(spec),
            "how are token losses averaged?",
            ("token_mean", "example_mean"),
        ),
        renderer=renderer_of(spec, inquiry),
        train_on_what="all_assistant_messages",
        max_length=inquiry.resolve(
            "evaluation.max_length",
            int(length) if is_integer(length) else None,
            "how many tokens of an example are kept?",
            blank=0,
        ),
    )


def correctness_of(spec: JsonObject, inquiry: Inquiry) -> tuple[CorrectnessPath, ...]:
    """The custom paths; a revision that the spec calls unresolved is asked for."""
    paths = as_list(as_object(spec.get("correctness_preflight")).get("paths"))
    return tuple(correctness_path(as_object(path), inquiry) for path in paths)


def correctness_path(path: JsonObject, inquiry: Inquiry) -> CorrectnessPath:
    """One path with both revisions resolved or asked for."""
    name = as_text(path.get("id"))
    revisions = {
        key: inquiry.resolve(
            f"correctness.{name}.{key}",
            resolved(path.get(key)),
            "which pinned revision is this? (the spec leaves it unresolved)",
        )
        for key in ("baseline_revision", "reference_revision")
    }
    return CorrectnessPath(id=name, **revisions)


def resolved(revision: object) -> str | None:
    """The revision, None when it is missing or says that it is unresolved."""
    text = as_text(revision).strip()
    return text if text and not text.upper().startswith(UNRESOLVED) else None
