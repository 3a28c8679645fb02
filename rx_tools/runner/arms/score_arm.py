"""Scoring a model under the frozen evaluator: predictions published, totals in the ledger."""

from rx_tools.model.json import JsonObject
from rx_tools.model.names import CheckpointUri
from rx_tools.planning import evidence_names as names
from rx_tools.planning.plan import PlannedArm
from rx_tools.runner.arms.events import Scored
from rx_tools.runner.arms.hygiene import check_loaded
from rx_tools.runner.arms.score_rows import ScoredAs, jsonl, prediction_rows
from rx_tools.runner.arms.scoring import Scores, score_items
from rx_tools.runner.data.prepared import ItemKind
from rx_tools.runner.preflight.service_check import ServiceFacts
from rx_tools.runner.service import LoadResponse, Model, RefusedError
from rx_tools.runner.whole.clearance import events
from rx_tools.runner.whole.evaluator import freeze_evaluator
from rx_tools.runner.whole.workbench import Workbench


def score_base(bench: Workbench, facts: ServiceFacts) -> tuple[float, int]:
    """Score the untrained model on the confirmation items, once: (wall seconds, items)."""
    if not base_scores(bench):
        arm, began = bench.plan.confirmation[0], bench.timer()
        model = bench.service.create(bench.config(arm, seeded=facts.seeds))
        try:
            told = scored_as(bench, "confirmation", names.BASE, names.BASE, None, None)
            score_model(bench, model, "confirmation", told, began)
        finally:
            model.release()
    scored = base_scores(bench)[-1]
    return float(scored["seconds"]), int(scored["n_items"])


def base_scores(bench: Workbench) -> list[JsonObject]:
    """What the ledger says of the base model's scoring; empty before it."""
    scored = events(bench.ledger.lines, "arm_scored")
    return [data for data in scored if data["arm"] == names.BASE]


def score_arm(bench: Workbench, arm: PlannedArm, uri: CheckpointUri) -> Scores:
    """Load an arm's final checkpoint and score it on the items of its phase."""
    kind: ItemKind = "search" if arm.phase == "selection" else "confirmation"
    began = bench.timer()
    model, loaded = load_final(bench, arm, uri)
    try:
        check_loaded(loaded, uri)
        told = scored_as(bench, kind, arm.name, arm.role, arm.seed, uri)
        return score_model(bench, model, kind, told, began)
    finally:
        model.release()


def load_final(bench: Workbench, arm: PlannedArm, uri: CheckpointUri) -> tuple[Model, LoadResponse]:
    """The trained model from its final checkpoint; a refusal says what hangs on it."""
    config = bench.config(arm, seeded=False)
    try:
        return bench.service.create_from_state(config, uri, with_optimizer=False)
    except RefusedError as error:
        raise RefusedError(
            error.what,
            where=arm.name,
            hint=f"the arm is scored from {uri} alone: have the service bring it back, then "
            "--resume; what was scored before stays",
        ) from error


def scored_as(
    bench: Workbench,
    kind: ItemKind,
    name: str,
    role: str,
    seed: int | None,
    uri: CheckpointUri | None,
) -> ScoredAs:
    """What the rows of one model carry beside the numbers."""
    return ScoredAs(
        arm=name,
        role=role,
        seed=seed,
        metric=bench.plan.evaluation.metric,
        evaluator_id=freeze_evaluator(bench, kind),
        checkpoint=uri,
    )


def score_model(
    bench: Workbench, model: Model, kind: ItemKind, told: ScoredAs, began: float
) -> Scores:
    """Score every item, publish one prediction row each, and announce the totals.

    `began` is the timer's value before the model was opened: its seconds count as well.
    """
    ids = bench.data.items(kind)
    bench.ledger.append(
        "scoring_started", {"arm": told.arm, "items": kind, "evaluator_id": told.evaluator_id}
    )
    scores = score_items(
        model,
        ids,
        lambda start, stop: bench.data.eval_batch(kind, start, stop),
        told=lambda done: bench.watch(Scored(told.arm, done, len(ids))),
    )
    rows, name = jsonl(prediction_rows(scores, told)), names.predictions_file(told.arm)
    set_aside(bench, name)
    published = bench.run.put_evidence(name, rows)
    record = scores.loss_eval(bench.plan.evaluation.aggregation).record()
    data = {
        "arm": told.arm,
        "items": kind,
        "metric": told.metric,
        "evaluator_id": told.evaluator_id,
        "value": record["value"],
        "token_mean": record["token_mean"],
        "n_tokens": record["n_tokens"],
        "n_examples": record["n_examples"],
        "n_items": len(ids),
        "seconds": bench.timer() - began,
        "output_sha256": scores.output_sha256,
        "loss_eval": record,
    }
    bench.ledger.append("arm_scored", data, {published.name: published.sha256})
    return scores


def set_aside(bench: Workbench, name: str) -> None:
    """Move away what a crash published and nobody announced: it would block this answer.

    A service need not answer twice with the same last bits.
    """
    orphan = bench.run.evidence / name
    if orphan.exists():
        folder = bench.scratch("unannounced")
        orphan.rename(folder / f"{len(list(folder.iterdir()))}-{name}")
