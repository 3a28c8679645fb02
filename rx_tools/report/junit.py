"""A report as JUnit XML: a suite per file, a case per finding, one passed case for a clean file."""

from xml.etree import ElementTree

from rx_tools.model.result import Level
from rx_tools.report.findings import FileReport, Placed, Report


def render_junit(report: Report) -> str:
    """One `testsuites` element; errors are failures, unverified items errors, the rest output."""
    root = ElementTree.Element("testsuites", name="rx validate")
    root.set("tests", str(sum(max(1, len(file.findings)) for file in report.files)))
    root.set("failures", str(report.count(Level.ERROR)))
    root.set("errors", str(report.count(Level.UNVERIFIED)))
    for file in report.files:
        root.append(suite(file))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'


def suite(file: FileReport) -> ElementTree.Element:
    """One file."""
    levels = [placed.finding.level for placed in file.findings]
    element = ElementTree.Element("testsuite", name=clean(file.path))
    element.set("tests", str(max(1, len(levels))))
    element.set("failures", str(levels.count(Level.ERROR)))
    element.set("errors", str(levels.count(Level.UNVERIFIED)))
    if not levels:
        ElementTree.SubElement(element, "testcase", classname=file.kind, name=clean(file.path))
    for placed in file.findings:
        element.append(case(file, placed))
    return element


def case(file: FileReport, placed: Placed) -> ElementTree.Element:
    """One finding."""
    finding = placed.finding
    name = clean(f"{finding.code} {finding.json_path}")
    element = ElementTree.Element("testcase", classname=file.kind, name=name)
    place = f"{file.path}:{placed.line}:{placed.column}"
    text = clean(f"{place}\n{finding.message}\n{finding.hint}".rstrip())
    if finding.level in (Level.ERROR, Level.UNVERIFIED):
        tag = "failure" if finding.level is Level.ERROR else "error"
        verdict = ElementTree.SubElement(element, tag, type=finding.code)
        verdict.set("message", clean(finding.message))
        verdict.text = text
    else:
        ElementTree.SubElement(element, "system-out").text = text
    return element


def clean(text: str) -> str:
    """The text without the characters that XML 1.0 cannot hold."""
    return "".join(c if c in "\t\n\r" or is_xml(ord(c)) else "\ufffd" for c in text)


def is_xml(point: int) -> bool:
    """Whether a code point is a character of XML 1.0."""
    return 0x20 <= point <= 0xD7FF or 0xE000 <= point <= 0xFFFD or 0x10000 <= point <= 0x10FFFF
