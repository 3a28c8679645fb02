"""Scores as rows: predictions for the evidence, observations for the decision."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rx_tools.errors import DocumentError
from rx_tools.model.names import CheckpointUri
from rx_tools.runner.arms.scoring import ItemScore, Scores


@dataclass(frozen=True, slots=True)
class ScoredAs:
    """What the rows of one model carry beside the numbers. `arm` is a name, `role` its role.

    `seed` is None for the untrained base model.
    """

    arm: str
    role: str
    seed: int | None
    metric: str
    evaluator_id: str
    checkpoint: CheckpointUri | None = None


def prediction_rows(scores: Scores, told: ScoredAs) -> Iterator[dict[str, Any]]:
    """One row per item: the totals that were predicted, and the digest of the targets."""
    for item in scores.items:
        yield {
            "item_id": item.item_id,
            "arm": told.arm,
            "seed": told.seed,
            "checkpoint": told.checkpoint,
            "metric": told.metric,
            "evaluator_id": told.evaluator_id,
            "prediction": {"nll_sum": item.nll_sum, "n_tokens": item.n_tokens},
            "reference": {"datum_sha256": item.datum_sha256},
        }


def observation_rows(scores: Scores, told: ScoredAs, aggregation: str) -> Iterator[dict[str, Any]]:
    """One row per item whose plain mean is the asked aggregation.

    For `token_mean` the value is nll · N / T (N items, T counted tokens in all): the mean of
    nll / n would be the example mean. Items without a counted token are left out of an
    `example_mean` and count as 0 in a `token_mean`, as the definition says.
    """
    total = sum(item.n_tokens for item in scores.items)
    if total == 0:
        raise DocumentError(f"{told.arm}: no counted token in any item")
    for item in scores.items:
        value = _value(item, aggregation, len(scores.items), total)
        if value is not None:
            yield {
                "item_id": item.item_id,
                "arm": told.role,
                "seed": told.seed,
                "metric": told.metric,
                "value": value,
                "evaluator_id": told.evaluator_id,
            }


def different_tokens(first: Scores, second: Scores) -> tuple[str, ...]:
    """The items that two models were not scored on alike; they must be none for a comparison."""
    known = {item.item_id: item.datum_sha256 for item in first.items}
    other = {item.item_id: item.datum_sha256 for item in second.items}
    return tuple(sorted(name for name in known | other if known.get(name) != other.get(name)))


def jsonl(rows: Iterator[dict[str, Any]] | Sequence[dict[str, Any]]) -> bytes:
    """Rows as canonical JSON lines."""
    lines = (
        json.dumps(row, sort_keys=True, separators=(",", ":"), allow_nan=False) for row in rows
    )
    return "".join(f"{line}\n" for line in lines).encode("ascii")


def _value(item: ItemScore, aggregation: str, count: int, total: int) -> float | None:
    if aggregation == "token_mean":
        return item.nll_sum * count / total
    return item.nll_sum / item.n_tokens if item.n_tokens else None
