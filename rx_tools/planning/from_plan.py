"""A plan read back as answers, so that a plan handed in decides what it decided before."""

from typing import Any

from rx_tools.planning.plan import Plan


def answers_of(plan: Plan) -> dict[str, Any]:
    """Question name → answer, for every choice that the plan froze."""
    answers: dict[str, Any] = {
        "schedule.kind": plan.schedule.kind,
        "data.order": plan.data.order,
        "data.eval_split": plan.data.eval_split,
        "data.n_eval": plan.data.n_eval,
        "data.reduction": plan.data.reduction,
        "evaluation.renderer": plan.evaluation.renderer,
        "evaluation.aggregation": plan.evaluation.aggregation,
        "evaluation.max_length": plan.evaluation.max_length,
        "jobs": plan.jobs,
        "checkpoint_every": plan.checkpoint_every,
    }
    for arm in plan.arms:
        answers |= {
            f"arms.{arm.name}.role": arm.role,
            f"arms.{arm.name}.seed": arm.seed,
            f"arms.{arm.name}.steps": arm.steps,
        }
    answers |= {f"readings.{name}": value for name, value in plan.readings.items() if value}
    for path in plan.correctness:
        answers |= {
            f"correctness.{path.id}.baseline_revision": path.baseline_revision,
            f"correctness.{path.id}.reference_revision": path.reference_revision,
        }
    return answers
