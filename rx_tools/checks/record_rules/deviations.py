"""What differs from the spec is declared, and its consequences are drawn.

**What.** A model, batch size, step count or dataset in the recorded configuration that is not the
spec's has a deviation of that field; a declared deviation really changes something; a changed
objective or endpoint sets `original_hypothesis_tested: false`, and that needs `tested_instead`.

**Why.** A change that nobody declared before training is flagged as unrecorded, and the verdict on
the hypothesis is withheld. A changed objective or endpoint tests something else, always.

**Fix.** Post the deviation with status `running` before training with the change, with `original`,
`effective` and `reason`; then set `original_hypothesis_tested` and say in `tested_instead` what the
run does test. A run of a derived spec never tests the original hypothesis.

**Source.** Exchange contract, section 12.
"""

from collections.abc import Iterator, Mapping

from rx_tools.checks.ruling import objects_at, on_record, ruled
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import as_object, as_text
from rx_tools.model.json_path import below
from rx_tools.model.record import Record
from rx_tools.model.result import Finding, Level, Result
from rx_tools.model.spec import Spec

CODES: Mapping[str, str] = {
    "RX210": "a changed objective or endpoint, yet the original hypothesis counts as tested",
    "RX211": "it is not said what was tested instead",
    "RX212": "a difference from the spec is not declared as a deviation",
    "RX213": "a deviation changes nothing",
    "RX218": "a run of a derived spec counts as a test of the original hypothesis",
    "RX219": "the recorded endpoint is not the planned one",
}

PLACE = "$.deviations"
TESTS_SOMETHING_ELSE = ("objective", "endpoint")
CONFIGURED = (
    ("base_model", "model"),
    ("batch_size", "effective_batch"),
    ("steps", "steps"),
    ("dataset", "dataset"),
)


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """Judge the record; the spec only for what its configuration should be."""
    found = [*consequences(record), *nothing_changed(record), *derived(spec, record)]
    return ruled([*found, *undeclared(spec, record), *other_endpoint(spec, record)])


def consequences(record: Record) -> Iterator[Finding]:
    """What follows from a changed objective or endpoint."""
    changed = [d.field for d in record.deviations if d.field in TESTS_SOMETHING_ELSE]
    if changed and record.original_hypothesis_tested is not False:
        message = f"the {changed[0]} was changed, so original_hypothesis_tested must be false"
        yield on_record("RX210", Level.ERROR, message, "$.original_hypothesis_tested")
    if record.original_hypothesis_tested is False and not (record.tested_instead or "").strip():
        message = "original_hypothesis_tested is false, but tested_instead is empty"
        yield on_record("RX211", Level.ERROR, message, "$.tested_instead")


def derived(spec: Spec, record: Record) -> Iterator[Finding]:
    """A rehearsal runs a derived spec: its changes are declared, and nothing original is tested."""
    if "derived_from" not in spec.raw:
        return
    if not record.deviations:
        message = "the spec is a derived one, but no deviation from the original is declared"
        yield on_record("RX218", Level.ERROR, message, PLACE)
    if record.original_hypothesis_tested is True:
        message = "the spec is a derived one, so the original hypothesis was not tested"
        yield on_record("RX218", Level.ERROR, message, "$.original_hypothesis_tested")


def other_endpoint(spec: Spec, record: Record) -> Iterator[Finding]:
    """The projection names the endpoint that it was made for."""
    stated = record.section("feasibility").get("primary_endpoint")
    declared = any(deviation.field == "endpoint" for deviation in record.deviations)
    if stated is None or spec.primary_endpoint in (None, stated) or declared:
        return
    message = f"the projection is for {stated!r}, the spec's endpoint is {spec.primary_endpoint!r}"
    yield on_record("RX219", Level.ERROR, message, "$.feasibility.primary_endpoint")


def nothing_changed(record: Record) -> Iterator[Finding]:
    """A deviation whose two sides are equal."""
    for path, deviation in objects_at(record.raw.get("deviations"), PLACE):
        original, effective = deviation.get("original"), deviation.get("effective")
        if "effective" in deviation and original == effective:
            message = f"the {as_text(deviation.get('field'))} deviates to what it was"
            yield on_record("RX213", Level.WARNING, message, path)


def undeclared(spec: Spec, record: Record) -> Iterator[Finding]:
    """The recorded configuration against the spec, field by field."""
    planned: Mapping[str, object] = {
        "base_model": spec.base_model,
        "batch_size": spec.batch_size,
        "steps": spec.steps,
        "dataset": spec.dataset.hf_path,
    }
    config = as_object(record.section("feasibility").get("effective_config"))
    declared = {deviation.field for deviation in record.deviations}
    for key, field in CONFIGURED:
        value, expected = config.get(key), planned[key]
        if value is None or expected is None or value == expected or field in declared:
            continue
        message = f"{key} is {value!r}, planned is {expected!r}; no {field!r} deviation says so"
        place = below("$.feasibility.effective_config", key)
        yield on_record("RX212", Level.ERROR, message, place, "declare it before training")
