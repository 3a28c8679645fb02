"""Evaluator ids hash from their provenance, and score means reproduce from the rows.

**What.** Each key of `evaluation.evaluators` is the SHA-256 of its provenance in the contract's own
canonical form, also where the evaluator gate stops at a missing part; each score of an arm and seed
is the mean of the inline observations of that arm's role, seed, metric and evaluator.

**Why.** An id that its provenance does not hash to identifies nothing: nobody can tell whether all
arms were scored by the same evaluator. The finished run reported `fd0cc0df…` for a provenance
that hashes to `efc41808…`. Rounded means do not reproduce the paired differences.

**Fix.** Compute the id with `rx_tools.evaluator_id(provenance)` from exactly the object that is
recorded, before scoring, and never edit the object afterwards. Report means unrounded.

**Source.** Exchange contract, sections 7 and 9.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from rx_tools.checks.evaluator_id import evaluator_id
from rx_tools.checks.roles import role_of, roles_of
from rx_tools.checks.ruling import objects_at, on_record, ruled
from rx_tools.errors import DocumentError
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import as_list, as_object, is_integer, is_number
from rx_tools.model.json_path import below
from rx_tools.model.record import Record
from rx_tools.model.result import Finding, Level, Result
from rx_tools.model.spec import Spec

CODES: Mapping[str, str] = {
    "RX214": "an evaluator id does not hash from its provenance",
    "RX215": "a score is not the mean of its observations",
}

PLACE = "$.evaluation"
RELATIVE = 1e-9
Cell = tuple[str, int, str, str]
"""Arm or role, seed, metric, evaluator."""


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """Judge the record; the spec only for the roles of its arms."""
    return ruled([*identities(record), *means(spec, record)])


def identities(record: Record) -> Iterator[Finding]:
    """Every id against its provenance, unless the evaluator gate gets as far as doing it."""
    section = record.section("evaluation")
    if as_list(section.get("scores")) and as_list(section.get("comparisons")):
        return
    for name, provenance in as_object(section.get("evaluators")).items():
        if not isinstance(provenance, Mapping):
            continue
        place = below(PLACE, "evaluators", name)
        try:
            expected = evaluator_id(provenance)
        except DocumentError as error:
            yield on_record("RX214", Level.ERROR, error.what, place)
            continue
        if name != expected:
            message = f"the provenance hashes to {expected[:12]}…, the id says {name[:12]}…"
            hint = f"its id is {expected}"
            yield on_record("RX214", Level.ERROR, message, place, hint)


def means(spec: Spec, record: Record) -> Iterator[Finding]:
    """Every score against the mean of its rows, where there are rows."""
    rows = cells(record)
    roles = {arm.name: role_of(arm, roles_of(spec)) for arm in spec.arms}
    for path, score in objects_at(record.section("evaluation").get("scores"), f"{PLACE}.scores"):
        value, cell = score.get("value"), cell_of(score)
        if cell is None or not is_number(value):
            continue
        arm, seed, metric, evaluator = cell
        found = rows.get(cell) or rows.get((roles.get(arm) or arm, seed, metric, evaluator))
        if found and not reproduces(value, mean := math.fsum(found) / len(found)):
            message = f"the score is {value!r}, the mean of its {len(found)} rows {mean!r}"
            hint = "report means unrounded"
            yield on_record("RX215", Level.ERROR, message, below(path, "value"), hint)


def reproduces(value: float, mean: float) -> bool:
    """Whether a score is the mean of its rows, up to the order of summation."""
    return math.isclose(value, mean, rel_tol=RELATIVE, abs_tol=1e-12)


def cells(record: Record) -> Mapping[Cell, list[float]]:
    """The values of the inline observations by arm, seed, metric and evaluator."""
    found: dict[Cell, list[float]] = {}
    for row in as_list(record.section("decision").get("observations")):
        cell, value = cell_of(as_object(row)), as_object(row).get("value")
        if cell is not None and is_number(value):
            found.setdefault(cell, []).append(float(value))
    return found


def cell_of(row: Mapping[str, Any]) -> Cell | None:
    """Where a score or an observation belongs, `None` if that cannot be told."""
    arm, metric, name = (row.get(key) for key in ("arm", "metric", "evaluator_id"))
    seed = row.get("seed")
    if not (isinstance(arm, str) and isinstance(metric, str) and isinstance(name, str)):
        return None
    return (arm, seed, metric, name) if is_integer(seed) else None
