"""No judge is opened by what is not there, or by what is not a number."""

import copy
import json
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judge_cases import GATES, PATHS, evidence_of, judge, load

from rx_tools.checks.validation import JUDGES, judge_all, validate
from rx_tools.model.evidence import Evidence, EvidenceFile
from rx_tools.model.json_path import child
from rx_tools.model.record import Record
from rx_tools.model.result import Status
from rx_tools.model.spec import Spec

NO_NUMBERS = [math.nan, math.inf, -math.inf, float("1e999"), True, False, "1", [], {}, 10**400]

UNREAD = {
    "restoration": ["$.decision.version"],
    "evidence": ["$.evaluation"],
    "generation_audit": ["$.evidence.version"],
}
"""Numbers of a case that its judge has no business with."""

BY_STATUS = {
    status: [path for path in PATHS if path.stem.startswith(f"{status}-")]
    for status in ("passed", "failed", "invalid", "unverified", "unknown")
}
CLOSED = [path for status, paths in BY_STATUS.items() if status != "passed" for path in paths]


def name_of(path):
    return f"{path.parent.name}/{path.stem}"


def leaves(value, path="$"):
    """Every member and element below a document: its path, its owner and its key."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in list(items) if isinstance(value, dict | list) else ():
        yield child(path, key), value, key
        if isinstance(item, dict | list):
            yield from leaves(item, child(path, key))


def below(path, places):
    return any(path == place or path.startswith((f"{place}.", f"{place}[")) for place in places)


def pieces_of(case):
    """Every piece of a record and every file, by the name under which it can be taken away."""
    return [path for path, _, _ in leaves(case["record"])] + [f"@{n}" for n in case["evidence"]]


def without(case, piece):
    """The case without one piece; the case itself where the piece is already gone."""
    smaller = copy.deepcopy(case)
    if piece.startswith("@"):
        smaller["evidence"].pop(piece[1:], None)
        return smaller
    for path, owner, key in leaves(smaller["record"]):
        if path == piece:
            del owner[key]
            break
    return smaller


@pytest.mark.parametrize("path", BY_STATUS["passed"], ids=name_of)
def test_what_is_no_number_never_passes(path):
    case, check = load(path), path.parent.name
    for place, _, _ in leaves(case["record"]):
        found = next((o, k) for p, o, k in leaves(case["record"]) if p == place)
        value = found[0][found[1]]
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if below(place, UNREAD.get(check, [])):
            continue
        for bad in NO_NUMBERS:
            broken = copy.deepcopy(case)
            owner, key = next((o, k) for p, o, k in leaves(broken["record"]) if p == place)
            owner[key] = bad
            assert not judge(check, broken).status.opens, (place, bad)


@pytest.mark.parametrize("path", CLOSED, ids=name_of)
def test_taking_anything_away_never_opens_a_closed_gate(path):
    case, check = load(path), path.parent.name
    surplus = case["expect"].get("surplus", [])
    for piece in pieces_of(case):
        if not below(piece, surplus):
            assert not judge(check, without(case, piece)).status.opens, piece


@pytest.mark.parametrize("path", BY_STATUS["passed"], ids=name_of)
def test_what_closed_a_gate_by_its_absence_is_not_mended_by_taking_more_away(path):
    case, check = load(path), path.parent.name
    pieces = pieces_of(case)
    surplus, chooser = case["expect"].get("surplus", []), random.Random(0)
    closing = [p for p in pieces if not judge(check, without(case, p)).status.opens]
    for _ in range(80):
        smaller = without(case, chooser.choice(closing))
        rest = [p for p in pieces_of(smaller) if not below(p, surplus)]
        if rest:
            piece = chooser.choice(rest)
            assert not judge(check, without(smaller, piece)).status.opens, piece


def keys_of(document):
    return {key for _, owner, key in leaves(document) if isinstance(owner, dict)}


KEYS = sorted(
    {key for path in PATHS for part in ("spec", "record") for key in keys_of(load(path)[part])}
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.just(10**400),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["passed", "server_response", "running", "frozen", "UNRESOLVED: x", "a" * 64]),
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(st.sampled_from(KEYS), st.text(max_size=5)), inner, max_size=4),
    ),
    max_leaves=25,
)


@settings(max_examples=120, deadline=None)
@given(ANYTHING, ANYTHING)
def test_arbitrary_documents_get_an_answer(spec, record):
    results = judge_all(spec, record)
    assert all(isinstance(result.status, Status) for result in results.values())
    assert validate(spec, record)


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_a_case_with_anything_in_one_place_gets_an_answer(data):
    path = data.draw(st.sampled_from(PATHS))
    case = load(path)
    part = data.draw(st.sampled_from(["spec", "record"]))
    places = list(leaves(case[part]))
    if places:
        _, owner, key = data.draw(st.sampled_from(places))
        owner[key] = data.draw(ANYTHING)
    assert isinstance(judge(path.parent.name, case).status, Status)
    assert GATES


LINES = st.lists(
    st.one_of(
        st.binary(max_size=20),
        st.sampled_from([b"[" * 20000, b'{"item_id": 1e400}', b'{"a": 1, "a": 2}', b"\xff\xfe{"]),
        ANYTHING.map(lambda value: json.dumps(value).encode()),
    ),
    max_size=4,
)


WITH_FILES = [p for p in BY_STATUS["passed"] if p.parent.name in ("evidence", "generation_audit")]


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(WITH_FILES), st.data())
def test_arbitrary_bytes_in_a_file_get_an_answer_that_does_not_pass(path, data):
    case, check = load(path), path.parent.name
    name = data.draw(st.sampled_from(sorted(case["evidence"])))
    kinds = {f["name"]: f["kind"] for f in case["record"]["evidence"]["files"]}
    content = b"\n".join(data.draw(LINES))
    files = {
        **evidence_of(case).files,
        name: EvidenceFile.of_bytes(name, kinds[name], content),
    }
    result = JUDGES[GATES[check]](Spec.of(case["spec"]), Record.of(case["record"]), Evidence(files))
    assert not result.status.opens


def nested(depth, kind):
    found = kind()
    for _ in range(depth):
        found = [found] if kind is list else {"a": found}
    return found


DEEP = [nested(50_000, list), nested(50_000, dict)]


@pytest.mark.parametrize("path", BY_STATUS["passed"], ids=name_of)
def test_nesting_of_any_depth_gets_an_answer(path):
    case = load(path)
    for part in ("record", "spec"):
        for index, (place, _, _) in enumerate(list(leaves(case[part]))):
            changed = load(path)
            owner, key = next((o, k) for p, o, k in leaves(changed[part]) if p == place)
            owner[key] = DEEP[index % 2]
            assert isinstance(judge(path.parent.name, changed).status, Status), place
