"""The schemas of the contract, as they lie beside this module. Nothing is ever fetched."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from rx_tools.errors import UsageError

PREFIX = "urn:rx:schema:"
ENDING = ".v1.json"
SECTIONS = {
    "correctness_preflight": "correctness",
    "initialization_provenance": "initialization",
    "activation_calibration": "activation",
    "loss_eval": "loss-eval",
    "decision_rule": "decision-rule",
    "generation_audit": "generation-audit",
    "ledger": "ledger-line",
    "manifest": "bundle",
}
"""The names that documents use for what a schema describes."""


def schema_id(name: str, major: int = 1) -> str:
    """The `$id` of a schema: `urn:rx:schema:spec:1`."""
    return f"{PREFIX}{name}:{major}"


@cache
def schema_names() -> tuple[str, ...]:
    """The names of all schemas, sorted."""
    found = (entry.name for entry in files(__package__).iterdir())
    return tuple(sorted(name.removesuffix(ENDING) for name in found if name.endswith(ENDING)))


@cache
def schema_text(name: str) -> str:
    """The text of a schema; `spec`, `spec.v1` and its `$id` name the same one.

    A section of a record may be named as the record names it, such as `loss_eval`.
    """
    short = name.removeprefix(PREFIX).removesuffix(":1").removesuffix(".v1")
    short = SECTIONS.get(short, short)
    if short not in schema_names():
        known = ", ".join(schema_names())
        raise UsageError(f"no schema is named {name!r}", hint=f"there are: {known}")
    return files(__package__).joinpath(short + ENDING).read_text("utf-8")


@cache
def schema(name: str) -> Mapping[str, Any]:
    """A schema as a document. It is shared: do not change it."""
    document: dict[str, Any] = json.loads(schema_text(name))
    return document


def all_schemas() -> Mapping[str, Mapping[str, Any]]:
    """Every schema by its `$id`."""
    return {schema_id(name): schema(name) for name in schema_names()}


def resolve(reference: str, home: str) -> tuple[Mapping[str, Any], str]:
    """The subschema behind a `$ref` that stands in the schema with the `$id` `home`.

    Returns it with the `$id` of the schema that it stands in.
    """
    address, _, pointer = reference.partition("#")
    target = address or home
    node: Any = schema(target)
    for step in pointer.split("/")[1:]:
        node = node[step.replace("~1", "/").replace("~0", "~")]
    return node, target
