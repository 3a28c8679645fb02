"""The probes of a whole plan: every optimizer that an arm asks for, once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rx_tools.checks.applicability import check_applicability
from rx_tools.model.gates_of_spec import CorrectnessPath, CorrectnessPreflight
from rx_tools.model.json import JsonObject, as_object
from rx_tools.model.names import Gate
from rx_tools.planning.plan import Plan, PlannedOptimizer
from rx_tools.runner.probes.echo import same
from rx_tools.runner.probes.handed_in import NOTHING, Beside
from rx_tools.runner.probes.report import ProbeReport
from rx_tools.runner.probes.suite import STOCK, Questions, run_optimizer_probes
from rx_tools.runner.service import Datum, ModelConfig, OptimizerConfig, TrainingService

FALLBACK_RATE = 1e-4
"""What an optimizer is probed at when no arm of the plan has a rate yet."""


@dataclass(frozen=True, slots=True)
class PlanProbes:
    """The reports, one per optimizer, and the record's section `correctness_preflight`.

    `unmeasured` names the paths of the spec that no probe can measure.
    """

    reports: tuple[ProbeReport, ...]
    section: JsonObject
    unmeasured: tuple[str, ...] = ()

    @property
    def contradicted(self) -> tuple[str, ...]:
        """One line per contradiction; nothing may train while there is one."""
        return tuple(
            f"{report.optimizer}: {result.probe}: {result.reasons[0]}"
            for report in self.reports
            for result in report.contradictions
        )

    @property
    def unproven(self) -> tuple[str, ...]:
        """One line per gap."""
        gaps = tuple(
            f"{report.optimizer}: {result.probe}: {result.reasons[0]}"
            for report in self.reports
            for result in report.gaps
        )
        return (*gaps, *self.unmeasured)

    @property
    def files(self) -> Mapping[str, bytes]:
        """Evidence files to publish: name → bytes. A second report of one type gets a number."""
        named: dict[str, bytes] = {}
        for number, report in enumerate(self.reports, 1):
            for name, data in report.files.items():
                taken = named.get(name, data) != data
                named[name.replace(".json", f"-{number}.json") if taken else name] = data
        return named

    @property
    def activation(self) -> Mapping[str, float]:
        """Activation metrics of the optimizers under test; the stock optimizer's are its own."""
        return {
            metric: value
            for report in self.reports
            if same(report.optimizer) != STOCK.type
            for metric, value in report.activation.items()
        }


def probe_plan(
    service: TrainingService, spec: JsonObject, plan: Plan, batch: Sequence[Datum], folder: Path,
    *, beside: Beside = NOTHING, tell: Callable[[str], None] = lambda line: None,
) -> PlanProbes:  # fmt: skip
    """Probe every optimizer of the plan. `batch` is the pilot's; `folder` is private.

    Capacity and connection errors pass through. `tell` shows one line per optimizer.
    """
    reports: list[ProbeReport] = []
    for optimizer in distinct(plan):
        tell(f"probing {optimizer.type}: which optimizer really runs")
        config = ModelConfig(
            base_model=str(spec["base_model"]),
            rank=int(spec["lora_rank"]),
            optimizer=OptimizerConfig(optimizer.type, dict(optimizer.parameters)),
            seed=plan.arms[0].seed,
        )
        questions = questions_of(spec, plan, optimizer, beside)
        place = folder / f"probes-{len(reports)}"
        reports.append(run_optimizer_probes(service, config, batch, questions, place))
    section = section_of(spec, reports, beside)
    return PlanProbes(tuple(reports), section, unmeasured_paths(spec, section))


def distinct(plan: Plan) -> list[PlannedOptimizer]:
    """Every optimizer with its parameters once, in the order of the arms."""
    known: dict[tuple[str, tuple[tuple[str, float], ...]], PlannedOptimizer] = {}
    for arm in plan.arms:
        key = (arm.optimizer.type, tuple(sorted(arm.optimizer.parameters.items())))
        known.setdefault(key, arm.optimizer)
    return list(known.values())


def questions_of(
    spec: JsonObject, plan: Plan, optimizer: PlannedOptimizer, beside: Beside
) -> Questions:
    """What the spec and the plan ask of one optimizer."""
    rates = [
        arm.learning_rate
        for arm in plan.arms
        if arm.optimizer == optimizer and arm.learning_rate is not None
    ]
    stock = [each for each in distinct(plan) if same(each.type) == STOCK.type]
    baseline = OptimizerConfig(stock[0].type, dict(stock[0].parameters)) if stock else STOCK
    return Questions(
        learning_rate=min(rates, default=FALLBACK_RATE),
        path=path_of(spec, optimizer),
        baseline=baseline,
        reference=beside.reference(optimizer.type),
        elsewhere=beside.report(optimizer.type),
    )


def path_of(spec: JsonObject, optimizer: PlannedOptimizer) -> CorrectnessPath | None:
    """The optimizer path of the spec that this optimizer implements; none for the stock one.

    Of several paths the one whose id names the optimizer's type, else the first.
    """
    if same(optimizer.type) == STOCK.type:
        return None
    section = CorrectnessPreflight.of(spec.get("correctness_preflight"))
    paths = [path for path in section.paths if path.kind == "optimizer"]
    named = [path for path in paths if same(optimizer.type) in (path.id or "")]
    return next(iter([*named, *paths]), None)


def section_of(spec: JsonObject, reports: Sequence[ProbeReport], beside: Beside) -> dict[str, Any]:
    """The record's section: the measured paths and those handed in, or that none is required."""
    required = bool(as_object(check_applicability(spec, Gate.CORRECTNESS))["enforce"])
    paths = [dict(report.correctness) for report in reports if report.correctness is not None]
    measured = {path["id"] for path in paths}
    planned = CorrectnessPreflight.of(spec.get("correctness_preflight")).paths
    wanted = [path.id for path in planned if path.id and path.id not in measured]
    paths += [dict(beside.paths[name]) for name in wanted if name in beside.paths]
    return {"required": required, "paths": paths if required else []}


def unmeasured_paths(spec: JsonObject, recorded: JsonObject) -> tuple[str, ...]:
    """One line per path of the spec that the section has nothing of."""
    measured = {path["id"] for path in recorded["paths"]}
    section = CorrectnessPreflight.of(spec.get("correctness_preflight"))
    return tuple(
        f"path {path.id or number + 1}: a {path.kind or 'nameless'} path is not measured here;"
        " hand its section in"
        for number, path in enumerate(section.paths)
        if path.id not in measured
    )
