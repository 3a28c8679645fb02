"""Where a run stands, as text and as JSON."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from rx_tools import __version__
from rx_tools.evidence.budget import MAX_FILES, MAX_TOTAL
from rx_tools.report.redaction import clean, clean_value
from rx_tools.report.run_arms import ArmView
from rx_tools.report.run_gates import GateView, GridView
from rx_tools.report.run_view import RunView

SCHEMA = "urn:rx:schema:status:1"
SIGNS = {
    "passed": "✓",
    "recomputed": "✓",
    "not_applicable": "·",
    "pending": "…",
    "failed": "✗",
    "invalid": "✗",
}


def status_text(view: RunView) -> str:
    """Plain text without colour; what decides comes first, what to do next comes last."""
    return "\n".join(clean(line) for line in status_lines(view))


def status_lines(view: RunView) -> Iterator[str]:
    """Every line."""
    yield from head_lines(view)
    yield from section("gates", [line for gate in view.gates for line in gate_lines(gate)])
    yield from section("clearances", clearance_lines(view))
    yield from section("arms", arm_lines(view))
    yield from section("selection", [line for grid in view.grids for line in grid_lines(grid)])
    yield ""
    yield f"evidence  {view.budget}"
    yield f"ledger    {ledger_words(view)}"
    yield f"record    {record_words(view)}"
    yield f"next      {view.next}"


def section(title: str, lines: Sequence[str]) -> Iterator[str]:
    """A blank line, the title and the indented lines; nothing where there are no lines."""
    if lines:
        yield ""
        yield title
        yield from (f"  {line}" for line in lines)


def head_lines(view: RunView) -> Iterator[str]:
    """Phase and verdict, the run, and what was tested if that is not the hypothesis."""
    live = ", running now" if view.live and view.phase != "finished" else ""
    verdict = f": {view.verdict} ({view.outcome_reason})" if view.verdict else ""
    yield f"{view.phase}{live}{verdict}"
    kind = kind_words(view)
    yield f"run       {view.run.run_id}{kind}"
    if view.tested_instead:
        yield f"tested    {view.tested_instead}"
    if view.interrupted:
        yield f"stopped   {view.interrupted}"


def kind_words(view: RunView) -> str:
    """Whether it is a rehearsal, and like what."""
    if not view.run.rehearsal:
        return ""
    like = view.run.meta.get("like")
    return f" (rehearsal like {like})" if like else " (rehearsal)"


def gate_lines(gate: GateView) -> Iterator[str]:
    """The gate, and below it each reason that keeps it from opening."""
    taken = " (accepted: the verdict is capped at inconclusive)" if gate.accepted else ""
    yield f"{SIGNS.get(gate.status, '?')} {gate.name:<24}{gate.status}{taken}"
    yield from (f"    {reason}" for reason in gate.reasons)


def clearance_lines(view: RunView) -> list[str]:
    """One line per clearance: how many arms it names, and which have not spent it."""
    lines = []
    for one in view.clearances:
        waiting = [arm for arm in one.arms if arm not in one.spent]
        rest = f"; not spent: {', '.join(waiting)}" if waiting else ""
        lines.append(f"{one.number}  names {len(one.arms)} arms, {len(one.spent)} spent it{rest}")
    return lines


def arm_lines(view: RunView) -> list[str]:
    """A table of the arms, in the plan's order."""
    width = max((len(arm.name) for arm in view.arms), default=3)
    head = f"{'arm':<{width}}  {'rate':>8}  {'steps':>9}  restores      loss     score  state"
    base = []
    if view.base_score is not None:
        base = [f"{'base':<{width}}  {'':>8}  {'':>9}  {'':>8}  {'':>8}  {view.base_score:>8.4f}"]
    return [head, *base, *(arm_line(arm, width) for arm in view.arms)] if view.arms else []


def arm_line(arm: ArmView, width: int) -> str:
    """Name, rate, steps, restores, last training loss, held-out score, state."""
    rate = "" if arm.rate is None else f"{arm.rate:g}"
    loss = "" if arm.last_loss is None else f"{arm.last_loss:.4f}"
    score = "" if arm.score is None else f"{arm.score:.4f}"
    state = f"{arm.state} ({arm.stopped})" if arm.stopped else arm.state
    return (
        f"{arm.name:<{width}}  {rate:>8}  {f'{arm.done}/{arm.steps}':>9}  {arm.restores:>8}  "
        f"{loss:>8}  {score:>8}  {state}"
    )


