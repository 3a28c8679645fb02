"""One fault at a time, in every place of a record that a rehearsal handed in without any finding.

The record in `fixtures/rehearsal` was written by `rx run --rehearse` and `rx record`. Each fault
must close the gate of its section, with a code of that gate; what no judge can know is listed.
"""

import copy
import json
import math
import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from rx_tools.checks.validation import JUDGES, judge_all
from rx_tools.model.evidence import inline_evidence
from rx_tools.model.names import Gate
from rx_tools.model.record import Record
from rx_tools.model.result import Level
from rx_tools.model.spec import Spec

FOLDER = Path(__file__).parents[1] / "fixtures" / "rehearsal"
SPEC = json.loads((FOLDER / "spec.json").read_text(encoding="utf-8"))
RECORD = json.loads((FOLDER / "record.json").read_text(encoding="utf-8"))
ARMS = [arm["name"] for arm in SPEC["arms"]]
HEX = re.compile(r"[0-9a-f]{64}")

HOME = {
    "initialization_provenance": Gate.RESTORATION,
    "activation_calibration": Gate.ACTIVATION,
    "feasibility": Gate.FEASIBILITY,
    "evaluation": Gate.EVALUATOR,
    "loss_eval": Gate.LOSS_EVAL,
    "decision": Gate.DECISION,
    "evidence": Gate.EVIDENCE,
}
FAMILY = {
    Gate.RESTORATION: "RX32",
    Gate.ACTIVATION: "RX34",
    Gate.FEASIBILITY: "RX35",
    Gate.EVALUATOR: "RX36",
    Gate.LOSS_EVAL: "RX45",
    Gate.DECISION: "RX4",
    Gate.EVIDENCE: "RX38",
}

NOT_JUDGED = [
    "correctness_preflight*",  # stock code only: the gate does not apply
    "*.note *",
    "summary rename",
    "tested_instead rename",
    "deviations.*.reason rename",
    "deviations.*.original *",  # words; the spec has the figures
    "deviations.*.effective retype",
    "deviations.? drop",  # one of several
    "deviations.1.effective rename",  # of the first, the model, the summary speaks
    "metrics.* drop",  # whoever has not posted a number yet may still do so
    "metrics.* off",  # figures of nobody's endpoint; those of arms stand twice and are compared
    "*.actual_config.weight_decay *",  # not requested by the spec
    "*.actual_config.grad_clip_norm *",
    "activation_calibration.values.train_nll_drop_step0_to_step10 off",  # still in its range
    "feasibility.primary_endpoint *",  # a warning
    "feasibility.source rename",
    "feasibility.*.seconds off",  # a measurement: any positive number is one
    "feasibility.*units off",
    "feasibility.*samples off",
    "feasibility.*gpu_count drop",  # nothing said, as before
    "feasibility.*allocation_source *",
    "feasibility.generation *",
    "*.decoding.stop empty",  # it is empty
    "evaluation.scores.0*",  # the untrained base model takes part in no comparison
    "loss_eval.arms.*.aggregation drop",  # stands for the section's
    "loss_eval.arms.*.example_mean *",  # the value is the token mean
    "loss_eval.arms.*.n_empty *",
    "loss_eval.arms.*.token_mean drop",  # follows from the sums
    "evidence.files.* drop",  # one of several of its kind, to which nothing refers
    "evidence.files.*.name rename",
    "evidence.files.*.kind *",
    "evidence.files.*.sha256 drop",
    "evidence.checkpoints*drop",
    "evidence.checkpoints empty",
    "evidence.checkpoints.*.uri rename",
    "evidence.checkpoints.*.arm *",  # a warning
    "evidence.per_arm_metrics.*.* drop",
]
"""Faults that may go by: prose, measurements, and what the contract leaves optional."""

