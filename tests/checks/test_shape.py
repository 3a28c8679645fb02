"""What the shape check says of real and of broken documents."""

import json
from pathlib import Path

from rx_tools.checks.shape import judge_shape

FIXTURES = Path(__file__).parent.parent / "fixtures"


def fixture(name):
    return json.loads((FIXTURES / f"{name}.json").read_text())


def said(value, name):
    return [(f.level.value, f.json_path, f.message) for f in judge_shape(value, name, name)]


def test_saved_specs_have_the_shape():
    assert said(fixture("exp_9574bbb76e.spec"), "spec") == []
    assert said(fixture("exp_71911f0fb9.spec"), "spec") == []


def test_the_finished_record_tells_what_was_lost():
    errors = [
        (path, text)
        for level, path, text in said(fixture("exp_9574bbb76e.run"), "record")
        if level == "error"
    ]
    assert ("$.evaluation", '"scores" is missing') in errors
    assert ("$.evaluation", '"comparisons" is missing') in errors
    assert ("$.initialization_provenance", '"arms" is missing') in errors


def test_unknown_members_warn_where_specs_are_open():
    spec = fixture("exp_9574bbb76e.spec")
    spec["bugdet"] = {}
    spec["arms"][1]["sede"] = 3
    found = judge_shape(spec, "spec", "spec")
    assert [(f.level.value, f.json_path, f.hint) for f in found] == [
        ("warning", "$.arms[1].sede", "did you mean 'seed'?"),
        ("warning", "$.bugdet", "did you mean 'budget'?"),
    ]


def test_closed_documents_refuse_unknown_members():
    record = {"status": "running", "deviations": [{"field": "steps", "orignal": 1}]}
    assert ("error", "$.deviations[0]", 'not allowed here: "orignal"') in said(record, "record")


def test_messages_never_repeat_a_whole_document():
    record = {"status": "x" * 5000, "metrics": ["y" * 5000]}
    assert all(len(text) < 200 for _, _, text in said(record, "record"))


def test_a_learning_rate_is_not_negative():
    spec = fixture("exp_9574bbb76e.spec")
    spec["arms"][1]["lr"] = -1e-4
    errors = [path for level, path, _ in said(spec, "spec") if level == "error"]
    assert errors == ["$.arms[1].lr"]
