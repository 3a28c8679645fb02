"""The ledger level: the chain, what it announced, and the order of what happened."""

from collections.abc import Iterator, Mapping
from typing import Any

from rx_tools.evidence.claim import Claim, agree, beyond, contradicted, incomplete, verified
from rx_tools.evidence.digest import Files
from rx_tools.evidence.layout import FOLDERS, LEDGER, PLAN, RUN, SPEC
from rx_tools.evidence.ledger_line import LedgerLine
from rx_tools.evidence.ledger_reading import LedgerReading
from rx_tools.evidence.timeline import NEVER, ArmTimeline, Timeline
from rx_tools.model.json import as_list, as_object
from rx_tools.model.record import Record

KNOWN_EVENTS = frozenset(
    {
        "run_created",
        "plan_frozen",
        "evaluator_frozen",
        "deviations_declared",
        "probe_started",
        "probe_finished",
        "initialization_recorded",
        "optimizer_checked",
        "gate_judged",
        "unverified_accepted",
        "clearance_issued",
        "clearance_spent",
        "arm_started",
        "update_acknowledged",
        "checkpoint_saved",
        "arm_restored",
        "arm_stopped",
        "arm_finished",
        "scoring_started",
        "arm_scored",
        "selection_frozen",
        "capacity_waited",
        "decision_made",
        "record_posted",
        "bundle_written",
        "run_interrupted",
    }
)


def verify_chain(reading: LedgerReading) -> Iterator[Claim]:
    """Every line follows the one before it."""
    yield from (contradicted(LEDGER, str(finding)) for finding in reading.findings)
    if not reading.findings:
        head = reading.head
        yield verified(LEDGER, f"{head.count} lines chained up to {head.sha256}")
    unknown = sorted({line.event for line in reading.lines} - KNOWN_EVENTS)
    if unknown:
        yield incomplete(LEDGER, f"events that this version does not know: {', '.join(unknown)}")
    yield beyond(LEDGER, "the times are those of the executor's own clock")


def verify_announced(history: Timeline, files: Files) -> Iterator[Claim]:
    """What the ledger announced is there, unchanged, and was announced once."""
    good = 0
    for name, lines in sorted(history.announced.items()):
        path = next((path for path in places(name) if path in files), "")
        digests = {digest for _, digest in lines}
        if not path:
            yield contradicted(name, f"ledger line {lines[0][0]} announced it, but it is missing")
        elif digests != {files.sha256(path)}:
            yield contradicted(name, f"ledger line {lines[-1][0]} announced another SHA-256")
        else:
            good += 1
    yield verified(LEDGER, f"{good} announced files are there as announced")


def verify_run(history: Timeline, run: Mapping[str, Any], record: Record) -> Iterator[Claim]:
    """What the ledger said when the run began and ended is what the documents say."""
    begun, decided = history.data("run_created"), history.data("decision_made")
    if not begun:
        yield contradicted(RUN, "the ledger never created the run")
    for key, value in (begun[0] if begun else {}).items():
        if key in run:
            yield agree(RUN, key, run[key], value)
    if decided and record.verdict is not None:
        yield agree("verdict", "the record's verdict", record.verdict, decided[-1].get("verdict"))


def places(name: str) -> list[str]:
    """Where a file that the ledger names may lie."""
    return [name, *(f"{folder}/{name}" for folder in FOLDERS)]


def verify_plan(history: Timeline, files: Files, plan: Mapping[str, Any]) -> Claim:
    """The plan was frozen first, and is a plan for this spec."""
    if history.known_by(PLAN) > history.first_update:
        return contradicted(PLAN, "was not in the ledger before the first update")
    return agree(PLAN, "the digest of its spec", plan.get("spec_sha256"), files.sha256(SPEC))


def verify_order(history: Timeline, plan: Mapping[str, Any]) -> Iterator[Claim]:
    """The rules about *when*, from the ledger's positions alone."""
    for name, arm in sorted(history.arms.items()):
        yield from verify_arm(name, arm, history)
    if history.first("arm_scored") < NEVER:
        if history.evaluator_frozen_before_scoring():
            yield verified("evaluator", "frozen before anything was scored")
        else:
            yield contradicted("evaluator", "scoring began before an evaluator was frozen")
    if history.first("selection_frozen") < NEVER:
        if history.selection_frozen_before(confirmation_arms(plan)):
            yield verified("selection", "frozen before any confirmation arm started")
        else:
            yield contradicted("selection", "a confirmation arm started before it was frozen")
    yield from late_lines(history)


def confirmation_arms(plan: Mapping[str, Any]) -> list[str]:
    """The arms that had to wait for a selection."""
    arms = map(as_object, as_list(plan.get("arms")))
    return [str(arm.get("name")) for arm in arms if arm.get("phase") == "confirmation"]


def verify_arm(name: str, arm: ArmTimeline, history: Timeline) -> Iterator[Claim]:
    """One arm: cleared before it started, updates in order, scored after it was finished."""
    yield from (contradicted(name, fault) for fault in arm.faults)
    if not arm.starts:
        return
    problems = len(arm.faults)
    if not history.first("clearance_issued") < min(arm.spent, default=NEVER) < arm.starts[0]:
        problems += 1
        yield contradicted(name, "started without having spent a clearance")
    if len(arm.spent) > len({str(line.data.get("clearance")) for line in spent(history, name)}):
        problems += 1
        yield contradicted(name, "spent one clearance twice")
    end = arm.finished.seq if arm.finished else NEVER
    if arm.scored and not end < arm.scored[0]:
        problems += 1
        yield contradicted(name, "was scored before it was finished")
    if not problems:
        counts = f"{len(arm.updates)} updates, {len(arm.restores)} restores, {arm.surviving} steps"
        yield verified(name, f"cleared before it started; {counts}, in order")


def spent(history: Timeline, name: str) -> list[LedgerLine]:
    """The lines by which an arm spent a clearance."""
    return [line for line in history.events["clearance_spent"] if line.data.get("arm") == name]


BEFORE_TRAINING = ("plan_frozen", "evaluator_frozen")


def late_lines(history: Timeline) -> Iterator[Claim]:
    """Announcements that came after the training that they should have preceded."""
    if history.first_update == NEVER:
        return
    for event in BEFORE_TRAINING:
        if not history.first(event) < history.first_update:
            yield contradicted(LEDGER, f"no {event} before the first update")
    judged = {
        line.data.get("gate")
        for line in history.events.get("gate_judged", ())
        if line.seq < history.first_update
    }
    if judged:
        yield verified(LEDGER, f"{len(judged)} gates were judged before the first update")
    else:
        yield contradicted(LEDGER, "no gate was judged before the first update")
    late = [
        line.seq
        for line in history.events.get("deviations_declared", ())
        if line.seq > history.first_update and as_list(line.data.get("deviations"))
    ]
    if late:
        yield contradicted("deviations", f"declared in line {late[0]}, after training began")
