"""All probes of one optimizer: what `rx preflight` runs before anything trains.

Each probe works on throw-away models that are released at once. Capacity and connection errors
pass through: waiting is the caller's policy.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rx_tools.errors import IntegrityError, UnverifiedError
from rx_tools.model.gates_of_spec import CorrectnessPath
from rx_tools.numerics.tolerance import Tolerance
from rx_tools.numerics.updates import ReferenceOptimizer
from rx_tools.runner.data.order import batch_digest
from rx_tools.runner.probes import echo, first_update, null_step, packed, rate_response, restore
from rx_tools.runner.probes.bench import Bench
from rx_tools.runner.probes.elsewhere import NOTE, Foreign
from rx_tools.runner.probes.export import MISSING
from rx_tools.runner.probes.judging import (
    DEFAULT_SCALING,
    DEFAULT_TOLERANCE,
    judged_scaling,
    judged_update,
    reported,
)
from rx_tools.runner.probes.measuring import (
    Compared,
    Start,
    compared_steps,
    open_start,
    second_step,
)
from rx_tools.runner.probes.references import PinnedUpdates, reference_for
from rx_tools.runner.probes.report import ProbeReport, evidence_files
from rx_tools.runner.probes.result import Outcome, ProbeResult, contradicted, unproven
from rx_tools.runner.service import (
    Datum,
    ModelConfig,
    NotOfferedError,
    OptimizerConfig,
    RefusedError,
    ServiceIdentity,
    TrainingService,
)

BASELINE, REFERENCE, SECOND, SCALING = (
    "baseline_update", "reference_update", "second_update", "lr_scaling",
)  # fmt: skip
MEASURED = (
    "fixed_input", "implementation_revision", "precision", "normalization", "errors", "lr_scaling",
)  # fmt: skip
"""What a correctness path measured elsewhere brings along; ids and revisions stay the spec's."""

STOCK = OptimizerConfig("adamw", {"beta1": 0.9, "beta2": 0.95, "eps": 1e-8})


@dataclass(frozen=True, slots=True)
class Questions:
    """What the plan asks of one optimizer.

    `learning_rate` is the lowest that its arms use. `path` is the optimizer path of the spec that
    this optimizer implements, None for the stock optimizer. `reference` replaces our own.
    `elsewhere` is a report of the same optimizer from another service: its results stand in for
    what cannot be measured here, and are marked so.
    """

    learning_rate: float
    path: CorrectnessPath | None = None
    baseline: OptimizerConfig = STOCK
    reference: ReferenceOptimizer[Any] | PinnedUpdates | None = None
    elsewhere: Foreign | None = None

    @property
    def rates(self) -> tuple[float, ...]:
        """The rates to compare updates at."""
        asked = self.path.learning_rates if self.path else ()
        return asked or (self.learning_rate, 10 * self.learning_rate)

    def tolerance(self, word: str) -> Tolerance:
        """The spec's tolerance whose name holds the word, else ours."""
        named = self.path.tolerances if self.path else {}
        for name, view in named.items():
            if word in name and view.atol is not None and view.rtol is not None:
                return Tolerance(view.atol, view.rtol, view.min_cosine)
        return DEFAULT_TOLERANCE


def run_optimizer_probes(
    service: TrainingService, config: ModelConfig, batch: Sequence[Datum], questions: Questions,
    folder: Path,
) -> ProbeReport:  # fmt: skip
    """Ask the service everything that can be asked of `config.optimizer`.

    `batch` should be the pilot's (32 examples); `folder` is private and holds exported weights.
    No probe needs a seed: where one is refused, the models are created without.
    """
    folder.mkdir(parents=True, exist_ok=True)
    bench = Bench(service, config, batch, folder)
    first = echo.probe(bench)
    if first.figures.get("refused") and config.seed is not None:
        bench = Bench(service, replace(config, seed=None), batch, folder)
        first = echo.probe(bench)
    if first.figures.get("refused"):
        return finished(bench, questions, [first], [])
    rate = questions.learning_rate
    results = [
        first,
        attempted(null_step.PROBE, lambda: null_step.probe(bench)),
        attempted(rate_response.PROBE, lambda: rate_response.probe(bench, rate)),
        attempted(restore.PROBE, lambda: restore.probe(bench, rate)),
        attempted(packed.PROBE, lambda: packed.probe(bench)),
        attempted(first_update.PROBE, lambda: first_update.probe(bench, rate)),
    ]
    updates, steps = update_results(bench, questions, results[-1])
    return finished(bench, questions, [*results, *updates], steps)


def attempted(name: str, probe: Callable[[], ProbeResult]) -> ProbeResult:
    """The probe's answer; unproven where a step did not take place or a call was refused."""
    try:
        return probe()
    except UnverifiedError as gap:
        return unproven(name, str(gap))
    except RefusedError as refusal:
        return unproven(name, f"the service refuses a call of this probe: {refusal}")


def update_results(
    bench: Bench, questions: Questions, first: ProbeResult
) -> tuple[list[ProbeResult], list[Compared]]:
    """The probes that need exported weights, and the compared steps for the record."""
    names = [BASELINE, SECOND] if is_stock(bench) else [BASELINE, REFERENCE, SECOND, SCALING]
    if MISSING in first.reasons:
        return [unproven(name, MISSING) for name in names], []
    try:
        start = open_start(bench)
        return measured_updates(bench, start, questions)
    except NotOfferedError as refusal:
        return [unproven(name, f"{MISSING}: {refusal}") for name in names], []
    except RefusedError as refusal:
        return [unproven(name, f"the service refuses a call: {refusal}") for name in names], []
    except UnverifiedError as gap:
        return [unproven(name, str(gap)) for name in names], []
    except IntegrityError as mismatch:
        return [contradicted(BASELINE, str(mismatch), {})], []


