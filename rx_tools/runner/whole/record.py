"""The run record, assembled from the ledger and the published evidence alone.

Assembling twice gives the same record, so a resumed run goes on exactly where it stood. Every
update is kept; later ones only add.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any

from rx_tools.errors import IntegrityError, UsageError
from rx_tools.evidence.digest import read_file, sha256_file, sha256_of
from rx_tools.evidence.ledger import Ledger, LedgerLine
from rx_tools.evidence.publish import publish
from rx_tools.evidence.run_dir import RunDir, pretty
from rx_tools.evidence.strict_json import read_document
from rx_tools.model.json import JsonObject, as_list, as_object
from rx_tools.model.names import ArmName
from rx_tools.planning import evidence_names as names
from rx_tools.planning.evaluated import evaluation_section
from rx_tools.planning.figures import BASE_FIGURE, arm_figures
from rx_tools.runner.arms.resume import arm_history
from rx_tools.runner.whole.clearance import events
from rx_tools.runner.whole.restores import with_restores

SECTIONS = {
    names.CORRECTNESS: "correctness_preflight",
    names.RESTORATION: "initialization_provenance",
    names.ACTIVATION: "activation_calibration",
    names.FEASIBILITY: "feasibility",
}
"""Evidence file → the record section that it holds under the same key."""

KINDS = {
    names.SCRIPT: "script",
    names.CONFIG: "effective_config",
    names.REVISION: "code_revision",
}


@dataclass(frozen=True)
class Outcome:
    """How a run ended: execution, verdict, reason, and the figures of the decision."""

    status: str
    verdict: str
    reason: str
    summary: str
    figures: dict[str, float] = field(default_factory=dict)
    capacity_block: dict[str, Any] | None = None


def assemble(
    run: RunDir, lines: Sequence[LedgerLine], summary: str, outcome: Outcome | None = None
) -> dict[str, Any]:
    """The record as it stands; `outcome` only when the run has ended."""
    finished = scored_arms(run, lines)
    record: dict[str, Any] = {
        "status": outcome.status if outcome else "running",
        "summary": outcome.summary if outcome else summary,
        "metrics": metrics(lines, finished, outcome),
        "completed_arms": list(finished),
    }
    if outcome:
        record |= {"verdict": outcome.verdict, "outcome_reason": outcome.reason}
        record |= {"capacity_block": outcome.capacity_block} if outcome.capacity_block else {}
    record |= declared(lines)
    record |= with_restores(run.plan, measured_sections(run), lines)
    record |= evaluation(run, lines)
    record |= {"loss_eval": loss_eval(run, lines)} if finished else {}
    record |= {"decision": decision(run, lines)} if run.newest(names.OBSERVATIONS) else {}
    return record | {"evidence": evidence(run, lines, finished)}


def declared(lines: Sequence[LedgerLine]) -> dict[str, Any]:
    """Deviations as they were declared before training, and what is tested in their place."""
    entries = events(lines, "deviations_declared")
    latest = entries[-1] if entries else {"deviations": [], "original_hypothesis_tested": True}
    record = {
        "deviations": list(as_list(latest.get("deviations"))),
        "original_hypothesis_tested": latest.get("original_hypothesis_tested"),
    }
    instead = latest.get("tested_instead")
    return record | ({"tested_instead": instead} if instead else {})


def measured_sections(run: RunDir) -> dict[str, Any]:
    """The sections that the preflight measured, each from its newest evidence file."""
    found = {key: run.newest(name) for name, key in SECTIONS.items()}
    return {key: as_object(read_document(path).value)[key] for key, path in found.items() if path}


def scored_arms(run: RunDir, lines: Sequence[LedgerLine]) -> dict[str, JsonObject]:
    """Arm → its score event, for every arm that trained to its end and was scored."""
    done = {str(data["arm"]) for data in events(lines, "arm_finished")}
    return {
        arm: data
        for data in events(lines, "arm_scored")
        if (arm := str(data["arm"])) in done and arm != names.BASE
    }


def metrics(
    lines: Sequence[LedgerLine], finished: dict[str, JsonObject], outcome: Outcome | None
) -> dict[str, Any]:
    """The figures: the base evaluation first, then every finished arm, then the decision's."""
    base = [data for data in events(lines, "arm_scored") if data["arm"] == names.BASE]
    figures: dict[str, Any] = {}
    if base:
        figures[BASE_FIGURE] = base[-1]["token_mean"]
    figures |= dict(outcome.figures) if outcome else {}
    figures["arms"] = {arm: arm_metrics(lines, arm, data) for arm, data in finished.items()}
    return figures