AT_HOME_ELSEWHERE = [
    ("completed_arms*", Gate.DECISION),
    ("outcome_reason drop", Gate.DECISION),
    ("original_hypothesis_tested flip", Gate.DECISION),
    ("*_ref rename", Gate.EVIDENCE),
    ("evidence.checkpoints.*.step off", Gate.RECORD),
    ("evidence.per_arm_metrics.* off", Gate.RECORD),
    ("evaluation.scores.* off", Gate.DECISION),
    ("evaluation.scores.* swap", Gate.DECISION),
]
"""Faults that another gate than that of their section answers for."""


def places(value, path=()):
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield (*path, key), item
        if isinstance(item, dict | list):
            yield from places(item, (*path, key))


def faults(value):
    """Every single fault of one value, each with its name."""
    yield "drop", None
    match value:
        case bool():
            yield from [("flip", not value), ("retype", int(value))]
        case int() | float():
            yield from [("nan", math.nan), ("text", str(value)), ("off", value + 1)]
        case str() if HEX.fullmatch(value):
            yield from [("retype", 7), ("hash", ("1" if value[0] == "0" else "0") + value[1:])]
        case str() if value in ARMS:
            yield "swap", next(arm for arm in ARMS if arm != value)
        case str():
            yield from [("retype", 7), ("empty", ""), ("rename", f"{value}x")]
        case dict():
            yield from [("retype", []), ("empty", {})]
        case list():
            yield from [("retype", {}), ("empty", [])]


def mutations():
    """(name, path, fault, value) of every fault in every place; like places only once."""
    seen = set()
    for path, value in places(RECORD):
        shape = [k if not isinstance(k, int) or k == 0 else "n" for k in path]
        shape = ["arm" if k in ARMS else k for k in shape]
        for fault, new in faults(value):
            name = f"{'.'.join(map(str, path))} {fault}"
            if (tuple(shape), fault) not in seen:
                seen.add((tuple(shape), fault))
                yield name, path, fault, new


def mutated(path, fault, new):
    record = copy.deepcopy(RECORD)
    owner = record
    for key in path[:-1]:
        owner = owner[key]
    if fault == "drop":
        del owner[path[-1]]
    else:
        owner[path[-1]] = new
    return record


MUTATIONS = list(mutations())
JUDGED = [m for m in MUTATIONS if not any(fnmatchcase(m[0], pattern) for pattern in NOT_JUDGED)]


def gates_of(name):
    elsewhere = [gate for pattern, gate in AT_HOME_ELSEWHERE if fnmatchcase(name, pattern)]
    return {HOME.get(re.split(r"[ .]", name)[0], Gate.RECORD), *elsewhere}


def answer(gate, record):
    return JUDGES[gate](Spec.of(SPEC), Record.of(record), inline_evidence(record))


def test_the_record_as_it_was_handed_in_has_no_finding():
    results = judge_all(SPEC, RECORD)
    assert {gate for gate, result in results.items() if not result.status.opens} == set()
    levels = {finding.level for result in results.values() for finding in result.reasons}
    assert levels <= {Level.WARNING, Level.NOTE}


def test_there_are_enough_faults():
    assert len(JUDGED) >= 300


@pytest.mark.parametrize("section", sorted({m[1][0] for m in JUDGED}))
def test_every_fault_closes_the_gate_of_its_section_with_a_code_of_that_gate(section):
    wrong = {}
    for name, path, fault, new in JUDGED:
        if path[0] != section:
            continue
        closed = {}
        for gate in gates_of(name):
            result = answer(gate, mutated(path, fault, new))
            if not result.status.opens:
                closed[gate] = {finding.code for finding in result.reasons}
        if not closed:
            wrong[name] = "not caught"
        for gate, codes in closed.items():
            if not all(code.startswith(FAMILY.get(gate, "RX")) for code in codes):
                wrong[name] = sorted(codes)
    assert wrong == {}


@pytest.mark.parametrize("path", [p for p, v in places(RECORD) if isinstance(v, list) and v])
def test_order_means_nothing(path):
    record = copy.deepcopy(RECORD)
    found = record
    for key in path:
        found = found[key]
    found.reverse()
    if "items" in path:  # the item list is part of the evaluator's identity
        return
    results = judge_all(SPEC, record)
    assert {gate for gate, result in results.items() if not result.status.opens} == set()
