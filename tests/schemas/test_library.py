"""The schemas keep to the few constructs that are safe, and agree with the model."""

import dataclasses
import json
import re
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from rx_tools.checks.clearance import Binding
from rx_tools.checks.shape import judge_shape, validator
from rx_tools.errors import UsageError
from rx_tools.evidence.ledger_line import LedgerLine
from rx_tools.model.evidence import KINDS
from rx_tools.model.record import OUTCOME_REASONS, VERDICTS, Record
from rx_tools.model.spec import FEATURES, Arm, Budget, Dataset, EvalPlan, Spec
from rx_tools.planning.metrics import When
from rx_tools.planning.plan import (
    BESIDE,
    CorrectnessPath,
    DataPlan,
    EvaluationPlan,
    Grid,
    Plan,
    PlannedArm,
    PlannedMetric,
    Schedule,
)
from rx_tools.schemas.library import PREFIX, all_schemas, resolve, schema, schema_id, schema_names

KEYWORDS = {
    "$schema",
    "$id",
    "$ref",
    "$defs",
    "title",
    "description",
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "pattern",
    "not",
    "anyOf",
    "oneOf",
    "if",
    "then",
    "else",
    "propertyNames",
    "examples",
}
MAPS = {"properties", "$defs"}
LISTS = {"anyOf", "oneOf"}
SINGLES = {"items", "additionalProperties", "not", "if", "then", "else", "propertyNames"}


def nodes(node):
    yield node
    for keyword, inner in node.items():
        if keyword in MAPS:
            below = list(inner.values())
        elif keyword in LISTS:
            below = inner
        else:
            below = [inner] if keyword in SINGLES else []
        for child in below:
            if isinstance(child, Mapping):
                yield from nodes(child)


EVERY = [(name, node) for name in schema_names() for node in nodes(schema(name))]


