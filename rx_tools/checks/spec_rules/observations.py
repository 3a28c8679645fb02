"""The observation rows that a spec asks for fit into the one file that a record may name.

**What.** Items times weighted roles times scheduled seeds, over all metrics, are at most 100,000
rows; their bytes, for the shortest rows that the metric's name allows, at most 10 MiB.

**Why.** Rows are written after training. A file above the limits is refused, and with it the
verdict; 10 MiB is reached first, at about 50,000 typical rows.

**Fix.** Evaluate fewer items. A script of your own may also sum consecutive items, in every arm
alike; sums scaled by their number / items have the same plain mean.

**Source.** Exchange contract, section 9.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from rx_tools.checks.deciding.observation_rows import MAX_BYTES, MAX_ROWS
from rx_tools.checks.ruling import criteria_at, on_spec, ruled
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import as_object, as_text
from rx_tools.model.record import Record
from rx_tools.model.result import Finding, Level, Result
from rx_tools.model.spec import Spec

CODES: Mapping[str, str] = {
    "RX446": "the spec asks for more observation rows than one file may hold",
    "RX447": "the observation rows will come close to the largest file",
}

PLACE = "$.eval.n_examples"
TYPICAL_ID, TYPICAL_VALUE = "test:00000", 2.3456789012345678


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """Judge the spec alone."""
    return ruled(list(sizes(spec)))


def sizes(spec: Spec) -> Iterator[Finding]:
    """The rows and their bytes, with the arithmetic."""
    items, cells = spec.eval.n_examples, cells_of(spec)
    if items is None or items <= 0 or not cells:
        return
    rows = items * len(cells)
    least = items * sum(row_bytes(metric, role, "0", 0) for metric, role in cells)
    typical = items * sum(row_bytes(m, r, TYPICAL_ID, TYPICAL_VALUE) for m, r in cells)
    made = f"{items} items x {len(cells)} cells = {rows} rows"
    if rows > MAX_ROWS:
        message = f"{made}, more than the {MAX_ROWS} that one file may hold"
        yield on_spec("RX446", Level.ERROR, message, PLACE)
    elif least > MAX_BYTES:
        message = f"{made} of {least} bytes at least, more than the {MAX_BYTES} allowed"
        yield on_spec("RX446", Level.ERROR, message, PLACE)
    elif typical > MAX_BYTES:
        message = f"{made} of about {typical} bytes; {MAX_BYTES} are allowed"
        yield on_spec("RX447", Level.WARNING, message, PLACE)


def cells_of(spec: Spec) -> list[tuple[str, str]]:
    """Metric and role of every cell, once for each scheduled seed."""
    seeds = len(spec.decision_rule.seeds) if spec.decision_rule else 0
    pairs: dict[tuple[str, str], None] = {}
    for _, criterion in criteria_at(spec):
        weights: Mapping[str, Any] = as_object(criterion.get("weights"))
        pairs |= {(as_text(criterion.get("metric")), role): None for role in weights}
    return list(pairs) * seeds


def row_bytes(metric: str, role: str, item: str, value: float) -> int:
    """The bytes of one row as compact JSON, with its line feed."""
    row = {
        "item_id": item,
        "arm": role,
        "seed": 0,
        "metric": metric,
        "value": value,
        "evaluator_id": "e" * 64,
    }
    return len(json.dumps(row, separators=(",", ":")).encode()) + 1
