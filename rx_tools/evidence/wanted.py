"""Reading the document that a command asks for, and saying so when it is another one."""

from collections.abc import Mapping
from pathlib import Path

from rx_tools.checks.kinds import Kind, is_ours, kind_of, overlap
from rx_tools.errors import DocumentError
from rx_tools.evidence.strict_json import Document, read_document
from rx_tools.schemas.library import schema

HINTS: Mapping[Kind, str] = {
    Kind.SPEC: "give the spec of the experiment; `rx init` writes one to start from",
    Kind.RECORD: "give the record that the run hands in; `rx record RUN_DIR` prints it",
    Kind.PLAN: "`rx plan SPEC -o PLAN` writes one",
}
ALSO: Mapping[Kind, Kind] = {Kind.RECORD: Kind.PREFLIGHT}
"""A bare preflight section is accepted in place of a record."""


def read_as(path: Path, wanted: Kind) -> Document:
    """Read a document of one kind; raises `DocumentError` for one that is clearly another."""
    document = read_document(path)
    fault = fault_of(document.value, wanted)
    if fault:
        raise DocumentError(fault, where=str(path), hint=HINTS[wanted])
    return document


def fault_of(value: object, wanted: Kind) -> str:
    """Why a value is no document of a kind; empty where it may be one, however incomplete."""
    if not isinstance(value, Mapping):
        return f"is no JSON object, so it is no {wanted}"
    kind = kind_of(value)
    if kind in (wanted, ALSO.get(wanted)):
        return ""
    if kind in (Kind.SPEC, Kind.RECORD) and wanted in (Kind.SPEC, Kind.RECORD):
        clear = overlap(value, kind) > overlap(value, wanted)
        return f"is a {kind}, not a {wanted}" if clear else ""
    if kind is not Kind.UNKNOWN:
        return f"is a {kind}, not a {wanted}"
    strange = value and not members_of(wanted) & set(value)
    if strange or is_ours(value):
        return f"is no {wanted}: it holds none of the members of one"
    return ""


def members_of(wanted: Kind) -> set[str]:
    """The members of a kind; for a record also those of the correctness section on its own."""
    section = schema("correctness")["properties"] if wanted is Kind.RECORD else {}
    return {*schema(wanted)["properties"], *section}
