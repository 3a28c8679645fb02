"""A ledger as a story: one row per thing that happened, updates of an arm told as one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from rx_tools.evidence.ledger_line import LedgerLine
from rx_tools.model.json import as_list, as_object, is_number

QUIET = ("record_posted", "checkpoint_saved", "optimizer_checked", "clearance_spent")
"""Events that are shown smaller: they happen around every other."""


@dataclass(frozen=True, slots=True)
class Row:
    """Something that happened between two moments, in ledger lines `first..last`."""

    first: int
    last: int
    begun: datetime
    ended: datetime
    event: str
    words: str
    count: int = 1

    @property
    def quiet(self) -> bool:
        """Whether it is told in passing."""
        return self.event in QUIET


def story(lines: Sequence[LedgerLine]) -> list[Row]:
    """Every line once, in order; a row stands where its first line stands."""
    rows: list[Row] = []
    growing: dict[tuple[str, str], int] = {}
    for line in lines:
        key = key_of(line)
        arm = str(line.data.get("arm", ""))
        if key in growing:
            rows[growing[key]] = grown(rows[growing[key]], line)
            continue
        growing = {known: at for known, at in growing.items() if keeps(known, line.event, arm)}
        if key[0] in JOINED:
            growing[key] = len(rows)
        rows.append(Row(line.seq, line.seq, line.moment, line.moment, line.event, words_of(line)))
    return rows


JOINED = ("update_acknowledged", "gate_judged", "initialization_recorded")
"""Events of which several in a row make one row."""


def key_of(line: LedgerLine) -> tuple[str, str]:
    """What belongs together: the event, and the arm for updates."""
    return line.event, str(line.data.get("arm", ""))


def keeps(known: tuple[str, str], event: str, arm: str) -> bool:
    """Whether a row goes on growing after this line: a checkpoint does not end a stretch."""
    name, own = known
    if name == "update_acknowledged":
        return own != arm or event == "checkpoint_saved"
    return event == name


def grown(row: Row, line: LedgerLine) -> Row:
    """The row with one line more."""
    more = f"{row.words}; {words_of(line)}" if line.event == "gate_judged" else row.words
    if line.event == "update_acknowledged":
        more = update_words(line, row.count + 1)
    return replace(row, last=line.seq, ended=line.moment, count=row.count + 1, words=more)


def words_of(line: LedgerLine) -> str:
    """One line in words."""
    if line.event == "update_acknowledged":
        return update_words(line)
    tell = WORDS.get(line.event)
    return tell(line.data) if tell else line.event.replace("_", " ")


def update_words(line: LedgerLine, count: int = 1) -> str:
    """How many updates of an arm, and the loss at the last."""
    loss = line.data.get("train_nll")
    tail = f", training loss {loss:.4f}" if is_number(loss) else ""
    noun = "update" if count == 1 else "updates"
    return f"{line.data.get('arm')}: {count} {noun}, up to step {line.data.get('step')}{tail}"


def arm_words(verb: str) -> Callable[[Mapping[str, Any]], str]:
    """`<arm> <verb>`."""
    return lambda data: f"{data.get('arm')} {verb}"


def scored_words(data: Mapping[str, Any]) -> str:
    """An arm's score."""
    value = data.get("value", data.get("token_mean"))
    shown = f"{value:.6f}" if is_number(value) else "no finite value"
    return f"{data.get('arm')} scored on the {data.get('items')} items: {shown}"


def restored_words(data: Mapping[str, Any]) -> str:
    """A restore, and what it cost."""
    gone = len(as_list(data.get("refused")))
    return (
        f"{data.get('arm')} restored to {data.get('step')} updates "
        f"(restore {data.get('restore')}, {data.get('discarded')} updates discarded"
        f"{f', {gone} later checkpoints refused' if gone else ''})"
    )


def stopped_words(data: Mapping[str, Any]) -> str:
    """A stop and its reason."""
    return f"{data.get('arm')} stopped after {data.get('step')} updates: {data.get('reason')}"


def selected_words(data: Mapping[str, Any]) -> str:
    """The frozen rates."""
    chosen = as_object(data.get("selected"))
    rates = ", ".join(
        f"{role} {rate:g}" if is_number(rate) else f"{role} {rate}" for role, rate in chosen.items()
    )
    return f"selection frozen: {rates}"


def clearance_words(data: Mapping[str, Any]) -> str:
    """A clearance and how many arms it names."""
    return f"clearance {data.get('clearance')} issued for {len(as_list(data.get('arms')))} arms"


WORDS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "run_created": lambda data: f"run created{' as a rehearsal' if data.get('rehearsal') else ''}",
    "plan_frozen": lambda data: "plan frozen",
    "deviations_declared": lambda data: (
        f"{len(as_list(data.get('deviations')))} deviations declared"
    ),
    "evaluator_frozen": lambda data: f"evaluator of the {data.get('items')} items frozen",
    "probe_started": lambda data: f"probe started: {data.get('probe')}",
    "probe_finished": lambda data: f"probe finished: {data.get('probe')}",
    "initialization_recorded": lambda data: "initializations recorded",
    "gate_judged": lambda data: f"{data.get('gate')} {data.get('status')}",
    "unverified_accepted": lambda data: f"{data.get('gate')} accepted although unverified",
    "clearance_issued": clearance_words,
    "clearance_spent": arm_words("spends its clearance"),
    "optimizer_checked": arm_words("optimizer checked"),
    "arm_started": arm_words("started"),
    "checkpoint_saved": lambda data: f"{data.get('arm')} saved with {data.get('step')} updates",
    "arm_restored": restored_words,
    "arm_stopped": stopped_words,
    "arm_finished": lambda data: f"{data.get('arm')} trained: {data.get('steps')} steps",
    "scoring_started": lambda data: f"scoring of {data.get('arm')} started",
    "arm_scored": scored_words,
    "selection_frozen": selected_words,
    "capacity_waited": lambda data: f"waited {data.get('seconds')} s for capacity",
    "decision_made": lambda data: f"decided: {data.get('verdict')} ({data.get('outcome_reason')})",
    "record_posted": lambda data: f"record posted: {data.get('status')}",
    "bundle_written": lambda data: f"bundle written: root {data.get('root_digest')}",
    "run_interrupted": lambda data: f"interrupted: {data.get('reason')}",
}
