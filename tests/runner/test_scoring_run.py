"""Scoring within a run: recovered, published, noted, and never done twice."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from rx_tools.errors import IntegrityError
from rx_tools.model.names import CheckpointUri
from rx_tools.runner.arm_loop import train_arm
from rx_tools.runner.score_rows import ScoredAs
from rx_tools.runner.scoring_run import score_arm
from rx_tools.runner.service import Datum, ModelLostError
from tests.runner.memory_service import MemoryModel, MemoryService
from tests.runner.workshop import Batches, make_job, make_shop

ITEMS = [datum for step in range(10) for datum in Batches().train_batch(1, step)]


class Items:
    def items(self, kind: str) -> tuple[str, ...]:
        return tuple(f"{kind}-{number}" for number in range(len(ITEMS)))

    def eval_batch(self, kind: str, start: int, stop: int) -> Sequence[Datum]:
        return ITEMS[start:stop]


def told(uri: CheckpointUri | None = None) -> ScoredAs:
    return ScoredAs("adamw-s0", "baseline", 7, "nll", "e" * 64, uri)


def test_the_trained_model_is_scored_from_its_checkpoint(tmp_path: Path) -> None:
    shop = make_shop(tmp_path, MemoryService())
    base = score_arm(
        shop, make_job().config, ScoredAs("base", "base", 7, "nll", "e" * 64), "search", Items()
    )
    outcome = train_arm(make_job(), shop)
    scores = score_arm(shop, make_job().config, told(outcome.uri), "confirmation", Items())
    assert scores.token_mean != base.token_mean
    line = shop.ledger.lines[-1]
    assert line.event == "arm_scored" and line.data["token_mean"] == scores.token_mean
    rows = (tmp_path / "evidence" / "predictions-adamw-s0.jsonl").read_text().splitlines()
    assert len(rows) == len(ITEMS)
    assert json.loads(rows[0])["checkpoint"] == outcome.uri


def test_a_model_lost_while_scoring_is_opened_again(tmp_path: Path) -> None:
    lost = {"left": 2}

    def lose(operation: str, model: MemoryModel) -> None:
        if operation == "forward" and lost["left"]:
            lost["left"] -= 1
            model.alive = False
            raise ModelLostError("410")

    for name in ("lost", "steady"):
        (tmp_path / name).mkdir()
    shop = make_shop(tmp_path / "lost", MemoryService(lose))
    other = make_shop(tmp_path / "steady", MemoryService())
    config = make_job().config
    assert score_arm(shop, config, told(), "search", Items()) == score_arm(
        other, config, told(), "search", Items()
    )


def test_an_arm_is_scored_once_and_read_back_afterwards(tmp_path: Path) -> None:
    service = MemoryService()
    shop = make_shop(tmp_path, service)
    first = score_arm(shop, make_job().config, told(), "search", Items())
    models = len(service.models)
    assert score_arm(shop, make_job().config, told(), "search", Items()) == first
    assert len(service.models) == models


def test_predictions_that_were_changed_are_refused(tmp_path: Path) -> None:
    shop = make_shop(tmp_path, MemoryService())
    score_arm(shop, make_job().config, told(), "search", Items())
    path = tmp_path / "evidence" / "predictions-adamw-s0.jsonl"
    content = path.read_bytes()
    path.chmod(0o644)
    path.write_bytes(content.replace(b"1", b"2", 1))
    with pytest.raises(IntegrityError, match="predictions-adamw-s0"):
        score_arm(shop, make_job().config, told(), "search", Items())
