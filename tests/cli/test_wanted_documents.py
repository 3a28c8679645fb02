"""A document of another kind than the one that is asked for is told in one line, never judged."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.evidence.forge import TRUE

GATES = (
    "correctness",
    "restoration",
    "activation",
    "feasibility",
    "evaluator",
    "loss-eval",
    "audit",
)
TAKES_SPEC = [
    ("plan", "{}"),
    ("applicability", "{}"),
    ("preflight", "{}", "--rehearse", "--run-dir", "new"),
    ("run", "{}", "--rehearse", "--run-dir", "new"),
    ("decide", "{}", "--observations", "rows.jsonl"),
    *((gate, "{}", "record.json") for gate in GATES),
]
TAKES_RECORD = [
    ("decide", "spec.json", "--observations", "rows.jsonl", "--record", "{}"),
    *((gate, "spec.json", "{}") for gate in GATES),
]
TAKES_PLAN = [
    ("decide", "spec.json", "--observations", "rows.jsonl", "--plan", "{}"),
    ("preflight", "spec.json", "--rehearse", "--run-dir", "new", "--plan", "{}"),
]
NEITHER = {
    "plan.json": "is a plan, not a ",
    "run.json": "is a run, not a ",
    "bundle.json": "is a bundle, not a ",
    "list.json": "is no JSON object, so it is no ",
    "null.json": "is no JSON object, so it is no ",
    "nested.json": "it holds none of the members of one",
    "empty.json": "the document is empty",
    "utf16.json": "invalid UTF-8: byte 0xff (save the file as UTF-8)",
    "rows.jsonl": "not JSON: Extra data (one document a file)",
}
SPEC_FAULTS = {"record.json": "is a record, not a spec (give the spec", **NEITHER}
RECORD_FAULTS = {"spec.json": "is a spec, not a record (give the record", **NEITHER}
PLAN_FAULTS = {
    "spec.json": "is a spec, not a plan (`rx plan SPEC -o PLAN` writes one)",
    "record.json": "is a record, not a plan",
    **{name: told for name, told in NEITHER.items() if name != "plan.json"},
}
USAGE = {
    "folder": "a folder",
    "nowhere.json": "name a path that exists",
}


@pytest.fixture(scope="module")
def zoo(tmp_path_factory):
    place = tmp_path_factory.mktemp("zoo")
    for name in ("spec.json", "record.json", "plan.json", "run.json", "bundle.json"):
        shutil.copy(TRUE / name, place / name)
    shutil.copy(TRUE / "evidence" / "scored-observations.jsonl", place / "rows.jsonl")
    texts = {"list": "[]", "null": "null", "empty": "", "nested": '{"a":{"b":{"c":{"d":{"e":1}}}}}'}
    for name, text in texts.items():
        (place / f"{name}.json").write_text(text)
    (place / "utf16.json").write_text(json.dumps({"steps": 1}), encoding="utf-16")
    return place


def told(zoo, command, name, monkeypatch, capsys):
    """Exit code and the one line of a command that was given the named file."""
    monkeypatch.chdir(zoo)
    arguments = [part.format(name) for part in command]
    monkeypatch.setattr(sys, "argv", ["rx", *arguments])
    from rx_tools.__main__ import main

    with pytest.raises(SystemExit) as ended:
        main()
    lines = capsys.readouterr().err.splitlines()
    return ended.value.code, [line for line in lines if line.startswith("rx: ")]


CASES = [
    *((command, name, text) for command in TAKES_SPEC for name, text in SPEC_FAULTS.items()),
    *((command, name, text) for command in TAKES_RECORD for name, text in RECORD_FAULTS.items()),
    *((command, name, text) for command in TAKES_PLAN for name, text in PLAN_FAULTS.items()),
]


@pytest.mark.parametrize(
    ("command", "name", "text"), CASES, ids=[f"{c[0]}-{n}-{i}" for i, (c, n, _) in enumerate(CASES)]
)
def test_another_document_is_refused(zoo, command, name, text, monkeypatch, capsys):
    code, lines = told(zoo, command, name, monkeypatch, capsys)
    assert code == 1, lines
    assert len(lines) == 1 and lines[0].startswith(f"rx: {name}") and text in lines[0]
    assert not (zoo / "new").exists()


@pytest.mark.parametrize("name", ["record.json", "plan.json", "run.json"])
def test_a_document_is_no_rule(zoo, name, monkeypatch, capsys):
    command = ("decide", "--rule", "{}", "--observations", "rows.jsonl")
    code, lines = told(zoo, command, name, monkeypatch, capsys)
    assert code == 1 and "not a decision rule (--rule takes" in lines[0]


@pytest.mark.parametrize("command", [*TAKES_SPEC, *TAKES_RECORD, *TAKES_PLAN], ids=str)
@pytest.mark.parametrize("name", ["folder", "nowhere.json"])
def test_what_is_no_file_is_a_usage_error(zoo, command, name, monkeypatch, capsys):
    (zoo / "folder").mkdir(exist_ok=True)
    code, lines = told(zoo, command, name, monkeypatch, capsys)
    assert code == 2 and len(lines) == 1 and name in lines[0]


def test_a_bare_section_still_stands_in_for_a_record(tmp_path):
    """`rx correctness` accepts a bare preflight.json, and a spec may be as short as it likes."""
    (tmp_path / "spec.json").write_text('{"experiment_features": {"custom_loss": false}}')
    (tmp_path / "preflight.json").write_text('{"correctness_preflight": {"required": false}}')
    line = [sys.executable, "-m", "rx_tools", "correctness"]
    files = [str(tmp_path / "spec.json"), str(tmp_path / "preflight.json")]
    root = Path(__file__).parents[2]
    done = subprocess.run([*line, *files], capture_output=True, text=True, cwd=root)
    assert "correctness_preflight: " in done.stdout, done.stderr
