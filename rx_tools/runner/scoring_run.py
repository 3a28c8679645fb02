"""Score one model of a run: recovered from failures, published, noted, and never done twice."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from rx_tools.errors import IntegrityError, ServiceError
from rx_tools.evidence.digest import sha256_of
from rx_tools.evidence.ledger import LedgerLine
from rx_tools.evidence.publish import publish
from rx_tools.model.names import CheckpointUri, Sha256
from rx_tools.runner.arm import Workshop
from rx_tools.runner.events import Scored
from rx_tools.runner.prepared import ItemKind
from rx_tools.runner.recovery import Recovery
from rx_tools.runner.score_rows import ScoredAs, jsonl, prediction_rows
from rx_tools.runner.scoring import ItemScore, Scores, score_items
from rx_tools.runner.service import Datum, Model, ModelConfig


class Items(Protocol):
    """The scored rows of a kind, `search` or `confirmation`."""

    def items(self, kind: ItemKind) -> tuple[str, ...]:
        """Their ids, in the order of scoring."""
        ...

    def eval_batch(self, kind: ItemKind, start: int, stop: int) -> Sequence[Datum]:
        """The datums of the items `start` to `stop` − 1."""
        ...


def score_arm(
    shop: Workshop, config: ModelConfig, told: ScoredAs, kind: ItemKind, items: Items
) -> Scores:
    """Score `told.checkpoint`, or a fresh model of `config` where it is None (the base model).

    Publishes `predictions-<arm>.jsonl` and notes `arm_scored`. An arm that was scored before is
    read back from its published rows, whose digest must be the one in the ledger.
    """
    before = _scored_before(shop, told.arm, kind)
    if before is not None:
        return read_scores(shop, before)
    ids = items.items(kind)
    shop.note("scoring_started", {"arm": told.arm, "items": kind, "n_items": len(ids)})

    def work(model: Model) -> Scores:
        return score_items(
            model,
            ids,
            lambda start, stop: items.eval_batch(kind, start, stop),
            told=lambda done: shop.tell(Scored(told.arm, done, len(ids))),
        )

    scores = with_model(shop, config, told.checkpoint, told.arm, work)
    name = f"predictions-{told.arm}.jsonl"
    published = publish(shop.evidence, name, jsonl(prediction_rows(scores, told)))
    facts = {
        "arm": told.arm,
        "items": kind,
        "token_mean": scores.token_mean,
        "output_sha256": scores.output_sha256,
        "evaluator_id": told.evaluator_id,
        "checkpoint": told.checkpoint,
    }
    shop.ledger.append("arm_scored", facts, {published.name: published.sha256})
    return scores


def with_model(
    shop: Workshop,
    config: ModelConfig,
    uri: CheckpointUri | None,
    name: str,
    work: Callable[[Model], Scores],
) -> Scores:
    """Do `work` on a model that is not trained, again after every failure that can be borne."""
    recovery = Recovery(name, shop)
    while True:
        try:
            model = _open(shop, config, uri)
            try:
                return work(model)
            finally:
                model.release()
        except ServiceError as error:
            recovery.bear(error, updates=0)


def read_scores(shop: Workshop, line: LedgerLine) -> Scores:
    """The scores that an `arm_scored` line tells of; `IntegrityError` if the file is another."""
    (name, digest), *_ = line.files.items()
    content = (shop.evidence / name).read_bytes()
    if sha256_of(content) != digest:
        raise IntegrityError("is not the file that the ledger knows", where=name)
    rows = [json.loads(row) for row in content.splitlines()]
    scored = tuple(
        ItemScore(
            row["item_id"],
            row["prediction"]["nll_sum"],
            row["prediction"]["n_tokens"],
            Sha256(row["reference"]["datum_sha256"]),
        )
        for row in rows
    )
    return Scores(scored, Sha256(line.data["output_sha256"]))


def _open(shop: Workshop, config: ModelConfig, uri: CheckpointUri | None) -> Model:
    if uri is None:
        return shop.service.create(config)
    unseeded = replace(config, seed=None)
    model, loaded = shop.service.create_from_state(unseeded, uri, with_optimizer=False)
    if loaded.loaded not in (None, uri):
        model.release()
        raise ServiceError(f"the server loaded {loaded.loaded}, not {uri}")
    return model


def _scored_before(shop: Workshop, arm: str, kind: str) -> LedgerLine | None:
    wanted = ("arm_scored", arm, kind)
    lines = shop.ledger.lines
    found = (n for n in lines if (n.event, n.data.get("arm"), n.data.get("items")) == wanted)
    return next(found, None)
