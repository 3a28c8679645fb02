"""Custom code that a record shows although its spec declares none."""

from collections.abc import Iterator

from rx_tools.checks.optimizers import family, reported
from rx_tools.model.json import as_list, as_object
from rx_tools.model.record import Record
from rx_tools.model.spec import Spec


def late_discoveries(spec: Spec, record: Record, *, planned: bool) -> list[str]:
    """What shows a fork, a patched loss or an optimizer that the spec does not name.

    A spec that has `planned` custom paths expects reports and patches, but no other optimizer.
    """
    expected = [] if planned else [*recorded_paths(record), *patches(record)]
    return [*expected, *foreign_optimizers(spec, record)]


def recorded_paths(record: Record) -> Iterator[str]:
    """The executor itself says that a custom path ran."""
    if record.section("correctness_preflight").get("required") is True:
        yield "the record reports a correctness preflight"


def patches(record: Record) -> Iterator[str]:
    """A patch among the evidence means that no stock code ran."""
    for file in record.files:
        if file.kind == "code_patch":
            yield f"code_patch {file.name}"


def foreign_optimizers(spec: Spec, record: Record) -> Iterator[str]:
    """An optimizer that the server reported and that no arm of the spec asks for."""
    asked = {family(name) for name in named_optimizers(spec)}
    seen = sorted({family(name) for name in reported_optimizers(record)})
    yield from (f"optimizer {name}" for name in seen if asked and name not in asked)


def named_optimizers(spec: Spec) -> Iterator[str]:
    """Every optimizer that the spec names, at the top, per arm and per group."""
    arms = [arm.optimizer for arm in spec.arms]
    requested = [arm.optimizer for group in spec.restoration.groups for arm in group]
    yield from (name for name in (spec.optimizer_name, *arms, *requested) if name)


def reported_optimizers(record: Record) -> Iterator[str]:
    """Every optimizer family that a server response showed."""
    arms = record.section("initialization_provenance").get("arms")
    entries = arms.values() if isinstance(arms, dict) else as_list(arms)
    for entry in entries:
        for check in as_list(as_object(entry).get("optimizer_checks")):
            name = reported(as_object(check).get("actual"))
            if name:
                yield name
