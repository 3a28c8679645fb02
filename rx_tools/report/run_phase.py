"""In which phase a run is, and the one thing to do next."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from rx_tools.evidence.ledger_line import LedgerLine
from rx_tools.evidence.ledger_reading import LedgerReading
from rx_tools.planning.plan import Plan
from rx_tools.report.run_arms import ArmState, ArmView
from rx_tools.report.run_gates import ClearanceView, GateView

MENDABLE = ("unverified", "unknown")


class Phase(StrEnum):
    """The stages of a run, in order; `FAILED` is the end of a run that could not finish."""

    PLANNED = "planned"
    PREFLIGHT = "preflight"
    CLOSED = "gates closed"
    CLEARED = "cleared"
    SELECTION = "selection"
    CONFIRMATION = "confirmation"
    DECIDING = "deciding"
    FINISHED = "finished"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Standing:
    """What the next step depends on. `live`: a process holds the ledger; None: cannot be told."""

    place: Path
    phase: Phase
    live: bool | None
    interrupted: str
    reading: LedgerReading
    gates: Sequence[GateView]
    arms: Sequence[ArmView]
    bundle: Path | None


def phase_of(
    plan: Plan,
    lines: Sequence[LedgerLine],
    arms: Sequence[ArmView],
    clearances: Sequence[ClearanceView],
    *,
    failed: bool,
) -> Phase:
    """The furthest stage that the ledger proves."""
    seen = {line.event for line in lines}
    scored = bool(arms) and all(arm.state is ArmState.SCORED for arm in arms)
    searching = bool(plan.selection) and "selection_frozen" not in seen
    reached = {
        Phase.FINISHED: "decision_made" in seen,
        Phase.FAILED: failed,
        Phase.DECIDING: scored,
        Phase.SELECTION: "arm_started" in seen and searching,
        Phase.CONFIRMATION: "arm_started" in seen,
        Phase.CLEARED: bool(clearances),
        Phase.CLOSED: "gate_judged" in seen,
        Phase.PREFLIGHT: "probe_started" in seen,
    }
    return next((phase for phase, is_reached in reached.items() if is_reached), Phase.PLANNED)


def interruption(lines: Sequence[LedgerLine]) -> str:
    """Why the last process stopped; empty while nothing says so, or after work went on."""
    for line in reversed(lines):
        if line.event in ("run_interrupted", "arm_stopped"):
            return str(line.data.get("reason") or "interrupted")
        if line.event not in ("record_posted", "bundle_written"):
            return ""
    return ""


def next_step(at: Standing) -> str:
    """One sentence."""
    if at.reading.damage:
        return (
            f"The ledger is damaged ({at.reading.damage[0]}): keep this directory as it is, "
            "and start a new run."
        )
    if at.live and at.phase is not Phase.FINISHED:
        return "A process is writing to this run now: look again later."
    return SENTENCES[at.phase](at)


def again(at: Standing) -> str:
    """How work goes on from where it stopped."""
    because = f" It stopped: {at.interrupted.rstrip('.')}." if at.interrupted else ""
    return f"Go on with `rx run --resume --run-dir {quoted(at.place)}`.{because}"


def open_gates(at: Standing) -> str:
    """What to do about the gates that are closed."""
    closed = [gate for gate in at.gates if gate.judged and not gate.opens and not gate.accepted]
    hard = [gate.name for gate in closed if gate.status not in MENDABLE]
    if hard:
        return f"Mend what the reasons of {listed(hard)} name, and start a new run."
    names = [gate.name for gate in closed]
    if not names:
        return again(at)
    options = " ".join(f"--accept-unverified {name}" for name in names)
    return (
        f"Supply the evidence that {listed(names)} lacks, or run the preflight with "
        f"`{options}`, which caps the verdict at inconclusive."
    )


def pack(at: Standing) -> str:
    """A finished run is packed once and verified by anybody."""
    if at.bundle is None:
        return f"Pack it: `rx bundle {quoted(at.place)}`."
    return f"Nothing: it is packed; anybody can check it with `rx verify {quoted(at.bundle)}`."


def start_over(at: Standing) -> str:
    """A run whose record says `failed` stays what it is."""
    because = f" ({at.interrupted.rstrip('.')})" if at.interrupted else ""
    return f"The run ended before its decision{because}: its record can be handed in as it is."


SENTENCES = {
    Phase.PLANNED: again,
    Phase.PREFLIGHT: again,
    Phase.CLOSED: open_gates,
    Phase.CLEARED: again,
    Phase.SELECTION: again,
    Phase.CONFIRMATION: again,
    Phase.DECIDING: again,
    Phase.FINISHED: pack,
    Phase.FAILED: start_over,
}


def quoted(path: Path) -> str:
    """A path as a shell takes it."""
    return shlex.quote(str(path))


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
