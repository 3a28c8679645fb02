"""What kind of document this is, told from its members alone."""

from collections.abc import Mapping
from enum import StrEnum

from rx_tools.schemas.library import PREFIX, schema, schema_names


class Kind(StrEnum):
    """The documents that are judged; each value but `UNKNOWN` is the name of a schema."""

    SPEC = "spec"
    RECORD = "record"
    PREFLIGHT = "preflight"
    PLAN = "plan"
    RUN = "run"
    CLEARANCE = "clearance"
    BUNDLE = "bundle"
    LEDGER = "ledger-line"
    UNKNOWN = "unknown"


FEWEST = 2
"""So many members of its own make a document of a kind; one alone is a bare section."""

RUN_STATES = ("running", "succeeded", "failed")


def kind_of(value: object) -> Kind:
    """The kind of a document; `UNKNOWN` where its members fit none, or several equally well."""
    if not isinstance(value, Mapping):
        return Kind.UNKNOWN
    if is_ours(value):
        return declared(value)
    if value.get("status") in RUN_STATES:
        return Kind.RECORD
    if set(value) == {"correctness_preflight"}:
        return Kind.PREFLIGHT
    spec, record = overlap(value, Kind.SPEC), overlap(value, Kind.RECORD)
    if spec == record or max(spec, record) < FEWEST:
        return Kind.UNKNOWN
    return Kind.SPEC if spec > record else Kind.RECORD


def is_ours(value: Mapping[str, object]) -> bool:
    """Whether the document itself states which schema it follows."""
    return str(value.get("schema", "")).startswith(PREFIX)


def declared(value: Mapping[str, object]) -> Kind:
    """The kind that a document of our own states in `schema`."""
    name = str(value.get("schema", "")).removeprefix(PREFIX).rpartition(":")[0]
    known = name in schema_names() and name in {kind.value for kind in Kind}
    return Kind(name) if known else Kind.UNKNOWN


def overlap(value: Mapping[str, object], kind: Kind) -> int:
    """How many of a document's members only this kind has."""
    own = set(schema(kind)["properties"])
    other = set(schema(Kind.RECORD if kind is Kind.SPEC else Kind.SPEC)["properties"])
    return len((own - other) & set(value))
