"""SARIF output against what SARIF 2.1.0 demands of the objects that occur in it.

Written from the text of the standard (OASIS, 2020, section 3): members that are required, words
and smallest numbers that are allowed, and that no object has a member of its own outside of its
property bag. The official schema itself is not copied here.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from rx_tools.errors import ExitCode
from rx_tools.model.result import Finding, Level, Status
from rx_tools.report.findings import FileReport, Placed, Report
from rx_tools.report.sarif import render_sarif
from tests.evidence.forge import TRUE

FIXTURES = Path(__file__).parents[1] / "fixtures"
URI_REFERENCE = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=@/?#\[\]:-]|%[0-9A-Fa-f]{2})*")
TEXT, BAG = {"type": "string"}, {"type": "object"}


def closed(required, **members):
    members["properties"] = BAG
    return {
        "type": "object",
        "properties": members,
        "required": required,
        "additionalProperties": False,
    }


def listed(items, **more):
    return {"type": "array", "items": items, **more}


MESSAGE = closed(["text"], text=TEXT, markdown=TEXT, id=TEXT, arguments=listed(TEXT))
RULE = closed(
    ["id"],
    id=TEXT,
    name=TEXT,
    shortDescription=closed(["text"], text=TEXT, markdown=TEXT),
    fullDescription=closed(["text"], text=TEXT, markdown=TEXT),
    help=closed(["text"], text=TEXT, markdown=TEXT),
    helpUri=TEXT,
)
DRIVER = closed(
    ["name"],
    name=TEXT,
    version=TEXT,
    semanticVersion=TEXT,
    informationUri={"type": "string", "pattern": r"\Ahttps://"},
    rules=listed(RULE, uniqueItems=True),
)
POSITIVE = {"type": "integer", "minimum": 1}
REGION = closed([], startLine=POSITIVE, startColumn=POSITIVE, endLine=POSITIVE, endColumn=POSITIVE)
PLACE = closed(["artifactLocation"], artifactLocation=closed([], uri=TEXT), region=REGION)
LOGICAL = closed([], name=TEXT, fullyQualifiedName=TEXT, kind=TEXT)
RESULT = closed(
    ["message"],
    ruleId=TEXT,
    ruleIndex={"type": "integer", "minimum": -1},
    level={"enum": ["none", "note", "warning", "error"]},
    message=MESSAGE,
    locations=listed(
        closed([], physicalLocation=PLACE, logicalLocations=listed(LOGICAL, uniqueItems=True))
    ),
)
RUN = closed(
    ["tool"],
    tool=closed(["driver"], driver=DRIVER),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    results=listed(RESULT),
)
LOG = closed(["version", "runs"], version={"const": "2.1.0"}, runs=listed(RUN))
LOG["properties"]["$schema"] = TEXT


def judged(text):
    """The results of a log that keeps to the standard."""
    log = json.loads(text)
    faults = [f"{e.json_path}: {e.message}" for e in Draft202012Validator(LOG).iter_errors(log)]
    assert faults == []
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(set(rules)) == len(rules)
    for result in run["results"]:
        assert result["ruleId"] in rules
        for location in result["locations"]:
            uri = location["physicalLocation"]["artifactLocation"]["uri"]
            assert URI_REFERENCE.fullmatch(uri), uri
    return run["results"]


@pytest.mark.parametrize(
    "files",
    [
        ["exp_9574bbb76e.spec.json", "exp_9574bbb76e.run.json"],
        [TRUE],
        ["nowhere.json", "../report/test_sarif.py"],
    ],
    ids=["pair", "bundle", "unreadable"],
)
def test_what_the_command_prints(files):
    line = [sys.executable, "-m", "rx_tools", "validate", "--format", "sarif"]
    paths = [str(FIXTURES / file) for file in files]
    done = subprocess.run([*line, *paths], capture_output=True, text=True)
    assert judged(done.stdout)


@pytest.mark.parametrize("name", ["a b.json", "a,b:c%.json", "ä#?[x].json", "/tmp/x.json", "C:\\x"])
@pytest.mark.parametrize("place", [(0, 0), (3, 7)])
def test_any_name_and_place_of_a_file(name, place):
    findings = [Finding("RX010", level, "what", "$", "hint", "record") for level in Level]
    placed = tuple(Placed.of(finding, place) for finding in findings)
    report = Report((FileReport.of(name, "record", Status.FAILED, placed),), ExitCode.FINDINGS)
    results = judged(render_sarif(report))
    assert len(results) == len(Level)
    regions = [one["locations"][0]["physicalLocation"].get("region") for one in results]
    assert all(region is None for region in regions) is (place == (0, 0))


def test_nothing_found_is_an_empty_list_and_not_a_missing_one():
    """Section 3.14.23: `results` is there, if empty, when a scan was made."""
    assert judged(render_sarif(Report((), ExitCode.OK))) == []
