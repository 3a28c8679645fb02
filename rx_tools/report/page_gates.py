"""The gates twice: as the ledger recorded them, and as the newest record is judged now."""

from collections.abc import Mapping
from dataclasses import dataclass

from rx_tools.checks.validation import judge_all
from rx_tools.evidence.retained import retained_evidence
from rx_tools.model.names import Gate
from rx_tools.model.result import Level, Result
from rx_tools.report.run_gates import GateView
from rx_tools.report.run_view import RunView

ENDED = ("succeeded", "failed")
DECIDING = (Level.ERROR, Level.UNVERIFIED)


@dataclass(frozen=True, slots=True)
class GateRow:
    """One gate. `now` is its answer on the final record, None while the run has not ended."""

    name: str
    ledger: GateView | None
    now: Result | None

    @property
    def reasons(self) -> list[str]:
        """Every reason once: those of the ledger, then those of the answer that keep it closed."""
        recorded = list(self.ledger.reasons) if self.ledger else []
        if self.now is None or self.now.status.opens:
            return recorded
        deciding = [one.message for one in self.now.reasons if one.level in DECIDING]
        return list(dict.fromkeys([*recorded, *deciding[:5]]))


def gate_rows(view: RunView) -> list[GateRow]:
    """Every gate that the ledger, the plan or the answer on the final record knows."""
    recorded = {gate.name: gate for gate in view.gates}
    answers = {gate.value: result for gate, result in answers_now(view).items()}
    names = dict.fromkeys((*(gate.value for gate in Gate), *recorded))
    return [
        GateRow(name, recorded.get(name), answers.get(name))
        for name in names
        if name in recorded or name in answers
    ]


def answers_now(view: RunView) -> Mapping[Gate, Result]:
    """What the exchange's server answers to the final record; empty before there is one."""
    if view.record.status not in ENDED or not view.run.evidence.is_dir():
        return {}
    evidence = retained_evidence(view.record.raw, view.run.evidence)
    return judge_all(view.spec, view.record.raw, evidence)
