"""A run directory begins with the spec and the plan that were asked for, or not at all."""

import json
from datetime import UTC, datetime

import pytest

from rx_tools.errors import IntegrityError, UnverifiedError, UsageError
from rx_tools.evidence.ledger import read_ledger
from rx_tools.planning.rehearsal import Stage
from rx_tools.runner.whole.begin import Request, begin
from tests.endtoend.small import rx, write_small

STAGE = Stage("rx/tiny-qwen3", "rx/built-in-chats", "rx-local/1")


def clock():
    return datetime(2026, 1, 2, tzinfo=UTC)


def request(spec, **options):
    given = {"answers": {}, "plan": None, "stage": None, "like": None} | options
    return Request(spec=spec, **given)


def test_the_first_lines_of_the_ledger(tmp_path):
    run, ledger = begin(request(write_small(tmp_path), stage=STAGE), tmp_path / "run", clock)
    ledger.close()
    lines = read_ledger(run.ledger_path).lines
    events = [line.event for line in lines]
    assert events == ["run_created", "plan_frozen", "deviations_declared"]
    assert lines[0].files == {
        "spec.json": run.spec_sha256,
        "original.spec.json": run.original_spec.sha256,
    }
    assert lines[1].files == {"plan.json": run.plan_sha256}


def test_an_open_question_leaves_nothing_behind(tmp_path):
    spec = write_small(tmp_path, method="no renderer is named", command="python train.py")
    with pytest.raises(UnverifiedError, match="which chat renderer"):
        begin(request(spec), tmp_path / "run", clock)
    assert not (tmp_path / "run").exists()


def test_a_directory_that_holds_a_run_is_refused(tmp_path):
    spec = write_small(tmp_path)
    begin(request(spec), tmp_path / "run", clock)[1].close()
    with pytest.raises(UsageError, match="holds a run already"):
        begin(request(spec), tmp_path / "run", clock)


def test_a_plan_of_this_spec_is_taken_and_an_edited_one_refused(tmp_path):
    spec, plan = write_small(tmp_path), tmp_path / "plan.json"
    rx("plan", spec, "-o", plan, cwd=tmp_path, check=0)
    run, ledger = begin(request(spec, plan=plan), tmp_path / "run", clock)
    ledger.close()
    assert json.loads((run.path / "plan.json").read_text()) == json.loads(plan.read_text())
    document = json.loads(plan.read_text())
    document["arms"][0]["learning_rate"] = 0.5
    plan.write_text(json.dumps(document))
    with pytest.raises(IntegrityError, match="does not follow"):
        begin(request(spec, plan=plan), tmp_path / "other", clock)


def test_the_plan_of_another_spec_is_refused(tmp_path):
    plan = tmp_path / "plan.json"
    rx("plan", write_small(tmp_path), "-o", plan, cwd=tmp_path, check=0)
    other = write_small(tmp_path, title="another one")
    with pytest.raises(IntegrityError, match="another spec"):
        begin(request(other, plan=plan), tmp_path / "run", clock)


def test_a_plan_in_a_rehearsal_decides_the_derived_one(tmp_path):
    spec, plan = write_small(tmp_path), tmp_path / "plan.json"
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps({"readings.primary": "margin", "jobs": 2}))
    rx("plan", spec, "--answers", answers, "-o", plan, cwd=tmp_path, check=0)
    run, ledger = begin(request(spec, plan=plan, stage=STAGE), tmp_path / "run", clock)
    ledger.close()
    assert run.plan.readings == {"primary": "margin"}
    assert run.plan.jobs == 2
    assert run.plan.effective_config["base_model"] == "rx/tiny-qwen3"
