"""A valid record with a single fault: the right gate closes, with the right code.

The record is the one that a rehearsal hands in, judged against its derived spec. Faults are
generated over every place of every section; a fixed stride keeps the run short.
"""

import json
import re
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rx_tools.checks.documents import judge_pair
from rx_tools.checks.record_rules.updates import judge_updates
from rx_tools.model.evidence import Evidence, inline_evidence
from rx_tools.model.record import Record
from rx_tools.model.result import Level
from tests.endtoend.mutations import mutations, spots, without
from tests.endtoend.small import rx

PER_SECTION = 40
"""So many faults per section, spread evenly over all that there are."""

FAMILIES = {
    "status": "RX0|RX2|RX39|RX44",
    "summary": "RX0|RX2|RX39",
    "metrics": "RX0|RX2|RX39",
    "completed_arms": "RX0|RX2|RX39|RX40",
    "verdict": "RX0|RX2|RX39|RX44",
    "outcome_reason": "RX0|RX2|RX39|RX44",
    "deviations": "RX0|RX2|RX39|RX40",
    "original_hypothesis_tested": "RX0|RX2|RX39|RX40",
    "tested_instead": "RX0|RX2|RX39",
    "correctness_preflight": "RX0|RX31",
    "initialization_provenance": "RX0|RX32|RX388",
    "activation_calibration": "RX0|RX34",
    "feasibility": "RX0|RX21|RX35",
    "evaluation": "RX0|RX2|RX36|RX38|RX4",
    "loss_eval": "RX0|RX45",
    "decision": "RX0|RX38|RX4",
    "evidence": "RX0|RX22|RX23|RX38|RX4",
}
"""Section → the codes that may speak of a fault in it."""

HARMLESS = {
    "prose may be reworded": r"(other text|retype|blank) (.*\.)?"
    r"(summary|note|reason|tested_instead)",
    "a note may be left out": r"(drop|rename) activation_calibration\.note",
    "what a deviation replaces is prose": r"(other text|retype) deviations\.\d+\.original",
    "a deviation may be told twice": r"doubled deviations",
    "a comparison may be made twice": r"doubled evaluation\.comparisons",
    "convenience figures, recomputed and not believed": r"[a-z-]+ metrics\.D_\w+",
    "the stock path needs no section": r"(drop|rename) correctness_preflight",
    "a setting that no spec asks for": r".* initialization_provenance\.arms\.\d+\.optimizer_checks"
    r"\.\d+\.actual_config\.(weight_decay|grad_clip_norm)",
    "a measured figure within its range": r"off-by-one (activation_calibration\.values\.train_nll"
    r"|feasibility\.(measurements|recovery)\.).*",
    "absent and null say the same": r"(drop|rename|null) feasibility\.(.*\.)?"
    r"(gpu_count|allocation_source|generation|primary_endpoint)",
    "the name of the pilot's evidence": r"other text feasibility\.source",
    "the mean that the spec does not ask for": r"(off-by-one|negate) loss_eval\.arms\.[^.]+\."
    r"(example_mean|n_empty)",
    "the untrained base is compared with nothing": r".* evaluation\.scores\.0(\..*)?",
    "a reference that nobody can follow here": r"other text evidence\.checkpoints\.\d+\.uri"
    r"|doubled evidence\.checkpoints",
    "a last file that nothing refers to": r"(drop|other text) evidence\.files\.0(\.name)?",
    "a digest may be left out": r"(drop|rename) evidence\.files\.\d+\.sha256",
}
"""What a fault may do unpunished, and why; everything else must be caught."""


@pytest.fixture(scope="module")
def handed_in(rehearsed):
    """The derived spec, the record as handed in, and the update before it."""
    spec = json.loads((rehearsed.run / "spec.json").read_text())
    record = json.loads(rx("record", rehearsed.run, cwd=rehearsed.folder, check=0).stdout)
    updates = sorted((rehearsed.run / "updates").glob("record-*.json"))
    return spec, record, json.loads(updates[-2].read_text())


def hard_codes(spec, record, earlier):
    """The codes of all findings that fail a document or leave it unverified."""
    answer = judge_pair(spec, record, inline_evidence(record))
    updates = judge_updates([Record.of(earlier), Record.of(record)])
    found = [*answer.on_record, *answer.on_spec]
    found += [reason for result in updates for reason in result.reasons]
    return [f.code for f in found if f.level in (Level.ERROR, Level.UNVERIFIED)], answer


def is_harmless(mutation):
    return any(re.fullmatch(pattern, mutation.name) for pattern in HARMLESS.values())


def chosen(record, arms):
    """The same number of faults from every section, evenly spread."""
    sections = {}
    for mutation in mutations(record, arms):
        if not is_harmless(mutation):
            sections.setdefault(mutation.path[0], []).append(mutation)
    for found in sections.values():
        yield from found[:: max(1, len(found) // PER_SECTION)][:PER_SECTION]


def test_the_unmutated_record_has_no_finding(handed_in):
    spec, record, earlier = handed_in
    codes, answer = hard_codes(spec, record, earlier)
    assert codes == []
    assert answer.on_record == ()
    assert all(result.status.opens for result in answer.gates.values())


def test_every_fault_is_caught_by_the_right_code(handed_in):
    spec, record, earlier = handed_in
    arms = [arm["name"] for arm in spec["arms"]]
    tried, missed = Counter(), []
    for mutation in chosen(record, arms):
        section = mutation.path[0]
        codes, _ = hard_codes(spec, mutation.document, earlier)
        tried[section] += 1
        if not any(re.match(FAMILIES[section], code) for code in codes):
            missed.append((mutation.name, codes))
    assert not missed, missed
    assert sum(tried.values()) >= 300
    assert set(tried) == set(FAMILIES)


EVIDENCE = (
    "initialization_provenance",
    "activation_calibration",
    "feasibility",
    "evaluation",
    "loss_eval",
    "decision",
    "evidence",
)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_removing_evidence_never_opens_a_gate(handed_in, data):
    spec, record, _ = handed_in
    current, before = record, None
    for _ in range(3):
        section = data.draw(st.sampled_from([name for name in EVIDENCE if name in current]))
        places = [(section,), *((section, *path) for path, _ in spots(current[section]))]
        current = without(current, data.draw(st.sampled_from(places)))
        answer = judge_pair(spec, current, inline_evidence(current))
        open_now = {gate for gate, result in answer.gates.items() if result.status.opens}
        assert before is None or open_now <= before
        before = open_now


def test_removing_a_retained_file_never_opens_a_gate(handed_in):
    spec, record, _ = handed_in
    files = dict(inline_evidence(record).files)
    whole = judge_pair(spec, record, Evidence(files)).gates
    for name in files:
        rest = {other: file for other, file in files.items() if other != name}
        gates = judge_pair(spec, record, Evidence(rest)).gates
        assert not gates[next(g for g in gates if g.value == "evidence")].status.opens, name
        assert all(whole[gate].status.opens for gate, r in gates.items() if r.status.opens)
