"""What is judged: the spec itself, or a copy whose every change is declared."""

from pathlib import Path

import pytest

from rx_tools.errors import UsageError
from rx_tools.planning.deviate import parse_changes
from rx_tools.planning.rehearsal import Stage
from rx_tools.runner.whole.judged import judged_spec

FIXTURES = Path(__file__).parents[1] / "fixtures"
WITH_SECONDARY = FIXTURES / "exp_71911f0fb9.spec.json"
STAGE = Stage("rx/tiny-qwen3", "rx/chats", "embedded")


def test_a_secondary_evaluation_that_nobody_runs_is_not_left_out_in_silence() -> None:
    with pytest.raises(UsageError, match=r"ifeval \(541 items\)") as caught:
        judged_spec(WITH_SECONDARY, (), None)
    assert "--deviate secondary=none" in caught.value.hint


def test_dropping_it_is_declared_and_the_hypothesis_stays() -> None:
    judged = judged_spec(WITH_SECONDARY, parse_changes(["secondary=none"]), None)
    assert [entry["field"] for entry in judged.deviations] == ["evaluator"]
    assert judged.hypothesis_tested
    assert "tested_instead" not in judged.declaration


def test_a_rehearsal_declares_it_by_itself() -> None:
    judged = judged_spec(WITH_SECONDARY, (), STAGE)
    assert [entry["field"] for entry in judged.deviations] == ["evaluator", "model", "dataset"]
    assert judged.deviations[0]["reason"] == "no arm of a rehearsal runs it"
    assert not judged.hypothesis_tested


def test_a_spec_without_one_is_judged_as_it_is() -> None:
    path = FIXTURES / "exp_9574bbb76e.spec.json"
    judged = judged_spec(path, (), None)
    assert judged.content == judged.original == path.read_bytes()
    assert not judged.deviations