def grid_lines(grid: GridView) -> Iterator[str]:
    """The role, what was chosen, and every rate with its score."""
    chosen = "not frozen yet" if grid.selected is None else f"{grid.selected:g}"
    edge = ", at the edge of the grid" if grid.at_edge else ""
    points = ", ".join(
        f"{one.rate:g}" + ("" if one.score is None else f" → {one.score:.4f}")
        for one in grid.points
    )
    yield f"{grid.role}: {chosen}{edge} (of {points})"


def ledger_words(view: RunView) -> str:
    """Length, head and health."""
    head = view.reading.head
    if view.reading.damage:
        return f"{head.count} lines, DAMAGED: {view.reading.damage[0]}"
    torn = f", a torn tail of {len(view.reading.torn)} bytes" if view.reading.torn else ""
    return f"{head.count} lines, intact, head {head.sha256}{torn}"


def record_words(view: RunView) -> str:
    """The newest update."""
    if not view.updates:
        return "none posted yet"
    return f"update {view.updates}, {view.record.status}: {view.record.summary}"


def status_json(view: RunView) -> str:
    """The same facts as one document."""
    return json.dumps(clean_value(status_document(view)), indent=1, allow_nan=False)


def status_document(view: RunView) -> dict[str, Any]:
    """Schema, run, phase, gates, clearances, arms, selection, budget, ledger, record, next."""
    head = view.reading.head
    return {
        "schema": SCHEMA,
        "rx_version": __version__,
        "run_dir": str(view.run.path),
        "run_id": view.run.run_id,
        "experiment": view.plan.experiment,
        "rehearsal": view.run.rehearsal,
        "phase": view.phase.value,
        "live": view.live,
        "interrupted": view.interrupted or None,
        "verdict": view.verdict or None,
        "outcome_reason": view.outcome_reason or None,
        "tested_instead": view.tested_instead or None,
        "gates": [gate_json(gate) for gate in view.gates],
        "clearances": [
            {"number": one.number, "arms": list(one.arms), "spent": list(one.spent)}
            for one in view.clearances
        ],
        "base_score": view.base_score,
        "arms": [arm_json(arm) for arm in view.arms],
        "selection": [grid_json(grid) for grid in view.grids],
        "evidence": {
            "files": view.budget.files,
            "bytes": view.budget.total,
            "max_files": MAX_FILES,
            "max_bytes": MAX_TOTAL,
        },
        "ledger": {
            "lines": head.count,
            "head": head.sha256,
            "torn_bytes": len(view.reading.torn),
            "damage": [str(finding) for finding in view.reading.damage],
        },
        "record": {"updates": view.updates, "status": view.record.status},
        "bundle": str(view.bundle) if view.bundle else None,
        "next": view.next,
    }


def gate_json(gate: GateView) -> dict[str, Any]:
    """One gate."""
    return {
        "gate": gate.name,
        "status": gate.status,
        "reasons": list(gate.reasons),
        "accepted_unverified": gate.accepted,
        "applies": gate.why,
    }


def arm_json(arm: ArmView) -> dict[str, Any]:
    """One arm."""
    return {
        "name": arm.name,
        "role": arm.role,
        "seed": arm.seed,
        "phase": arm.phase,
        "learning_rate": arm.rate,
        "state": arm.state.value,
        "steps": arm.done,
        "planned_steps": arm.steps,
        "attempts": arm.attempts,
        "restores": arm.restores,
        "replayed": arm.replayed,
        "last_train_nll": arm.last_loss,
        "score": arm.score,
        "clearance": arm.clearance,
        "stopped": arm.stopped or None,
    }


def grid_json(grid: GridView) -> dict[str, Any]:
    """One grid."""
    return {
        "grid": grid.id,
        "role": grid.role,
        "selected": grid.selected,
        "at_edge": grid.at_edge,
        "points": [
            {"learning_rate": one.rate, "arm": one.arm, "score": one.score} for one in grid.points
        ],
    }
