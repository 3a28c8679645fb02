"""A frozen plan as tables for a terminal."""

from collections.abc import Sequence

from rx_tools.planning.plan import Plan, PlannedArm
from rx_tools.report.terminal import visible


def plan_lines(plan: Plan) -> list[str]:
    """The arms, then every choice with what it was read from."""
    lines = [*arm_lines(plan.arms), "", *choice_lines(plan), "", *metric_lines(plan)]
    return [visible(line) for line in (*lines, *gate_lines(plan))]


def arm_lines(arms: Sequence[PlannedArm]) -> list[str]:
    """One line per arm, in the spec's order."""
    width = max((len(arm.name) for arm in arms), default=3)
    head = f"{'arm':<{width}}  {'role':<10} seed  {'phase':<12} steps  {'optimizer':<9} rate"
    return [head, *(arm_line(arm, width) for arm in arms)]


def arm_line(arm: PlannedArm, width: int) -> str:
    """Name, role, seed, phase, steps, optimizer, rate."""
    rate = f"{arm.learning_rate:g}" if arm.learning_rate is not None else f"from grid {arm.grid}"
    return (
        f"{arm.name:<{width}}  {arm.role:<10} {arm.seed:>4}  {arm.phase:<12} {arm.steps:>5}  "
        f"{arm.optimizer.type:<9} {rate}"
    )


def choice_lines(plan: Plan) -> list[str]:
    """Readings, schedule, data and evaluator."""
    readings = ", ".join(f"{name}: {value or 'open'}" for name, value in plan.readings.items())
    data = plan.data
    return [
        f"reading    {readings or 'no criterion'}",
        f"schedule   {plan.schedule.kind} ({plan.schedule.source})",
        f"data       {data.hf_path}: {data.n_train} training rows, {data.order}"
        + (f", {data.held_out} held out" if data.held_out else ""),
        f"evaluator  {plan.evaluation.aggregation} of {data.n_eval} {data.eval_split} rows, "
        f"renderer {plan.evaluation.renderer or 'open'}, length {plan.evaluation.max_length}",
    ]


def metric_lines(plan: Plan) -> list[str]:
    """Each activation metric, when it is known and from what."""
    if not plan.activation:
        return []
    lines = [f"  {m.metric:<46} {m.when:<9} {m.source}" for m in plan.activation]
    return ["activation metrics", *lines, ""]


def gate_lines(plan: Plan) -> list[str]:
    """Each gate and why it applies or not."""
    lines = [
        f"  {gate['check']:<24}{gate['status']:<16}{gate['reasons'][0]}" for gate in plan.gates
    ]
    return ["gates", *lines]
