"""Everything that is printed or written under a schema's `$id` is what that schema describes."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from rx_tools.schemas.library import PREFIX, all_schemas, schema, schema_names
from tests.endtoend.small import ROOT, rx, write_small

REGISTRY = Registry().with_resources(
    [(address, Resource.from_contents(body)) for address, body in all_schemas().items()]
)
PRINTED = {
    "status": ("status", "{run}"),
    "report-written": ("report", "{run}", "-o", "page.html"),
    "bundle-written": ("bundle", "{run}", "-o", "again.bundle"),
    "verification": ("verify", "{run}.bundle"),
    "diff": ("diff", "{run}", "{run}.bundle"),
    "decision-answer": ("decide", "--run-dir", "{run}"),
    "validation-report": ("validate", "{run}"),
    "plan": ("plan", "{spec}", "--sd", "0.01", "--effect", "0.03"),
    "applicability": ("applicability", "{spec}"),
    "gate-answer": ("feasibility", "{run}/spec.json", "{record}", "--evidence", "{run}/evidence"),
    "manual": ("explain", "RX351"),
    "doctor": ("doctor",),
}


def faults(document):
    """What the schema that a document names says of it."""
    name = document["schema"].removeprefix(PREFIX).removesuffix(":1")
    found = Draft202012Validator(schema(name), registry=REGISTRY).iter_errors(document)
    return [f"{error.json_path}: {error.message}"[:200] for error in found]


@pytest.mark.parametrize("name", PRINTED)
def test_what_a_command_prints(rehearsed, tmp_path, name):
    places = {"run": rehearsed.run, "spec": rehearsed.spec, "record": newest_update(rehearsed.run)}
    command = [part.format(**places) for part in PRINTED[name]]
    document = json.loads(rx(*command, "--format", "json", cwd=tmp_path).stdout)
    assert document["schema"] == f"{PREFIX}{name}:1"
    assert faults(document) == []


def newest_update(run):
    return max((run / "updates").glob("*.json"))


def test_what_a_run_writes(rehearsed):
    documents = [json.loads(path.read_text()) for path in rehearsed.bundle.rglob("*.json")]
    named = [document for document in documents if PREFIX in str(document.get("schema"))]
    kinds = {document["schema"].removeprefix(PREFIX) for document in named}
    assert kinds >= {"run:1", "plan:1", "bundle:1", "clearance:1", "data-manifest:1"}
    assert [faults(document) for document in named] == [[]] * len(named)


def test_a_preflight_and_the_events_of_an_arm(tmp_path):
    spec, run = write_small(tmp_path), tmp_path / "run"
    asked = ("preflight", spec, "--rehearse", "--run-dir", run, "--format", "json")
    report = json.loads(rx(*asked, cwd=tmp_path, check=0).stdout)
    assert report["schema"] == f"{PREFIX}preflight-report:1"
    assert faults(report) == []
    arm = json.loads((run / "plan.json").read_text())["arms"][0]["name"]
    rx("train", "--arm", arm, "--run-dir", run, "--events", "e.jsonl", cwd=tmp_path, check=0)
    events = [json.loads(line) for line in (tmp_path / "e.jsonl").read_text().splitlines()]
    assert {event["event"] for event in events} >= {"ArmOpened", "StepDone", "ArmClosed", "Scored"}
    assert [faults(event) for event in events] == [[]] * len(events)


def test_a_printed_plan_serves_as_the_plan(tmp_path):
    """`rx plan --format json > plan.json` is as good as `-o`: what stands beside it is no part."""
    spec = write_small(tmp_path)
    printed = rx("plan", spec, "--format", "json", cwd=tmp_path, check=0).stdout
    (tmp_path / "plan.json").write_text(printed)
    told = rx("validate", "plan.json", "--format", "json", cwd=tmp_path, check=0).stdout
    assert json.loads(told)["files"][0]["kind"] == "plan"
    asked = ("preflight", spec, "--rehearse", "--plan", "plan.json", "--run-dir", "run")
    rx(*asked, cwd=tmp_path, check=0)
    frozen = json.loads((tmp_path / "run" / "plan.json").read_text())
    assert not {"questions", "power", "secondary", "advice"} & set(frozen)


def test_every_schema_id_in_the_source_has_its_schema():
    sources = [path.read_text() for path in Path(ROOT, "rx_tools").rglob("*.py")]
    written = r"urn:rx:schema:([a-z-]+):1|schema_id\(\"([a-z-]+)\"\)"
    used = {name for text in sources for pair in re.findall(written, text) for name in pair if name}
    assert used >= {"event", "verification", "gate-answer"}
    assert used <= set(schema_names())
