"""A document has the shape that the contract gives it.

**What.** Types, required members, allowed values and closed objects as in the JSON Schemas that
`rx schema NAME` prints. A member that no schema names is an error where the contract is closed, and
a warning where documents in the wild are open.

**Why.** A misspelt or misplaced member is not read by any gate: the evidence is there and counts as
missing. That is how a finished run lost its evaluator and its restoration.

**Fix.** Put the value at the path and under the name that the schema gives; the hint names the
nearest known member.

**Source.** Exchange contract, sections 3 to 12, as schemas in JSON Schema 2020-12.
"""

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from rx_tools.model.depth import is_flat
from rx_tools.model.json import as_list
from rx_tools.model.json_path import below, child
from rx_tools.model.result import Finding, Level
from rx_tools.schemas.library import all_schemas, resolve, schema, schema_id

CODES: Mapping[str, str] = {
    "RX008": "it cannot be told what kind of document this is",
    "RX010": "a value does not have the shape of the contract",
    "RX011": "a member is not one that the contract names",
}

LONGEST_SHOWN = 60


@cache
def validator(name: str) -> Any:
    """The compiled validator of a schema, with every reference resolved from the package."""
    from jsonschema_rs import Draft202012Validator, Registry

    registry = Registry([(address, dict(body)) for address, body in all_schemas().items()])
    return Draft202012Validator(dict(schema(name)), registry=registry)


def judge_shape(value: object, name: str, document: str) -> tuple[Finding, ...]:
    """Errors of a document against a schema, then its unknown members, each with its path."""
    errors = () if validator(name).is_valid(value) else tuple(violations(value, name, document))
    return (*errors, *unknown_members(value, name, document))


def violations(value: object, name: str, document: str) -> Iterator[Finding]:
    """One finding per violation, in the order of the document's paths."""
    errors = validator(name).iter_errors(value)
    for error in sorted(errors, key=lambda found: document_order(found.instance_path)):
        keyword = str(error.schema_path[-1]) if error.schema_path else "false"
        yield Finding(
            "RX010",
            Level.ERROR,
            describe(keyword, error),
            below("$", *error.instance_path),
            f"see the `{name}` schema: rx schema {name}",
            document,
        )


def document_order(path: Iterable[str | int]) -> list[tuple[int, str]]:
    """A sort key: members by name, elements by index."""
    return [(step, "") if isinstance(step, int) else (-1, step) for step in path]


def describe(keyword: str, error: Any) -> str:
    """What is wrong, in one sentence that never repeats a whole document."""
    shown, details = show(error.instance), error.kind.as_dict()
    match keyword:
        case "required":
            return f"{json.dumps(details['property'])} is missing"
        case "additionalProperties":
            names = ", ".join(json.dumps(name) for name in details["unexpected"])
            return f"not allowed here: {names}"
        case "type":
            return f"{shown} is no {' or '.join(details['types'])}"
        case "enum":
            return (
                f"{shown} is none of {', '.join(json.dumps(item) for item in details['options'])}"
            )
        case "const":
            return f"{shown} is not {json.dumps(details['expected_value'])}"
        case _:
            return explained(error, shown)


def explained(error: Any, shown: str) -> str:
    """The schema's own description of what it wants, else the validator's words."""
    wanted = described_at(str(error.absolute_keyword_location or ""))
    if wanted:
        return f"{shown} is not {wanted}"
    return f"{shown}: {clip(str(error.message))}"


def described_at(location: str) -> str:
    """The `description` beside the keyword at an absolute location, if there is one."""
    address, _, pointer = location.partition("#")
    if not pointer:
        return ""
    beside = pointer.rpartition("/")[0]
    node, _ = resolve(f"{address}#{beside}", address)
    return str(node.get("description", ""))


def show(value: object) -> str:
    """A value in one short line."""
    if isinstance(value, dict):
        return "this object"
    if isinstance(value, list):
        return "this list"
    return clip(json.dumps(value, ensure_ascii=False))


def clip(text: str) -> str:
    """At most 60 characters on one line."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_SHOWN else f"{line[: LONGEST_SHOWN - 1]}…"


def unknown_members(value: object, name: str, document: str) -> Iterator[Finding]:
    """A warning for each member that an open object of the schema does not name."""
    yield from _unknown(value, schema(name), schema_id(name), "$", document)


def _unknown(value: object, node: Any, home: str, path: str, document: str) -> Iterator[Finding]:
    if not isinstance(node, Mapping):
        return
    if "$ref" in node:
        node, home = resolve(node["$ref"], home)
    if isinstance(value, dict):
        yield from _unknown_in_object(value, node, home, path, document)
    elif isinstance(value, list) and not is_flat(value):
        for index, item in enumerate(value):
            yield from _unknown(item, node.get("items"), home, child(path, index), document)
    for branch in as_list(node.get("anyOf")):
        yield from _unknown(value, branch, home, path, document)


def _unknown_in_object(
    value: Mapping[str, Any], node: Mapping[str, Any], home: str, path: str, document: str
) -> Iterator[Finding]:
    named = node.get("properties")
    rest = node.get("additionalProperties")
    for key, inner in value.items():
        if named is not None and key in named:
            yield from _unknown(inner, named[key], home, child(path, key), document)
        elif isinstance(rest, Mapping):
            yield from _unknown(inner, rest, home, child(path, key), document)
        elif named is not None and rest is None:
            yield _warning(key, named, child(path, key), document)


def _warning(key: str, named: Mapping[str, Any], path: str, document: str) -> Finding:
    near = difflib.get_close_matches(key, named, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "no check reads it"
    message = f"{show(key)} is not a member that the contract names"
    return Finding("RX011", Level.WARNING, message, path, hint, document)
