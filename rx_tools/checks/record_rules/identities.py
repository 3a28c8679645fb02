"""Evaluator ids hash from their provenance, also where the evaluator gate does not get that far.

**What.** Each key of `evaluation.evaluators` is the SHA-256 of its provenance in the contract's own
canonical form. Where scores or comparisons are missing, the evaluator gate stops before it looks at
the ids; they are recomputed here all the same.

**Why.** An id that its provenance does not hash to identifies nothing: nobody can tell whether all
arms were scored by the same evaluator. The finished run reported `fd0cc0df…` for a provenance
that hashes to `efc41808…`.

**Fix.** Compute the id with `rx_tools.evaluator_id(provenance)` from exactly the object that is
recorded, before scoring, and never edit the object afterwards.

**Source.** Exchange contract, section 7.
"""

from collections.abc import Iterator, Mapping

from rx_tools.checks.evaluator_id import evaluator_id
from rx_tools.checks.ruling import on_record, ruled
from rx_tools.errors import DocumentError
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import as_list, as_object
from rx_tools.model.json_path import below
from rx_tools.model.record import Record
from rx_tools.model.result import Finding, Level, Result
from rx_tools.model.spec import Spec

CODES: Mapping[str, str] = {
    "RX214": "an evaluator id does not hash from its provenance, in an incomplete evaluation",
}

PLACE = "$.evaluation.evaluators"


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """Judge the record alone."""
    return ruled(wrong_ids(record))


def wrong_ids(record: Record) -> Iterator[Finding]:
    """Every id against its provenance, unless the evaluator gate gets as far as doing it."""
    section = record.section("evaluation")
    if as_list(section.get("scores")) and as_list(section.get("comparisons")):
        return
    for name, provenance in as_object(section.get("evaluators")).items():
        if not isinstance(provenance, Mapping):
            continue
        place = below(PLACE, name)
        try:
            expected = evaluator_id(provenance)
        except DocumentError as error:
            yield on_record("RX214", Level.ERROR, error.what, place)
            continue
        if name != expected:
            message = f"the provenance hashes to {expected[:12]}…, the id says {name[:12]}…"
            hint = f"its id is {expected}"
            yield on_record("RX214", Level.ERROR, message, place, hint)
