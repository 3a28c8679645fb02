"""What the ledger says about order and counts. Nothing here believes a record.

Times are ledger positions (`seq`, from 1): `a` happened before `b` when its line stands before.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rx_tools.checks.optimizers import Shown, shown
from rx_tools.evidence.ledger_line import LedgerLine
from rx_tools.model.json import as_object
from rx_tools.model.names import Sha256

METRICS = ("step", "train_nll", "learning_rate", "batch_sha256", "tokens", "grad_norm")
NEVER = 1 << 62
"""Later than every line: the position of what did not happen."""


@dataclass(frozen=True, slots=True)
class Restore:
    """The `number`-th restore of an arm (from 1), to a checkpoint that holds `step` updates."""

    seq: int
    number: Any
    step: Any
    uri: Any


@dataclass(slots=True)
class ArmTimeline:
    """One arm. `updates` are (seq, step) of every acknowledged update, replayed ones included.

    `rows[k]` is what the metrics say of step k.
    """

    starts: list[int] = field(default_factory=list)
    updates: list[tuple[int, Any]] = field(default_factory=list)
    surviving: int = 0
    batches: dict[int, Any] = field(default_factory=dict)
    rates: dict[int, Any] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    restores: list[Restore] = field(default_factory=list)
    checks: dict[Any, list[int]] = field(default_factory=lambda: defaultdict(list))
    shown: dict[Any, Shown] = field(default_factory=dict)
    checkpoints: dict[str, Any] = field(default_factory=dict)
    finished: LedgerLine | None = None
    scored: list[int] = field(default_factory=list)
    spent: list[int] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def first_update(self) -> int:
        """The position of the first update, `NEVER` if the arm did not train."""
        return self.updates[0][0] if self.updates else NEVER

    def next_update(self, after: int) -> int:
        """The position of the first update after a position."""
        return next((seq for seq, _ in self.updates if seq > after), NEVER)

    def checked(self, after_restore: Any) -> bool:
        """Whether the optimizer was seen after that restore (0: creation), before it updated."""
        begun = 0
        if after_restore != 0:
            begun = next((r.seq for r in self.restores if r.number == after_restore), NEVER)
        end = self.next_update(begun)
        return any(begun <= seq < end for seq in self.checks.get(after_restore, ()))


@dataclass(frozen=True)
class Timeline:
    """The whole ledger, sorted by what the rules ask for."""

    arms: Mapping[str, ArmTimeline]
    events: Mapping[str, Sequence[LedgerLine]]
    announced: Mapping[str, Sequence[tuple[int, Sha256]]]

    def first(self, event: str) -> int:
        """The position of the first such event, `NEVER` if there is none."""
        lines = self.events.get(event, ())
        return lines[0].seq if lines else NEVER

    def data(self, event: str) -> list[Mapping[str, Any]]:
        """The data of every such event, in order."""
        return [line.data for line in self.events.get(event, ())]

    @cached_property
    def first_update(self) -> int:
        """The position of the first update of any arm."""
        return min((arm.first_update for arm in self.arms.values()), default=NEVER)

    @cached_property
    def updates_acknowledged(self) -> int:
        """How many updates were ever acknowledged, replayed ones included."""
        return sum(len(arm.updates) for arm in self.arms.values())

    def arm(self, name: str) -> ArmTimeline:
        """One arm; an empty timeline for an arm that the ledger does not know."""
        return self.arms.get(name, ArmTimeline())

    def known_by(self, name: str) -> int:
        """The position of the line that first announced a file of this name."""
        return self.announced[name][0][0] if name in self.announced else NEVER

    def evaluator_frozen_before_scoring(self) -> bool:
        """Whether an evaluator was frozen before any arm was scored."""
        scoring = min(self.first("scoring_started"), self.first("arm_scored"))
        return self.first("evaluator_frozen") < scoring

    def selection_frozen_before(self, confirmation: Iterable[str]) -> bool:
        """Whether the selection was frozen before any of these arms started or was scored."""
        frozen = self.first("selection_frozen")
        begun = [seq for name in confirmation for seq in (*self.arm(name).starts, NEVER)[:1]]
        return frozen < NEVER and all(frozen < seq for seq in begun)

    def batch_match(self, pairs: Iterable[tuple[str, str]]) -> float | None:
        """The share of equal batches over pairs of arms; None where nothing can be compared."""
        same = compared = 0
        for left, right in pairs:
            ours, theirs = self.arm(left).batches, self.arm(right).batches
            for step in ours.keys() | theirs.keys():
                compared += 1
                same += step in ours and step in theirs and ours[step] == theirs[step]
        return same / compared if compared else None


def timeline(lines: Iterable[LedgerLine]) -> Timeline:
    """Replay the ledger once. What does not fit together is kept as a fault of its arm."""
    arms: dict[str, ArmTimeline] = defaultdict(ArmTimeline)
    events: dict[str, list[LedgerLine]] = defaultdict(list)
    announced: dict[str, list[tuple[int, Sha256]]] = defaultdict(list)
    for line in lines:
        events[line.event].append(line)
        for name, digest in {**line.files, **announced_clearance(line)}.items():
            announced[name].append((line.seq, digest))
        arm = line.data.get("arm")
        if isinstance(arm, str):
            replay(arms[arm], line)
    return Timeline(dict(arms), dict(events), dict(announced))


def announced_clearance(line: LedgerLine) -> dict[str, Sha256]:
    """A clearance is announced by number and digest, before its file is written."""
    number, digest = line.data.get("clearance"), line.data.get("sha256")
    if line.event == "clearance_issued" and isinstance(number, int) and isinstance(digest, str):
        return {f"clearance-{number}.json": Sha256(digest)}
    return {}


def replay(arm: ArmTimeline, line: LedgerLine) -> None:
    """Take one line of an arm into account."""
    match line.event:
        case "clearance_spent":
            arm.spent.append(line.seq)
        case "arm_started":
            arm.starts.append(line.seq)
        case "update_acknowledged":
            replay_update(arm, line)
        case "checkpoint_saved":
            expect(arm, line, "step", arm.surviving)
            arm.checkpoints[str(line.data.get("uri"))] = line.data.get("step")
        case "arm_restored":
            replay_restore(arm, line)
        case "optimizer_checked":
            note_check(arm, line)
        case "arm_finished":
            expect(arm, line, "steps", arm.surviving)
            arm.finished = line
        case "arm_scored":
            arm.scored.append(line.seq)


def note_check(arm: ArmTimeline, line: LedgerLine) -> None:
    """The optimizer was seen after a restore, which is a number."""
    number = line.data.get("after_restore")
    if isinstance(number, int):
        note_sight(arm, line, number, line.data)
    else:
        arm.faults.append(f"line {line.seq}: after_restore is {number!r}, no number")


def note_sight(arm: ArmTimeline, line: LedgerLine, number: Any, seen: Mapping[str, Any]) -> None:
    """Where the optimizer was seen after a restore (0: creation), and what it showed."""
    if isinstance(number, int):
        arm.checks[number].append(line.seq)
        arm.shown[number] = shown(seen)


def replay_update(arm: ArmTimeline, line: LedgerLine) -> None:
    """An update is due exactly once, after a start and before the end."""
    step = line.data.get("step")
    if not arm.starts:
        arm.faults.append(f"line {line.seq}: an update before the arm was started")
    if arm.finished is not None:
        arm.faults.append(f"line {line.seq}: an update after the arm was finished")
    expect(arm, line, "step", arm.surviving)
    arm.batches[arm.surviving] = line.data.get("batch_sha256")
    arm.rates[arm.surviving] = line.data.get("learning_rate")
    arm.rows.append(metrics_row(line.data, line.time))
    arm.updates.append((line.seq, step))
    arm.surviving += 1


def metrics_row(update: Mapping[str, Any], time: str) -> dict[str, Any]:
    """What an arm's metrics file keeps of an acknowledged update."""
    return {name: update[name] for name in METRICS if name in update} | {"time": time}


def replay_restore(arm: ArmTimeline, line: LedgerLine) -> None:
    """A restore goes back to a step that was reached; restores are numbered from 1."""
    step = line.data.get("step")
    expect(arm, line, "restore", len(arm.restores) + 1)
    number = line.data.get("restore")
    arm.restores.append(Restore(line.seq, number, step, line.data.get("uri")))
    if seen := as_object(line.data.get("optimizer")):
        note_sight(arm, line, number, seen)
    if isinstance(step, int) and 0 <= step <= arm.surviving:
        expect(arm, line, "discarded", arm.surviving - step)
        arm.surviving = step
        arm.batches = {key: value for key, value in arm.batches.items() if key < step}
        arm.rates = {key: value for key, value in arm.rates.items() if key < step}
        del arm.rows[step:]
    else:
        reason = f"line {line.seq}: restored {step!r} updates of {arm.surviving}"
        arm.faults.append(reason)


def expect(arm: ArmTimeline, line: LedgerLine, member: str, due: int) -> None:
    """Note a fault unless a member has the value that the lines before it make due."""
    value = line.data.get(member)
    if type(value) is int and value == due:
        return
    arm.faults.append(f"line {line.seq}: {line.event} has {member} {value!r} where {due} was due")
