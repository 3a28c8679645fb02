"""The evidence level, repetitions: files that say again what plan and ledger hold."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from rx_tools.checks.deciding.typed_rows import fill_their_lines
from rx_tools.checks.rows import RowError, parse
from rx_tools.evidence.claim import Claim, contradicted, verified
from rx_tools.evidence.contents import json_object
from rx_tools.evidence.digest import Files
from rx_tools.evidence.layout import LEDGER, PLAN, in_evidence
from rx_tools.evidence.timeline import Timeline
from rx_tools.evidence.verify_feasibility import whole_plan
from rx_tools.model.json import JsonObject, as_object
from rx_tools.model.names import Gate
from rx_tools.model.result import Status
from rx_tools.planning import evidence_names as names
from rx_tools.planning.effective import effective_document
from rx_tools.planning.executed import executed

DECODER = msgspec.json.Decoder(dict[str, Any])


def verify_repeated(files: Files, plan: JsonObject, history: Timeline) -> Iterator[Claim]:
    """Configuration, metrics, scored items and the schedule's second measurement."""
    wrong = [
        *config_faults(files, plan),
        *metrics_faults(files, history),
        *items_faults(files, history),
        *schedule_faults(files, plan, history),
    ]
    yield from wrong
    if not wrong:
        yield verified("repetitions", "the evidence repeats plan and ledger as they are")


def config_faults(files: Files, plan: JsonObject) -> Iterator[Claim]:
    """The effective configuration repeats the plan, from which readings and roles are taken."""
    path = in_evidence(names.CONFIG)
    if path in files and json_object(files, path) != effective_document(plan):
        yield contradicted(path, f"does not repeat {PLAN}")


def metrics_faults(files: Files, history: Timeline) -> Iterator[Claim]:
    """Every finished arm's metrics are its surviving updates."""
    for arm, told in history.arms.items():
        path = in_evidence(names.metrics_file(arm))
        if told.finished and path in files and rows_in(files, path) != told.rows:
            yield contradicted(path, f"its rows are not the updates of {arm} in {LEDGER}")


def items_faults(files: Files, history: Timeline) -> Iterator[Claim]:
    """The lists of scored items are those of the frozen evaluators."""
    for frozen in history.data("evaluator_frozen"):
        path = in_evidence(names.items_file(str(frozen.get("items"))))
        items = as_object(as_object(frozen.get("provenance")).get("items"))
        if path in files and [row.get("item_id") for row in rows_in(files, path)] != items.get(
            "ids"
        ):
            yield contradicted(path, "its items are not those of the frozen evaluator")


def schedule_faults(files: Files, plan: JsonObject, history: Timeline) -> Iterator[Claim]:
    """What was measured again after the run; a difference fails the activation gate."""
    path, frozen = in_evidence(names.AFTERWARDS), whole_plan(plan)
    if path not in files or frozen is None:
        return
    stated = json_object(files, path)
    rows = {arm.name: history.arm(arm.name).rows for arm in frozen.arms}
    for key, value in executed(frozen, rows).items():
        if stated.get(key) != value:
            yield contradicted(path, f"{key} is not what {LEDGER} holds")
    judged = [data for data in history.data("gate_judged") if data.get("gate") == Gate.ACTIVATION]
    failed = bool(judged) and judged[-1].get("status") == Status.FAILED
    if stated.get("differences") != [] and not failed:
        yield contradicted(path, "states differences, but the activation gate did not fail")


def rows_in(files: Files, path: str) -> list[dict[str, Any]]:
    """The rows of a file of evidence; none where it cannot be read strictly."""
    content = files[path]
    try:
        rows = DECODER.decode_lines(content)
        return rows if are_plain(rows, content) else list(map(dict, parse(path, content)))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, RowError):
        return []


def are_plain(rows: Sequence[JsonObject], content: bytes) -> bool:
    """Whether nothing was left unread: a row on each line, and no key in it twice.

    Where nothing is escaped, a quotation mark and a colon follow each other behind keys alone.
    """
    keys = sum(map(len, rows))
    plain = b"\\" not in content and content.count(b'":') == keys
    return plain and fill_their_lines(content, len(rows))
