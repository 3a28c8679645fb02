"""Every format reports the same findings, and nothing in a document can break out of it."""

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rx_tools.errors import ExitCode
from rx_tools.model.result import Finding, Level, Status
from rx_tools.report.findings import FileReport, Placed, Report
from rx_tools.report.github import render_github
from rx_tools.report.json import render_json
from rx_tools.report.junit import render_junit
from rx_tools.report.sarif import render_sarif
from rx_tools.report.terminal import render_text

FIXTURES = Path(__file__).parents[1] / "fixtures"
PAIR = [str(FIXTURES / "exp_9574bbb76e.spec.json"), str(FIXTURES / "exp_9574bbb76e.run.json")]
FORMATS = ("text", "json", "sarif", "junit", "github")


def rx(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "rx_tools", "validate", *arguments], capture_output=True, text=True
    )


def totals(output):
    """The number of findings that each format shows, counted from its own output."""
    suites = ElementTree.fromstring(output["junit"].split("\n", 1)[1])
    cases = suites.findall("testsuite/testcase")
    github = output["github"].splitlines()
    return {
        "text": int(re.search(r"(\d+) findings", output["text"]).group(1)),
        "text lines": len(re.findall(r"^  \d+:\d+ +RX\d{3} ", output["text"], re.MULTILINE)),
        "json": sum(len(file["findings"]) for file in json.loads(output["json"])["files"]),
        "json summary": json.loads(output["json"])["summary"]["findings"],
        "sarif": len(json.loads(output["sarif"])["runs"][0]["results"]),
        "junit": sum(len(case) for case in cases),
        "github": sum(not line.startswith("::notice title=rx::") for line in github),
    }


def test_the_same_exact_total_and_exit_code_in_every_format():
    runs = {name: rx(*PAIR, "--format", name) for name in FORMATS}
    assert {run.returncode for run in runs.values()} == {1}
    assert rx(*PAIR, "--quiet").returncode == 1
    counted = totals({name: run.stdout for name, run in runs.items()})
    assert len(set(counted.values())) == 1
    assert counted["json"] > 20


def report_of(*findings):
    placed = tuple(Placed.of(finding, (3, 7)) for finding in findings)
    file = FileReport.of("a,b:c%.json", "record", Status.FAILED, placed)
    return Report((file,), ExitCode.FINDINGS)


HOSTILE = "50%\r\n::error::x\x1b[31m\x00\ufffe<b>&\"'"


def hostile(text=HOSTILE):
    return report_of(Finding("RX010", Level.ERROR, text, '$["::"]', text, "record"))


def test_github_annotations_cannot_be_broken_out_of():
    lines = render_github(hostile("50%\r\n::error::x")).splitlines()
    assert lines[0] == (
        '::error file=a%2Cb%3Ac%25.json,line=3,col=7,title=RX010 $["%3A%3A"]'
        "::50%25%0D%0A::error::x (50%25%0D%0A::error::x)"
    )
    assert len(lines) == 2


def test_junit_is_xml_whatever_a_document_holds():
    root = ElementTree.fromstring(render_junit(hostile()).split("\n", 1)[1])
    assert "<b>&" in root.find("testsuite/testcase/failure").get("message")


def test_the_terminal_sees_no_control_characters():
    text = render_text(hostile())
    assert "\x1b" not in text and "\r" not in text and "\x00" not in text


SECRET = "tml-" + "A1b2C3d4" * 5


@pytest.mark.parametrize(
    "render", [render_text, render_json, render_sarif, render_junit, render_github]
)
def test_no_format_prints_a_credential(render):
    finding = Finding("RX010", Level.ERROR, f"{SECRET} is no number", f"$.{SECRET}", SECRET)
    text = render(report_of(finding))
    assert SECRET not in text and "[redacted" in text


@given(st.text(), st.text(), st.sampled_from(Level))
def test_any_text_in_any_format(message, path, level):
    report = report_of(Finding("RX010", level, message, path, message, "record"))
    assert json.loads(render_json(report))["summary"]["findings"] == 1
    assert json.loads(render_sarif(report))["runs"][0]["results"][0]["level"] in (
        "error",
        "warning",
        "note",
    )
    ElementTree.fromstring(render_junit(report).split("\n", 1)[1])
    assert len(render_github(report).split("\n")) == 2
    assert "\n" in render_text(report)
