"""`rx diff`: what is equal, what differs, where, and the exit code."""

import math
import shutil

import pytest
from calling import rx, rx_json
from making import Made

from rx_tools.evidence.run_dir import pretty
from rx_tools.report.changes import ABSENT, changes


def finished(place, **options):
    made = Made(place, **options)
    made.finish().close()
    return made.place


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    return finished(tmp_path_factory.mktemp("first") / "run", run_id="first-0001")


def different(document):
    return {one["part"]: one["differences"] for one in document["parts"] if not one["equal"]}


def test_the_same_numbers_under_another_name_are_equal(first, tmp_path):
    second = finished(tmp_path / "run", run_id="second-0002")
    done = rx("diff", first, second)
    assert done.returncode == 0
    assert done.stdout.startswith("equal: the same experiment with the same numbers")
    assert "first-0001" in done.stdout
    assert "second-0002" in done.stdout


def test_every_part_is_named_whether_equal_or_not(first):
    parts = rx_json("diff", first, first)["parts"]
    assert [one["part"] for one in parts] == [
        "spec",
        "plan",
        "versions",
        "service",
        "deviations",
        "gates",
        "evaluator",
        "batches",
        "training losses",
        "selection",
        "scores",
        "decision",
    ]
    assert [one["part"] for one in parts if one["empty"]] == ["deviations", "selection"]


def test_one_changed_word_of_the_spec(first, tmp_path):
    second = finished(tmp_path / "run", change=lambda spec: spec.update(lora_rank=16))
    document = rx_json("diff", first, second)
    assert different(document) == {
        "spec": [{"json_path": "$.lora_rank", "a": 32, "b": 16}],
        "plan": [{"json_path": "$.effective_config.lora_rank", "a": 32, "b": 16}],
    }
    assert rx("diff", first, second).returncode == 1


def test_a_score_and_a_loss_that_moved(first, tmp_path):
    made = Made(tmp_path / "run")
    made.preflight().clear()
    for arm in made.plan.arms:
        made.train(arm)
    for arm in made.plan.arms[:-1]:
        made.score(arm)
    made.score(made.plan.arms[-1], 2.0 + 1e-6)
    made.decide().close()
    document = rx_json("diff", first, made.place)
    assert set(different(document)) == {"scores"}
    (change,) = different(document)["scores"]
    assert change == {"json_path": '$["treatment_lr3e-4_seed2"]', "a": 2.0, "b": 2.0 + 1e-6}
    assert rx("diff", first, made.place, "--atol", "1e-5").returncode == 0
    assert rx("diff", first, made.place, "--atol", "1e-7").returncode == 1
    assert "numbers up to 1e-06 apart" in rx("diff", first, made.place).stdout


def test_versions_and_service(first, tmp_path):
    second = tmp_path / "copy"
    shutil.copytree(first, second)
    (second / "evidence" / "code-revision.txt").write_text("rx-tools 0.1.0\ntinker 0.39.0\n")
    service = {"identity": {"host": "other.example"}}
    (second / "evidence" / "preflight-service.json").write_bytes(pretty(service))
    found = different(rx_json("diff", first, second))
    assert found == {
        "versions": [{"json_path": "$.tinker", "a": "0.38.0", "b": "0.39.0"}],
        "service": [{"json_path": "$.host", "a": "train.example", "b": "other.example"}],
    }


def test_a_run_under_way_lacks_what_it_has_not_done(first, tmp_path):
    made = Made(tmp_path / "run").preflight().clear()
    made.train(made.plan.arms[0], steps=10)
    found = different(rx_json("diff", first, made.place))
    assert {"batches", "training losses", "scores", "decision", "gates"} == set(found)
    verdict = next(one for one in found["decision"] if one["json_path"] == "$.verdict")
    assert verdict == {"json_path": "$.verdict", "a": "inconclusive"}


def test_no_run_on_one_side(first, tmp_path):
    done = rx("diff", first, tmp_path)
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ({"a": 1}, {"a": 1.0}, []),
        ({"a": 1}, {"a": True}, [("$.a", 1, True)]),
        ({"a": [1, 2]}, {"a": [1]}, [("$.a[1]", 2, ABSENT)]),
        ({"a": None}, {}, [("$.a", None, ABSENT)]),
        ({"a b": "x"}, {"a b": "y"}, [('$["a b"]', "x", "y")]),
        ({"a": {}}, {"a": []}, [("$.a", {}, [])]),
        ({"a": "1"}, {"a": 1}, [("$.a", "1", 1)]),
    ],
)
def test_places(left, right, expected):
    found = [(one.path, one.left, one.right) for one in changes(left, right)]
    assert found == expected


def test_nothing_close_to_nan():
    assert list(changes({"a": 1.0}, {"a": math.nan}, atol=1e9))
    assert list(changes({"a": math.inf}, {"a": 1.0}, atol=1e9))
