"""The whole experiment: selection, confirmation, scoring, decision, each exactly once.

Everything that was done is read from the ledger, so a second call goes on where the first stopped.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import monotonic

from rx_tools.errors import IntegrityError
from rx_tools.evidence.run_dir import pretty
from rx_tools.model.names import ArmName, CheckpointUri
from rx_tools.planning import evidence_names as names
from rx_tools.planning.plan import PlannedArm
from rx_tools.planning.selection import Choice, choose, selection_section
from rx_tools.runner.arms.arm import ArmJob, PairedBatches, Workshop
from rx_tools.runner.arms.arm_loop import train_arm
from rx_tools.runner.arms.parallel import side_by_side
from rx_tools.runner.arms.recovery import recovered
from rx_tools.runner.arms.resume import known_batches, steps_completed
from rx_tools.runner.arms.score_arm import score_arm
from rx_tools.runner.arms.stop import StopSignal
from rx_tools.runner.preflight.measure import known_starts
from rx_tools.runner.whole import clearance
from rx_tools.runner.whole.clearance import events
from rx_tools.runner.whole.record import post
from rx_tools.runner.whole.restores import configured_rate, restores_of
from rx_tools.runner.whole.workbench import Workbench
from rx_tools.runner.wire.capacity import CapacityPolicy
from rx_tools.runner.wire.patient import PatientService


def workshop(bench: Workbench, stop: StopSignal) -> Workshop:
    """What the arms of this run work with."""
    return Workshop(
        service=bench.service,
        ledger=bench.ledger,
        batches=bench.data,
        evidence=bench.run.evidence,
        work=bench.run.work,
        capacity=capacity_policy(bench, stop),
        stop=stop,
        paired=PairedBatches(known_batches(bench.ledger.lines)),
        tell=bench.watch,
    )


def patient(bench: Workbench, stop: StopSignal) -> Workbench:
    """The same workbench, whose service waits by the contract's policy when it is full."""
    policy = capacity_policy(bench, stop)
    return replace(bench, service=PatientService(bench.service, policy, stop))


def capacity_policy(bench: Workbench, stop: StopSignal) -> CapacityPolicy:
    """The contract's policy; a stop ends every pause at once."""
    return CapacityPolicy(
        monotonic,
        stop.sleep,
        lambda: steps_completed(bench.ledger.lines),
        lambda error, seconds: note_wait(bench, str(error), seconds),
    )


def note_wait(bench: Workbench, error: str, seconds: float) -> None:
    """A pause for capacity goes into the ledger and into the record before it begins."""
    bench.ledger.append("capacity_waited", {"error": error, "seconds": seconds})
    post(bench.run, bench.ledger, "Waiting for capacity of the training service.")


def done(bench: Workbench, event: str) -> set[str]:
    """The arms of which the ledger has this event."""
    return {str(data["arm"]) for data in events(bench.ledger.lines, event)}


def final_uri(bench: Workbench, arm: str) -> CheckpointUri:
    """The final checkpoint of a finished arm."""
    ended = [data for data in events(bench.ledger.lines, "arm_finished") if data["arm"] == arm]
    return CheckpointUri(str(ended[-1]["uri"]))


def job_of(bench: Workbench, arm: PlannedArm, number: int) -> ArmJob:
    """The arm as the loop trains it; raises when its rate was never frozen."""
    start = known_starts(bench)[arm.seed]
    rate, schedule = rate_of(bench, arm), bench.plan.schedule
    return ArmJob(
        name=arm.name,
        seed=arm.seed,
        steps=arm.steps,
        config=bench.config(arm, seeded=start.uri is None),
        learning_rate=lambda step: schedule.rate(rate, step, arm.steps),
        initial=start.uri,
        clearance=f"clearance-{number}.json",
        checkpoint_every=bench.plan.checkpoint_every,
    )


def rate_of(bench: Workbench, arm: PlannedArm) -> float:
    """The arm's planned rate, or the one that the selection froze for its role."""
    rate = configured_rate(bench.plan, bench.ledger.lines, arm.name)
    if rate is None:
        raise IntegrityError(
            "its learning rate is not frozen yet",
            where=arm.name,
            hint="train the selection arms first; `rx run` does both in order",
        )
    return rate


def run_arm(bench: Workbench, shop: Workshop, arm: PlannedArm, *, resume: bool) -> None:
    """Clear, train, score and record one arm; what is done already is left alone."""
    if arm.name not in done(bench, "arm_finished"):
        number = clearance.admit(
            bench.run, bench.ledger, bench.service.identity(), arm.name, resume=resume
        )
        train_arm(job_of(bench, arm, number), shop, resume=resume)
    if arm.name not in done(bench, "arm_scored"):
        publish_restores(bench, arm.name)
        uri = final_uri(bench, arm.name)
        recovered(shop, arm.name, lambda: score_arm(bench, arm, uri))
        post(bench.run, bench.ledger, progress_sentence(bench))


def publish_restores(bench: Workbench, arm: str) -> None:
    """What was restored, and what the server showed of the optimizer afterwards."""
    restores = restores_of(bench.ledger.lines, arm)
    if restores:
        rows = [dict(restore) for restore in restores]
        bench.run.put_evidence(names.restores_file(arm), pretty({"arm": arm, "restores": rows}))


def progress_sentence(bench: Workbench) -> str:
    """One plain sentence for a running record."""
    finished = len(done(bench, "arm_scored") - {names.BASE})
    return f"{finished} of {len(bench.plan.arms)} arms are trained and scored."


def run_arms(
    bench: Workbench, shop: Workshop, arms: Sequence[PlannedArm], *, jobs: int, resume: bool
) -> None:
    """Run the arms in order, `jobs` at a time; the first failure stops the ones that follow."""
    tasks = {str(arm.name): partial(run_arm, bench, shop, arm, resume=resume) for arm in arms}
    side_by_side(tasks, shop.stop, width=jobs)


def freeze_selection(bench: Workbench) -> Mapping[str, Choice]:
    """Choose each grid's rate by its validation score and freeze it; once, and for ever."""
    choices = {grid.id: choose(grid, search_scores(bench)) for grid in bench.plan.grids}
    if events(bench.ledger.lines, "selection_frozen"):
        return choices
    selected = {grid: choice.rate for grid, choice in choices.items()}
    selection = selection_section(bench.plan.grids, selected)
    scores = {arm: score for arm, score in search_scores(bench).items() if arm in searched(bench)}
    published = bench.publish_json(names.SELECTION, selection | {"scores": scores})
    data = {
        "selected": selected,
        "edge": {grid: choice.edge for grid, choice in choices.items()},
        "selection": selection,
    }
    bench.ledger.append("selection_frozen", data, {published.name: published.sha256})
    for choice in choices.values():
        bench.tell(choice.warning or f"{choice.grid}: the rate {choice.rate:g} is selected")
    return choices


def searched(bench: Workbench) -> set[ArmName]:
    """The arms of every grid."""
    return {arm for grid in bench.plan.grids for arm in grid.arms}


def search_scores(bench: Workbench) -> dict[ArmName, float]:
    """The validation score of every arm that was scored."""
    scored = events(bench.ledger.lines, "arm_scored")
    return {ArmName(str(data["arm"])): float(data["value"]) for data in scored}


def with_rate(bench: Workbench, arm: PlannedArm) -> PlannedArm:
    """The arm with its frozen rate."""
    return replace(arm, learning_rate=rate_of(bench, arm))
