"""What the ledger says of clearances, of the gates behind them, of scores and of the decision."""

from collections.abc import Iterator
from typing import Any

from rx_tools.evidence.claim import Claim, contradicted, verified
from rx_tools.evidence.contents import json_object
from rx_tools.evidence.digest import Files
from rx_tools.evidence.layout import PLAN, RECORD, RUN, SPEC, in_evidence
from rx_tools.evidence.ledger_line import LedgerLine
from rx_tools.evidence.timeline import Timeline
from rx_tools.model.json import JsonObject, as_list, as_object
from rx_tools.model.names import Gate
from rx_tools.model.record import Record
from rx_tools.model.result import Status
from rx_tools.planning import evidence_names as names

OPEN = (Status.PASSED, Status.NOT_APPLICABLE)
MAY_BE_ACCEPTED = (Status.UNVERIFIED, Status.UNKNOWN)
BEFORE_TRAINING = (Gate.CORRECTNESS, Gate.RESTORATION, Gate.ACTIVATION, Gate.FEASIBILITY)
CLAIMING = ("supported", "refuted")


def verify_cleared(files: Files, history: Timeline, record: Record) -> Iterator[Claim]:
    """Clearances came from open gates, were issued to who spent them, and scores from scoring."""
    wrong = [
        *document_faults(files, history),
        *clearance_faults(history),
        *spending_faults(history),
        *score_faults(history, record),
        *decision_faults(history, record),
    ]
    yield from wrong
    if not wrong:
        spent = len(history.data("clearance_spent"))
        yield verified("clearances", f"{spent} were spent by arms that open gates had cleared")


def document_faults(files: Files, history: Timeline) -> Iterator[Claim]:
    """Each clearance says what the ledger says of it, and binds the files of this bundle."""
    run = json_object(files, RUN).get("run_id")
    bound = {"run_id": run, "spec_sha256": files.sha256(SPEC), "plan_sha256": files.sha256(PLAN)}
    for line in history.events.get("clearance_issued", ()):
        number = line.data.get("clearance")
        path = f"clearance-{number}.json"
        if path not in files:
            continue
        clearance = json_object(files, path)
        binding = as_object(clearance.get("binding"))
        told = {"number": number, "arms": line.data.get("arms")}
        gates = statuses_before(history, line.seq)
        yield from differing(path, clearance, told)
        yield from differing(f"{path} gates", as_object(clearance.get("gates")), gates)
        yield from differing(f"{path} binding", binding, bound)
        yield from evidence_faults(files, path, as_object(binding.get("evidence")))


def evidence_faults(files: Files, path: str, bound: JsonObject) -> Iterator[Claim]:
    """What was measured for a clearance is bound by it, and is still what it was."""
    versions = set(map(names.first_version, bound))
    for name in names.MEASURED:
        if in_evidence(name) in files and name not in versions:
            yield contradicted(path, f"does not bind {name}, which was measured for it")
    for name, digest in bound.items():
        place = in_evidence(name)
        if place not in files or files.sha256(place) != digest:
            yield contradicted(path, f"binds a {name} that is not the one in the evidence")


def differing(subject: str, stated: JsonObject, derived: JsonObject) -> Iterator[Claim]:
    """Every member that is not stated as it is derived."""
    for key, value in derived.items():
        if stated.get(key) != value:
            yield contradicted(subject, f"{key} is stated as {stated.get(key)!r}, not {value!r}")


def clearance_faults(history: Timeline) -> Iterator[Claim]:
    """Every gate was judged, and open or accepted as unverified, when a clearance was issued."""
    for issued in history.events.get("clearance_issued", ()):
        told = statuses_before(history, issued.seq)
        accepted = {
            line.data.get("gate") for line in before(history, "unverified_accepted", issued)
        }
        subject = f"clearance {issued.data.get('clearance')}"
        for gate in BEFORE_TRAINING:
            if gate.value not in told:
                yield contradicted(subject, f"was issued before {gate.value} was judged")
        for name, status in told.items():
            passed_over = name in accepted and status in MAY_BE_ACCEPTED
            if status not in OPEN and not passed_over:
                yield contradicted(subject, f"was issued although {name} was {status!r}")


def statuses_before(history: Timeline, seq: int) -> dict[str, Any]:
    """The latest status of every gate of the preflight that was judged before a position."""
    lines = [line.data for line in history.events.get("gate_judged", ()) if line.seq < seq]
    known = (*BEFORE_TRAINING, Gate.GENERATION_AUDIT)
    return {data["gate"]: data.get("status") for data in lines if data.get("gate") in known}


def before(history: Timeline, event: str, line: LedgerLine) -> list[LedgerLine]:
    """The lines of an event that stand before another line."""
    return [earlier for earlier in history.events.get(event, ()) if earlier.seq < line.seq]


def spending_faults(history: Timeline) -> Iterator[Claim]:
    """What an arm spends was issued before, and names the arm."""
    for line in history.events.get("clearance_spent", ()):
        arm, number = line.data.get("arm"), line.data.get("clearance")
        named = [
            arm in as_list(issued.data.get("arms"))
            for issued in before(history, "clearance_issued", line)
            if issued.data.get("clearance") == number
        ]
        if not any(named):
            found = "does not name it" if named else "nobody had issued"
            yield contradicted(str(arm), f"spent clearance {number}, which {found}")


def score_faults(history: Timeline, record: Record) -> Iterator[Claim]:
    """Every recorded loss is the one that the ledger announced when its arm was scored."""
    told = {str(line.data.get("arm")): line.data for line in history.events.get("arm_scored", ())}
    for arm, loss in as_object(record.section("loss_eval").get("arms")).items():
        subject = f"{RECORD} loss of {arm}"
        if arm not in told:
            yield contradicted(subject, "the ledger never scored this arm")
        elif differs(told[arm], as_object(loss)):
            yield contradicted(subject, "is not the one of its scoring in the ledger")

    for score in map(as_object, as_list(record.section("evaluation").get("scores"))):
        value = told.get(str(score.get("arm")), {}).get("value")
        if value is not None and value != score.get("value"):
            message = f"is {score.get('value')!r}, told when it was scored was {value!r}"
            yield contradicted(f"score of {score.get('arm')}", message)


def differs(told: JsonObject, loss: JsonObject) -> bool:
    """Whether a scoring announced another loss, as a whole or by its token mean."""
    if "loss_eval" in told:
        return bool(told["loss_eval"] != loss)
    return bool(told.get("token_mean") != loss.get("token_mean"))


def decision_faults(history: Timeline, record: Record) -> Iterator[Claim]:
    """A verdict that claims something was decided in the ledger, for the recorded reason."""
    decided = history.data("decision_made")
    if not decided and record.verdict in CLAIMING:
        yield contradicted("verdict", f"{record.verdict}, but the ledger decided nothing")
    reason = decided[-1].get("outcome_reason", record.outcome_reason) if decided else None
    if decided and record.outcome_reason is not None and reason != record.outcome_reason:
        message = f"the reason is stated as {record.outcome_reason!r}, decided was {reason!r}"
        yield contradicted("verdict", message)
