"""The caps of the evidence are asked for before training, with what will really be written."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rx_tools.errors import DocumentError
from rx_tools.evidence.budget import Budget, require_room
from rx_tools.evidence.tree import open_tree
from rx_tools.planning.plan import Plan
from rx_tools.runner.preflight.room import still_to_come

CORPUS = Path(__file__).parents[1] / "evidence" / "corpus"


def finished(name):
    """The plan and the evidence sizes of a real run."""
    files = open_tree(CORPUS / name).files
    sizes = {
        path.partition("/")[2]: len(data)
        for path, data in files.items()
        if path.startswith("evidence/")
    }
    return Plan.from_json(json.loads(files["plan.json"])), sizes


@pytest.mark.parametrize("name", ["rehearsal-0.1", "selection-0.1.zip"])
def test_the_forecast_is_above_what_real_runs_wrote_and_not_far_off(name):
    plan, sizes = finished(name)
    base = sizes["predictions-base.jsonl"]
    forecast = still_to_come(plan, base, plan.data.n_eval)
    for file in forecast.keys() & sizes.keys():
        assert sizes[file] <= forecast[file], file
    rows = [file for file in forecast if file.startswith(("predictions-", "scored-"))]
    written = sum(sizes[file] for file in rows)
    assert sum(forecast[file] for file in rows) < 2.5 * written


def test_too_many_items_are_refused_before_training_with_the_arithmetic():
    plan, sizes = finished("rehearsal-0.1")
    base = sizes["predictions-base.jsonl"]
    row = base // plan.data.n_eval
    large = replace(plan, data=replace(plan.data, n_eval=30_000))
    with pytest.raises(DocumentError, match=r"MiB, the cap of one file is 10\.00"):
        require_room(Budget(8, 0), still_to_come(large, row * 30_000, 30_000))


def test_too_many_arms_are_refused_before_training():
    plan, sizes = finished("rehearsal-0.1")
    arms = tuple(replace(plan.arms[0], name=f"arm-{number}") for number in range(40))
    forecast = still_to_come(replace(plan, arms=arms), sizes["predictions-base.jsonl"], 24)
    with pytest.raises(DocumentError, match="evidence files are more than 64"):
        require_room(Budget(5, 0), forecast)
