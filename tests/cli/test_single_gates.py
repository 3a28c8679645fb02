"""The commands of single gates: exit 0 only if passed or not applicable; text and JSON agree."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from rx_tools.schemas.library import schema

TESTS = Path(__file__).parents[1]
SPEC = TESTS / "fixtures" / "exp_9574bbb76e.spec.json"
RECORD = TESTS / "fixtures" / "exp_9574bbb76e.run.json"
GOLDEN = json.loads((TESTS / "fixtures" / "exp_9574bbb76e.validation.json").read_text())


def rx(*arguments):
    command = [sys.executable, "-m", "rx_tools", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=TESTS.parent, check=False)


def documents(folder, case):
    """The spec, the record and the evidence of a case file, each in its own file."""
    content = json.loads((TESTS / "cases" / case).read_text(encoding="utf-8"))
    (folder / "evidence").mkdir()
    for name in ("spec", "record"):
        (folder / name).write_text(json.dumps(content[name]), encoding="utf-8")
    for name, text in content["evidence"].items():
        (folder / "evidence" / name).write_text(text, encoding="utf-8")
    return [folder / "spec", folder / "record", "--evidence", folder / "evidence"]


REAL = [
    ("correctness", "correctness_validation", 0),
    ("restoration", "restoration_validation", 3),
    ("feasibility", "feasibility", 3),
    ("evaluator", "evaluator_validation", 1),
    ("audit", "generation_audit_validation", 0),
]


@pytest.mark.parametrize(("command", "name", "code"), REAL)
def test_the_finished_run_gets_the_servers_answer(command, name, code):
    done = rx(command, SPEC, RECORD, "--format", "json")
    answer = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (code, "")
    assert answer["answer"] == GOLDEN[name]
    Draft202012Validator(schema("gate-answer")).validate(answer)


CASES = [
    ("correctness", "correctness/passed-bare-preflight-json.json", 0),
    ("restoration", "restoration/failed-optimizer-fell-back.json", 1),
    ("activation", "activation/passed-in-range.json", 0),
    ("activation", "activation/unverified-metric-missing.json", 3),
    ("feasibility", "feasibility/failed-wall-time-above-budget.json", 1),
    ("evaluator", "evaluator/passed-one-evaluator.json", 0),
    ("audit", "generation_audit/passed-every-sample-agrees.json", 0),
]


@pytest.mark.parametrize(("command", "case", "code"), CASES)
def test_the_exit_code_is_that_of_the_status(command, case, code, tmp_path):
    done = rx(command, *documents(tmp_path, case))
    status = case.partition("/")[2].partition("-")[0]
    assert done.returncode == code
    assert done.stdout.splitlines()[0].endswith(f": {status}")


def test_quiet_prints_nothing_and_exits_the_same():
    done = rx("restoration", SPEC, RECORD, "--quiet")
    assert (done.returncode, done.stdout) == (3, "")


def test_a_document_that_is_none_is_one_line_and_no_traceback(tmp_path):
    (tmp_path / "record").write_text('{"verdict": NaN}')
    done = rx("evaluator", SPEC, tmp_path / "record")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "record:1:13" in done.stderr


def test_applicability_of_a_spec_that_declares_nothing_is_unknown(tmp_path):
    (tmp_path / "spec").write_text("{}")
    done = rx("applicability", tmp_path / "spec", "--format", "json")
    answer = json.loads(done.stdout)
    Draft202012Validator(schema("applicability")).validate(answer)
    assert done.returncode == 3
    assert {gate["status"] for gate in answer["gates"]} == {"unknown", "not_applicable"}


def test_applicability_of_the_real_spec_in_words():
    done = rx("applicability", SPEC)
    assert done.returncode == 0
    line = next(line for line in done.stdout.splitlines() if line.startswith("decision_rule"))
    assert line.split(maxsplit=2) == [
        "decision_rule",
        "required",
        "experiment_features: paired_comparison is true",
    ]
