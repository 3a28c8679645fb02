"""The line that decides, in one word and one sentence."""

from collections.abc import Sequence
from dataclasses import dataclass

from rx_tools.report.run_effects import EffectView
from rx_tools.report.run_phase import Phase
from rx_tools.report.run_view import RunView

REASONS = {
    "supported": "the interval lies beyond the margin on the good side",
    "refuted": "the interval settles the margin the other way",
    "tie": "the comparison falls within the tie band",
    "mixed_criteria": "some criteria pass and others fail",
    "insufficient_evidence": "the evidence cannot settle the hypothesis",
    "incomplete_execution": "required execution or evaluation did not finish",
}


@dataclass(frozen=True, slots=True)
class Headline:
    """`tone` is the class of its colour: good, bad, open, busy."""

    word: str
    tone: str
    sentence: str
    details: tuple[str, ...]


def headline(view: RunView, effects: Sequence[EffectView]) -> Headline:
    """Verdict or phase, and what it rests on."""
    if view.reading.damage:
        return Headline("damaged ledger", "bad", str(view.reading.damage[0]), (view.next,))
    figures = tuple(sentence for effect in effects if (sentence := figures_of(effect)))
    if view.verdict:
        tone = TONES.get(view.verdict, "open")
        return Headline(view.verdict, tone, reason_of(view), figures)
    if view.phase is Phase.FAILED:
        return Headline("failed", "bad", f"{view.record.summary}", figures)
    progress = f"{sum(arm.score is not None for arm in view.arms)} of {len(view.arms)} arms scored."
    tone = "bad" if view.phase is Phase.CLOSED else "busy"
    return Headline(view.phase.value, tone, f"{progress} {view.next}", figures)


def reason_of(view: RunView) -> str:
    """Why it is that verdict."""
    if view.tested_instead and view.outcome_reason == "insufficient_evidence":
        return "The hypothesis itself was not tested."
    reason = REASONS.get(view.outcome_reason, view.outcome_reason)
    return f"{reason[:1].upper()}{reason[1:]}."


TONES = {"supported": "good", "refuted": "bad", "inconclusive": "open"}


def figures_of(effect: EffectView) -> str:
    """Mean, interval, margin and reading of a criterion; empty before there is an interval."""
    result = effect.result
    if result is None or result.mean is None or result.low is None or result.high is None:
        return ""
    reading = effect.reading or "no reading frozen"
    position = result.reading_margin if effect.reading == "margin" else result.reading_band
    return (
        f"{effect.id}: effect {result.mean:.6g}, {100 * effect.level:.4g} % interval "
        f"[{result.low:.6g}, {result.high:.6g}] over {result.n} seeds against the margin "
        f"{effect.margin:g} ({reading}); the interval alone says {position}."
    )
