"""Where an arm stands, read from the ledger alone: what counts is what was acknowledged."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from rx_tools.errors import IntegrityError
from rx_tools.evidence.ledger import LedgerLine
from rx_tools.evidence.timeline import metrics_row
from rx_tools.model.names import ArmName, CheckpointUri, Sha256


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A saved state: how many updates it holds, its reference, the server's digest of it."""

    step: int
    uri: CheckpointUri
    state_sha256: str | None = None


@dataclass(slots=True)
class ArmHistory:
    """The arm's surviving updates (`rows[k]` is step k) and everything needed to go on."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    checkpoints: list[Checkpoint] = field(default_factory=list)
    attempts: int = 0
    restores: int = 0
    finished: CheckpointUri | None = None

    @property
    def last(self) -> Checkpoint | None:
        """The checkpoint that a resume loads; None means the arm's initialization."""
        return self.checkpoints[-1] if self.checkpoints else None

    @property
    def resume_step(self) -> int:
        """The number of updates that survive a resume."""
        return self.last.step if self.last else 0

    @property
    def must_restore(self) -> bool:
        """Whether going on means loading something after updates had been made."""
        return bool(self.rows or self.checkpoints)


def arm_history(lines: Iterable[LedgerLine], arm: ArmName) -> ArmHistory:
    """Replay the ledger. Raises `IntegrityError` where an update is missing or doubled."""
    history = ArmHistory()
    for line in lines:
        if line.data.get("arm") == arm:
            _replay(history, line)
    return history


def metrics_rows(lines: Iterable[LedgerLine], arm: ArmName) -> list[dict[str, Any]]:
    """One row per surviving update of the arm, in order."""
    return arm_history(lines, arm).rows


def known_batches(lines: Iterable[LedgerLine]) -> dict[tuple[int, int], Sha256]:
    """(seed, step) → batch digest of everything that any arm trained on so far."""
    updates = (line.data for line in lines if line.event == "update_acknowledged")
    return {
        (int(data["seed"]), int(data["step"])): Sha256(data["batch_sha256"])
        for data in updates
        if "seed" in data
    }


def steps_completed(lines: Iterable[LedgerLine]) -> int:
    """How many updates were ever acknowledged in this run."""
    return sum(1 for line in lines if line.event == "update_acknowledged")


def _replay(history: ArmHistory, line: LedgerLine) -> None:
    data = line.data
    match line.event:
        case "arm_started":
            history.attempts += 1
        case "update_acknowledged":
            _expect(line, len(history.rows))
            history.rows.append(metrics_row(data, line.time))
        case "checkpoint_saved":
            _expect(line, len(history.rows))
            history.checkpoints.append(
                Checkpoint(int(data["step"]), CheckpointUri(data["uri"]), data.get("state_sha256"))
            )
        case "arm_restored":
            history.restores += 1
            _go_back(history, int(data["step"]), line)
        case "arm_finished":
            _expect_finished(line, history)
            history.finished = CheckpointUri(data["uri"])


def _go_back(history: ArmHistory, step: int, line: LedgerLine) -> None:
    if step > len(history.rows):
        raise IntegrityError(f"restored {step} updates of {len(history.rows)}", where=_where(line))
    del history.rows[step:]
    history.checkpoints = [point for point in history.checkpoints if point.step <= step]


def _expect(line: LedgerLine, step: int) -> None:
    if line.data.get("step") != step:
        raise IntegrityError(
            f"{line.event} of step {line.data.get('step')} where {step} was due", where=_where(line)
        )


def _expect_finished(line: LedgerLine, history: ArmHistory) -> None:
    if line.data.get("steps") != len(history.rows):
        raise IntegrityError(
            f"finished after {line.data.get('steps')} steps, but {len(history.rows)} were "
            "acknowledged",
            where=_where(line),
        )


def _where(line: LedgerLine) -> str:
    return f"ledger line {line.seq}, arm {line.data.get('arm')}"