@pytest.mark.parametrize("name", schema_names())
def test_identity_and_metaschema(name):
    body = schema(name)
    assert body["$id"] == schema_id(name)
    assert body["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    Draft202012Validator.check_schema(body)
    assert list(body)[-1] == "examples"


def test_no_keyword_is_misspelt():
    for name, node in EVERY:
        assert set(node) <= KEYWORDS, name


def test_references_stay_at_home():
    for name, node in EVERY:
        if "$ref" in node:
            assert node["$ref"].startswith(("#", PREFIX)), name
            assert resolve(node["$ref"], schema_id(name))[0]


def test_patterns_run_in_linear_time_and_no_end_anchor_is_trusted():
    for name, node in EVERY:
        if "pattern" in node:
            re2.compile(node["pattern"])
            assert "$" not in node["pattern"], f"{name}: `$` accepts a final newline in Python"
            assert "\\d" not in node["pattern"], f"{name}: `\\d` accepts foreign digits"


def reference(name):
    registry = Registry().with_resources(
        [(address, Resource.from_contents(body)) for address, body in all_schemas().items()]
    )
    return Draft202012Validator(schema(name), registry=registry)


def sides(name, value):
    ours = {
        (*map(str, e.instance_path), e.schema_path[-1]) for e in validator(name).iter_errors(value)
    }
    theirs = {(*map(str, e.absolute_path), e.validator) for e in reference(name).iter_errors(value)}
    return ours, theirs


EXAMPLES = [(name, example) for name in schema_names() for example in schema(name)["examples"]]


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_examples_validate_without_a_word(name, example):
    assert judge_shape(example, name, name) == ()
    assert sides(name, example) == (set(), set())


def test_every_schema_has_an_example():
    assert {name for name, _ in EXAMPLES} == set(schema_names()) - {"common"}


def spots(value, path=()):
    yield path
    members = ()
    if isinstance(value, dict):
        members = value.items()
    elif isinstance(value, list):
        members = enumerate(value)
    for key, inner in members:
        yield from spots(inner, (*path, key))


def replaced(value, path, new):
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


ODD = st.sampled_from([None, True, "", " ", "a\n", -1, 0, 1.5, [], [[0], [False]], {}, {"x": 1}])


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_two_validators_agree_on_broken_documents(data):
    name, example = data.draw(st.sampled_from(EXAMPLES))
    path = data.draw(st.sampled_from(list(spots(example))))
    broken = replaced(example, path, data.draw(ODD))
    ours, theirs = sides(name, broken)
    assert ours == theirs
    assert bool(ours) == any(f.code == "RX010" for f in judge_shape(broken, name, name))


def test_hostile_strings():
    digest = schema("evidence")["examples"][0] | {"version": True}
    assert judge_shape(digest, "evidence", "record")[0].json_path == "$.version"
    row = dict(schema("observation")["examples"][0])
    for bad in ("a" * 64 + "\n", "a" * 63 + "١", "A" * 64):
        assert judge_shape(row | {"evaluator_id": bad}, "observation", "row")
    for bad in ("../../x", "/abs", "C:\\x", "~/x", "x\n", ""):
        name = {"version": 1, "files": [{"name": bad, "kind": "script", "content": ""}]}
        assert judge_shape(name, "evidence", "record"), bad


def test_type_strict_equality():
    rule = dict(schema("decision-rule")["examples"][0])
    assert judge_shape(rule | {"seeds": [0, True]}, "decision-rule", "spec")
    assert judge_shape(rule | {"seeds": [0, 0, 1]}, "decision-rule", "spec")
    assert judge_shape(rule | {"version": True}, "decision-rule", "spec")


def fields(view):
    return {field.name for field in dataclasses.fields(view)} - {"raw"}


def test_spec_view_and_schema_do_not_drift():
    properties = schema("spec")["properties"]
    renamed = {
        "features": "experiment_features",
        "correctness": "correctness_preflight",
        "activation": "activation_gate",
        "restoration": "restoration_preflight",
    }
    derived = {"optimizer_name", "optimizer_lr"}
    assert {renamed.get(name, name) for name in fields(Spec) - derived} <= set(properties)
    assert set(properties["experiment_features"]["properties"]) == set(FEATURES)
    for view, name in ((Dataset, "dataset"), (EvalPlan, "eval"), (Budget, "budget")):
        assert fields(view) == set(properties[name]["properties"]), name
    assert fields(Arm) - {"lr_text"} <= set(properties["arms"]["items"]["properties"])


def test_record_view_and_schema_do_not_drift():
    properties = schema("record")["properties"]
    inside = {"arm_metrics", "files", "checkpoints"}
    assert fields(Record) - inside <= set(properties)
    assert tuple(properties["verdict"]["enum"]) == VERDICTS
    assert tuple(properties["outcome_reason"]["enum"]) == OUTCOME_REASONS
    files = schema("evidence")["properties"]["files"]["items"]["properties"]
    assert tuple(files["kind"]["enum"]) == KINDS


def test_plan_and_schema_do_not_drift():
    properties = schema("plan")["properties"]
    assert fields(Plan) | set(BESIDE) == set(properties)
    for view, body in (
        (PlannedArm, properties["arms"]["items"]),
        (Grid, properties["grids"]["items"]),
        (Schedule, properties["schedule"]),
        (DataPlan, properties["data"]),
        (EvaluationPlan, properties["evaluation"]),
        (PlannedMetric, properties["activation"]["items"]),
        (CorrectnessPath, properties["correctness"]["items"]),
    ):
        assert fields(view) == set(body["properties"]) == set(body["required"]), view


def test_clearance_and_ledger_line_do_not_drift():
    binding = schema("clearance")["properties"]["binding"]
    assert fields(Binding) == set(binding["properties"]) == set(binding["required"])
    line = schema("ledger-line")
    members = {field.name for field in msgspec.structs.fields(LedgerLine)} - {"sha256"}
    assert members == set(line["properties"]) == set(line["required"])


def test_every_event_that_is_written_is_known():
    root = Path(__file__).parents[2] / "rx_tools"
    written = {
        name
        for path in root.rglob("*.py")
        for name in re.findall(r'ledger\.append\(\s*"([a-z_]+)"', path.read_text())
    }
    assert len(written) > 10
    assert written <= set(schema("ledger-line")["properties"]["event"]["enum"])


def test_a_plan_knows_every_way_in_which_a_metric_comes():
    activation = schema("plan")["properties"]["activation"]["items"]
    assert set(activation["properties"]["when"]["enum"]) == set(When)


def test_sections_are_found_under_the_names_of_the_record():
    for section, body in schema("record")["properties"].items():
        if "$ref" in body:
            assert schema(section)["$id"] == body["$ref"]
    assert schema("spec.v1") == schema("urn:rx:schema:spec:1") == schema("spec")


def test_unknown_schema_is_named():
    with pytest.raises(UsageError, match="there are: activation"):
        schema("specc")


def test_shared_documents_are_what_the_files_say():
    for name in schema_names():
        assert json.loads(json.dumps(schema(name))) == schema(name)