def arm_metrics(lines: Sequence[LedgerLine], arm: str, scored: JsonObject) -> dict[str, Any]:
    """What the record says of one arm: its score, its updates and its rate."""
    updates = arm_history(lines, ArmName(arm)).rows
    finished = [data for data in events(lines, "arm_finished") if data["arm"] == arm]
    steps, losses = finished[-1]["steps"], [row.get("train_nll") for row in updates]
    return arm_figures(scored, steps, losses)


def evaluation(run: RunDir, lines: Sequence[LedgerLine]) -> dict[str, Any]:
    """The evaluators as frozen before anything was scored, every score, and what is compared."""
    frozen, scored = events(lines, "evaluator_frozen"), events(lines, "arm_scored")
    return {"evaluation": evaluation_section(run.plan, frozen, scored)} if frozen else {}


def loss_eval(run: RunDir, lines: Sequence[LedgerLine]) -> dict[str, Any]:
    """The held-out loss record of the confirmation arms."""
    arms = {
        str(data["arm"]): data["loss_eval"]
        for data in events(lines, "arm_scored")
        if data["items"] == "confirmation" and run.plan.arm(str(data["arm"]))
    }
    return {"aggregation": run.plan.evaluation.aggregation, "arms": arms}


def decision(run: RunDir, lines: Sequence[LedgerLine]) -> dict[str, Any]:
    """The reference to the observation rows, where there are some, and the frozen selection."""
    section: dict[str, Any] = {"version": 1}
    rows = run.newest(names.OBSERVATIONS)
    if rows:
        section["observations_file"] = {"name": rows.name, "sha256": sha256_file(rows)}
    frozen = events(lines, "selection_frozen")
    return section | ({"selection": frozen[-1]["selection"]} if frozen else {})


def evidence(
    run: RunDir, lines: Sequence[LedgerLine], finished: dict[str, JsonObject]
) -> dict[str, Any]:
    """Every published file by name, kind and hash; final checkpoints; figures per arm."""
    files = sorted(path for path in run.evidence.iterdir() if path.is_file())
    return {
        "version": 1,
        "files": [
            {"name": path.name, "kind": kind_of(path.name), "sha256": sha256_file(path)}
            for path in files
            if not path.name.startswith(".")
        ],
        "checkpoints": [
            {"arm": data["arm"], "step": data["steps"], "uri": data["uri"]}
            for data in events(lines, "arm_finished")
        ],
        "per_arm_metrics": {arm: arm_metrics(lines, arm, data) for arm, data in finished.items()},
    }


def kind_of(name: str) -> str:
    """The evidence kind of a published file, from its planned name."""
    if name in KINDS:
        return KINDS[name]
    return "predictions" if name.startswith("predictions-") else "metrics"


POSTING = Lock()


def post(
    run: RunDir, ledger: Ledger, summary: str, outcome: Outcome | None = None
) -> dict[str, Any]:
    """Write the next update and announce it; the ledger's files name its digest.

    One at a time: arms that run side by side would take the same number.
    """
    with POSTING:
        record = assemble(run, ledger.lines, summary, outcome)
        name = f"record-{len(run.record_paths()) + 1:04d}.json"
        published = publish(run.updates, name, pretty(record))
        data = {"update": name, "status": record["status"]}
        ledger.append("record_posted", data, {name: published.sha256})
    return record


def with_contents(
    run: RunDir, record: JsonObject, attached: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    """The record to hand in: every evidence file with its text, so that nothing is left behind.

    A file that `attached` names goes by its URL and its SHA-256.
    """
    section = dict(as_object(record.get("evidence")))
    entries = [dict(entry) for entry in as_list(section.get("files"))]
    if unknown := sorted(attached.keys() - {entry["name"] for entry in entries}):
        raise UsageError(f"the record lists no evidence file {unknown[0]}", where="--attach")
    for entry in entries:
        content = content_of(run.evidence / str(entry["name"]), entry["sha256"])
        url = attached.get(entry["name"])
        entry.update({"content": content} if url is None else {"source_url": url})
    return dict(record) | {"evidence": section | {"files": entries}}


def content_of(path: Path, digest: str) -> str:
    """The exact text of an evidence file, as it was published; all of them are UTF-8."""
    content = read_file(path)
    if sha256_of(content) == digest:
        return content.decode()
    raise IntegrityError(
        "is not what the record lists", where=str(path), hint="its bytes changed after publishing"
    )
