"""Arbitrary documents: never a traceback, never the exit code of a bug, never an accident."""

import json
from contextlib import redirect_stderr, redirect_stdout
from functools import lru_cache
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rx_tools.checks.documents import judge_document, judge_pair
from rx_tools.checks.kinds import Kind, kind_of
from rx_tools.checks.record_rules.updates import judge_updates
from rx_tools.cli.app import build
from rx_tools.model.evidence import Evidence, EvidenceFile
from rx_tools.model.record import Record
from rx_tools.model.result import Result, Status

FIXTURES = Path(__file__).parents[1] / "fixtures"


@lru_cache
def fixture(name):
    return json.loads((FIXTURES / name).read_text())


SPECS = ("exp_9574bbb76e.spec.json", "exp_71911f0fb9.spec.json")
RECORDS = ("exp_9574bbb76e.run.json",)
NUMBERS = st.integers(-(10**18), 10**18) | st.floats() | st.sampled_from([1e308, -0.0, 1e-320])
ATOMS = st.none() | st.booleans() | NUMBERS | st.text(max_size=8) | st.just("a" * 64)
JSON = st.recursive(
    ATOMS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)


def spots(value, path=()):
    yield path
    if isinstance(value, dict):
        members = value.items()
    else:
        members = enumerate(value) if isinstance(value, list) else ()
    for key, inner in members:
        yield from spots(inner, (*path, key))


def replaced(value, path, new):
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


@lru_cache
def spots_of(name):
    return tuple(spots(fixture(name)))


@st.composite
def damaged(draw, names):
    """A real document with one to three places replaced by anything."""
    name = draw(st.sampled_from(names))
    value = fixture(name)
    for path in draw(st.lists(st.sampled_from(spots_of(name)), min_size=1, max_size=3)):
        try:
            value = replaced(value, path, draw(JSON))
        except (KeyError, IndexError, TypeError):
            continue
    return value


FILES = st.dictionaries(
    st.sampled_from(["scored-observations.jsonl", "preflight_out.json", "code-revision.txt"]),
    st.binary(max_size=60) | st.just(b'{"item_id":"a","value":1}\n{}\n[]\n"\xe2\x80\xa8"\n'),
    max_size=2,
)


def evidence_of(files):
    return Evidence({n: EvidenceFile.of_bytes(n, "metrics", data) for n, data in files.items()})


@settings(max_examples=120, deadline=None)
@given(damaged(SPECS) | JSON, damaged(RECORDS) | JSON, FILES)
def test_every_judge_answers_anything(spec, record, files):
    answer = judge_pair(spec, record, evidence_of(files))
    for gate, result in answer.gates.items():
        assert isinstance(result, Result), gate
        assert result.details["status"] == result.status.value
        json.dumps(result.details, allow_nan=False)
        if result.status in (Status.FAILED, Status.UNVERIFIED, Status.INVALID, Status.UNKNOWN):
            assert result.reasons, gate
    for finding in (*answer.on_spec, *answer.on_record):
        assert finding.json_path.startswith("$")
        assert "\n" not in finding.message


@settings(max_examples=120, deadline=None)
@given(damaged(SPECS) | damaged(RECORDS) | JSON, damaged(RECORDS))
def test_every_rule_answers_anything(value, other):
    for kind in Kind:
        if kind is not Kind.UNKNOWN and kind in {"spec", "record", "preflight", "plan", "run"}:
            judge_document(kind, value)
    judge_updates([Record.of(value), Record.of(other)])
    kind_of(value)


def rx(*words):
    with (
        redirect_stdout(StringIO()) as out,
        redirect_stderr(StringIO()) as err,
        pytest.raises(SystemExit) as left,
    ):
        build(words)(list(words))
    return left.value.code, out.getvalue(), err.getvalue()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=80) | JSON.map(lambda v: json.dumps(v).encode()), st.data())
def test_the_command_line_answers_any_bytes(content, data):
    output = data.draw(st.sampled_from(["text", "json", "sarif", "junit", "github"]))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "document.json"
        path.write_bytes(content)
        code, out, err = rx("validate", str(path), "--format", output)
    assert code in (1, 3), (content, err)
    assert out.strip() and not err


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(damaged(SPECS), damaged(RECORDS))
def test_the_command_line_answers_any_pair(spec, record):
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / "spec.json", Path(folder) / "record.json"]
        for path, value in zip(paths, (spec, record), strict=True):
            path.write_text(json.dumps(value))
        code, _, err = rx("validate", *map(str, paths), "--format", "json")
    assert code in (1, 3), err
    assert not err
