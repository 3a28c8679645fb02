"""Case files: `tests/cases/<check>/<status>-<why>.json`, dropped in and not coded.

A case is `{"spec", "record", "evidence": {name: text}, "expect": {"status", "codes"}}`: the status
of the gate and the codes of every finding that is no warning. `expect.reason`, where given, is one
of the messages. `expect.surplus` lists JSON paths of the record (`@name` for a file) at or below
which a removal is an honest way to mend the case, such as the second of two entries.
"""

import json
from pathlib import Path

from rx_tools.checks.validation import JUDGES
from rx_tools.model.evidence import Evidence, EvidenceFile, inline_evidence
from rx_tools.model.record import Record
from rx_tools.model.result import Level
from rx_tools.model.spec import Spec

FOLDER = Path(__file__).parents[1] / "cases"
GATES = {gate.value.removesuffix("_preflight").removesuffix("_gate"): gate for gate in JUDGES}
PATHS = sorted(path for path in FOLDER.glob("*/*.json") if path.parent.name in GATES)


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def evidence_of(case):
    """Inline files, and those of the case; kinds as the record lists them."""
    record = Record.of(case["record"])
    kinds = {file.name: file.kind or "" for file in record.files}
    files = dict(inline_evidence(case["record"]).files)
    for name, text in case["evidence"].items():
        files[name] = EvidenceFile.of_bytes(name, kinds.get(name, ""), text.encode())
    return Evidence(files)


def judge(check, case):
    return JUDGES[GATES[check]](Spec.of(case["spec"]), Record.of(case["record"]), evidence_of(case))


def codes(result):
    return sorted({f.code for f in result.reasons if f.level not in (Level.WARNING, Level.NOTE)})