def is_stock(bench: Bench) -> bool:
    """Whether the optimizer under test is the stock one."""
    return echo.same(bench.config.optimizer.type) == echo.same(STOCK.type)


def measured_updates(
    bench: Bench, start: Start, questions: Questions
) -> tuple[list[ProbeResult], list[Compared]]:
    """The baseline with the treatment disabled, then the treatment, then what follows."""
    stock = is_stock(bench)
    optimizer = bench.config.optimizer
    baseline = optimizer if stock else questions.baseline
    stock_reference = reference_for(baseline)
    assert stock_reference is not None
    (base,) = compared_steps(bench, start, baseline, stock_reference, [max(questions.rates)])
    known = stock_reference.assumptions
    results = [judged_update(BASELINE, base, questions.tolerance("baseline"), known)]
    if stock:
        second = second_step(bench, start, baseline, stock_reference, max(questions.rates))
        return [*results, judged_update(SECOND, second, DEFAULT_TOLERANCE, known)], [base]
    reference = questions.reference or reference_for(optimizer)
    if reference is None:
        gap = f"there is no reference of {optimizer.type}: pin one as a file of updates"
        return [*results, *(unproven(n, gap) for n in (REFERENCE, SECOND, SCALING))], [base]
    steps = compared_steps(bench, start, optimizer, reference, questions.rates)
    sharpest = chosen(steps, reference)
    tolerance = questions.tolerance("reference")
    results.append(judged_update(REFERENCE, sharpest, tolerance, reference.assumptions))
    results.append(second_result(bench, start, optimizer, reference, max(questions.rates)))
    scaling = questions.path.scaling_rtol if questions.path else None
    results.append(judged_scaling(SCALING, steps, DEFAULT_SCALING if scaling is None else scaling))
    return results, [base, sharpest, *steps]


def chosen(
    steps: Sequence[Compared], reference: ReferenceOptimizer[Any] | PinnedUpdates
) -> Compared:
    """The step at the highest rate, where the tolerance is least blind; a pinned one's own."""
    if isinstance(reference, PinnedUpdates):
        own = [step for step in steps if step.learning_rate == reference.learning_rate]
        if not own:
            raise UnverifiedError(f"no probe at the pinned rate {reference.learning_rate}")
        return own[0]
    return max(steps, key=lambda step: step.learning_rate)


def second_result(
    bench: Bench, start: Start, optimizer: OptimizerConfig,
    reference: ReferenceOptimizer[Any] | PinnedUpdates, rate: float,
) -> ProbeResult:  # fmt: skip
    """The second step against a reference that has state; a file of updates has none."""
    if isinstance(reference, PinnedUpdates):
        return unproven(SECOND, "a pinned file of updates says nothing of a second step")
    compared = second_step(bench, start, optimizer, reference, rate)
    return judged_update(SECOND, compared, DEFAULT_TOLERANCE, reference.assumptions)


def finished(
    bench: Bench, questions: Questions, results: Sequence[ProbeResult], steps: Sequence[Compared]
) -> ProbeReport:
    """The report, with foreign evidence in place of what could not be measured here."""
    identity = bench.service.identity()
    answers = [stand_in(result, questions.elsewhere) for result in results]
    correctness = record_path(bench, questions, identity, steps)
    if correctness is not None and not steps and questions.elsewhere:
        carried = questions.elsewhere.correctness or {}
        kept = {name: carried[name] for name in MEASURED if name in carried}
        correctness = {**correctness, **kept, "note": NOTE}
    files = evidence_files(answers, correctness, bench.config, identity, bench.batch)
    return ProbeReport(bench.config.optimizer.type, tuple(answers), correctness, files)


def stand_in(result: ProbeResult, elsewhere: Foreign | None) -> ProbeResult:
    """The result; where it is unproven and was measured elsewhere, that one."""
    if elsewhere is None or result.outcome is not Outcome.UNPROVEN:
        return result
    return elsewhere.results.get(result.probe, result)


def record_path(
    bench: Bench, questions: Questions, identity: ServiceIdentity, steps: Sequence[Compared]
) -> dict[str, Any] | None:
    """One path of the record's `correctness_preflight`; None where the spec has no such path.

    `errors` holds what was measured, under the names of the spec's tolerances.
    """
    path = questions.path
    if path is None:
        return None
    measured = dict(zip(("baseline", "reference"), steps, strict=False))
    errors = {
        name: reported(step.errors, questions.tolerance(word))
        for name in path.tolerances
        for word, step in measured.items()
        if word in name and step.errors.measured
    }
    return {
        "id": path.id,
        "fixed_input": {
            "sha256": batch_digest(bench.batch),
            "description": f"one batch of {len(bench.batch)} examples: tokens, targets, weights;"
            " every probe starts from the same saved adapter with fresh optimizer state",
        },
        "baseline_revision": path.baseline_revision,
        "reference_revision": path.reference_revision,
        "implementation_revision": identity.embedded_revision
        or f"{identity.host} capabilities {identity.capabilities_sha256[:16]}",
        "precision": "weights as exported by the service; reference and errors in float64",
        "normalization": "gradient of the summed cross entropy of counted tokens",
        "errors": errors,
        "lr_scaling": [
            {"learning_rate": step.learning_rate, "update_norm": step.norm} for step in steps[2:]
        ],
    }
