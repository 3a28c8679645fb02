"""The caps of the evidence are asked for before training, with what will really be written."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rx_tools.errors import DocumentError
from rx_tools.evidence.budget import Budget
from rx_tools.evidence.tree import open_tree
from rx_tools.planning.plan import Plan
from rx_tools.runner.preflight.room import room_for, still_to_come

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
    forecast = still_to_come(plan, -(-base // plan.data.n_eval))
    for file in forecast.keys() & sizes.keys():
        assert sizes[file] <= forecast[file], file
    rows = [file for file in forecast if file.startswith(("predictions-", "scored-"))]
    written = sum(sizes[file] for file in rows)
    assert sum(forecast[file] for file in rows) < 2.5 * written


def with_items(plan, items):
    return replace(plan, data=replace(plan.data, n_eval=items))


def test_too_many_items_are_refused_before_training_with_what_would_fit():
    plan, sizes = finished("rehearsal-0.1")
    row = sizes["predictions-base.jsonl"] // plan.data.n_eval
    with pytest.raises(DocumentError, match=r"MiB, the cap of one file is 10\.00") as refused:
        room_for(with_items(plan, 30_000), row, Budget(8, 0), ())
    fitting = int(refused.value.hint.split("at most ")[1].split(" ")[0])
    assert room_for(with_items(plan, fitting), row, Budget(8, 0), ()).bytes_left > 0
    with pytest.raises(DocumentError):
        room_for(with_items(plan, fitting + 1), row, Budget(8, 0), ())


def test_too_many_arms_are_refused_before_training():
    plan, _ = finished("rehearsal-0.1")
    arms = tuple(replace(plan.arms[0], name=f"arm-{number}") for number in range(40))
    with pytest.raises(DocumentError, match="evidence files are more than 64") as refused:
        room_for(replace(plan, arms=arms), 400, Budget(5, 0), ())
    assert refused.value.hint == "every arm needs two: run fewer arms"
