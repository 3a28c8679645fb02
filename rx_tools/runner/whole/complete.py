"""Everything after the preflight, in order, from wherever the run stands."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from rx_tools.errors import DiskError, RxError, UnverifiedError
from rx_tools.model.names import Gate
from rx_tools.planning.plan import PlannedArm
from rx_tools.runner.arms.arm import Workshop
from rx_tools.runner.arms.resume import steps_completed
from rx_tools.runner.arms.stop import StopSignal
from rx_tools.runner.preflight.measure import clear, judge, measure_starts, recorded_facts
from rx_tools.runner.whole import clearance
from rx_tools.runner.whole.conclude import conclude
from rx_tools.runner.whole.experiment import (
    done,
    freeze_selection,
    run_arm,
    run_arms,
    with_rate,
    workshop,
)
from rx_tools.runner.whole.gates import GateTable
from rx_tools.runner.whole.record import Outcome, post
from rx_tools.runner.whole.workbench import Workbench
from rx_tools.runner.wire.capacity import CapacityBlockedError


def complete(bench: Workbench, stop: StopSignal, *, jobs: int, accepted: Sequence[Gate]) -> None:
    """Selection, confirmation, scoring and decision; the record is right however it ends."""
    shop = workshop(bench, stop)
    with recorded_ending(bench):
        train_all(bench, shop, jobs=jobs, accepted=accepted_gates(bench, accepted))
    conclude(bench)


def train_one(bench: Workbench, stop: StopSignal, arm: PlannedArm, *, resume: bool) -> None:
    """One arm, with the selection frozen before a confirmation arm; the last one concludes."""
    shop = workshop(bench, stop)
    with recorded_ending(bench):
        if arm.phase == "confirmation" and bench.plan.selection:
            refuse_unsearched(bench)
            freeze_selection(bench)
            clear_confirmation(bench, accepted_gates(bench, ()), bench.tell)
        run_arm(bench, shop, arm, resume=resume)
    if all(one.name in done(bench, "arm_scored") for one in bench.plan.arms):
        conclude(bench)


def refuse_unsearched(bench: Workbench) -> None:
    """A confirmation arm waits for every selection arm."""
    scored = done(bench, "arm_scored")
    missing = [arm.name for arm in bench.plan.selection if arm.name not in scored]
    if missing:
        raise UnverifiedError(
            f"the selection is not complete: {', '.join(missing)}",
            where="confirmation",
            hint="train these arms first; `rx run` does both in order",
        )


def accepted_gates(bench: Workbench, wished: Sequence[Gate]) -> tuple[Gate, ...]:
    """What the user accepts now, and what the ledger says was accepted before."""
    before = clearance.events(bench.ledger.lines, "unverified_accepted")
    return tuple(dict.fromkeys([*wished, *(Gate(data["gate"]) for data in before)]))


@contextmanager
def recorded_ending(bench: Workbench) -> Iterator[None]:
    """Whatever ends the work inside too early, ledger and record say so; the error goes on."""
    try:
        yield
    except CapacityBlockedError as error:
        end_blocked(bench, error)
        raise
    except (RxError, KeyboardInterrupt) as error:
        with suppress(DiskError):
            bench.ledger.append("run_interrupted", {"reason": str(error) or "interrupted"})
            post(bench.run, bench.ledger, "Execution stopped; finished arms are kept.")
        raise


def train_all(bench: Workbench, shop: Workshop, *, jobs: int, accepted: Sequence[Gate]) -> None:
    """Every arm of both phases, the selection frozen between them."""
    run_arms(bench, shop, bench.plan.selection, jobs=jobs, resume=True)
    if bench.plan.selection:
        freeze_selection(bench)
        clear_confirmation(bench, accepted, bench.tell)
    run_arms(bench, shop, bench.plan.confirmation, jobs=jobs, resume=True)


def clear_confirmation(
    bench: Workbench, accepted: Sequence[Gate], tell: Callable[[str], None]
) -> None:
    """Measure the waiting arms again at their frozen rate, judge, and clear them."""
    arms = bench.plan.confirmation
    if cleared(bench, arms):
        return
    waiting = [with_rate(bench, arm) for arm in arms]
    measure_starts(bench, recorded_facts(bench), bench.data.fixed_batch(), waiting)
    table = judge(bench, accepted)
    refuse_closed(table)
    clear(bench, table, arms)


def cleared(bench: Workbench, arms: Sequence[PlannedArm]) -> bool:
    """Whether a clearance names these arms already."""
    named = [data["arms"] for data in clearance.events(bench.ledger.lines, "clearance_issued")]
    return any(arm.name in names for names in named for arm in arms)


def refuse_closed(table: GateTable) -> None:
    """The confirmation does not start while a gate is closed."""
    if table.closed:
        names = ", ".join(gate.value for gate in table.closed)
        raise UnverifiedError(
            f"closed after the selection: {names}",
            where="confirmation",
            hint="the selection is kept; `rx status` shows the reasons",
        )


def end_blocked(bench: Workbench, error: CapacityBlockedError) -> None:
    """The service stayed full: the record says so, with the real number of steps."""
    outcome = Outcome(
        status="failed",
        verdict="inconclusive",
        reason="incomplete_execution",
        summary="The training service stayed full and the run was stopped.",
        capacity_block=error.block(released_clients=True)
        | {"comparison_steps_completed": steps_completed(bench.ledger.lines)},
    )
    post(bench.run, bench.ledger, "", outcome)
