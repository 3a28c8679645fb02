"""The spec that the gates judge: the one handed out, or a copy with every change declared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rx_tools.checks.kinds import Kind
from rx_tools.errors import UsageError
from rx_tools.evidence.digest import sha256_of
from rx_tools.evidence.run_dir import pretty
from rx_tools.evidence.wanted import read_as
from rx_tools.model.json import as_object
from rx_tools.model.names import Sha256
from rx_tools.planning.deviate import NO_SECONDARY, Change, deviated_spec, still_tested
from rx_tools.planning.rehearsal import Stage, derived_spec, deviations
from rx_tools.planning.secondary import listed, secondary_evaluations


@dataclass(frozen=True, slots=True)
class JudgedSpec:
    """`content` is what is judged, `original` what was handed out; equal where nothing changed."""

    value: Mapping[str, Any]
    content: bytes
    original: bytes
    deviations: Sequence[Mapping[str, str]]
    hypothesis_tested: bool

    @property
    def derived_from(self) -> Sha256 | None:
        """The original's digest, None where the original itself is judged."""
        return sha256_of(self.original) if self.deviations else None

    @property
    def declaration(self) -> dict[str, Any]:
        """What the ledger and the record say of the changes, before anything trains."""
        stated: dict[str, Any] = {
            "deviations": [dict(entry) for entry in self.deviations],
            "original_hypothesis_tested": self.hypothesis_tested,
        }
        if self.hypothesis_tested:
            return stated
        changes = ", ".join(f"{one['field']} {one['effective']}" for one in self.deviations)
        return stated | {"tested_instead": f"The same plan with {changes}."}


def judged_spec(path: Path, changes: Sequence[Change], stage: Stage | None) -> JudgedSpec:
    """Apply the asked-for changes, then the stage of a rehearsal; both declare what they did."""
    document = read_as(path, Kind.SPEC)
    original, spec = document.text.encode(), dict(as_object(document.value))
    changes = settled(spec, changes, rehearsal=stage is not None)
    derived, declared = deviated_spec(spec, sha256_of(original), changes)
    tested = still_tested(spec, declared)
    if stage is not None:
        declared += deviations(derived, stage)
        derived, tested = derived_spec(derived, sha256_of(original), stage), False
    if not declared:
        return JudgedSpec(spec, original, original, (), True)
    return JudgedSpec(derived, pretty(derived), original, tuple(declared), tested)


def settled(
    spec: Mapping[str, Any], changes: Sequence[Change], *, rehearsal: bool
) -> Sequence[Change]:
    """The changes with one about secondary evaluations; nobody leaves them out without a word."""
    planned = secondary_evaluations(spec)
    if not planned or NO_SECONDARY in changes:
        return changes
    if rehearsal:
        return (*changes, replace(NO_SECONDARY, reason="no arm of a rehearsal runs it"))
    raise UsageError(
        f"the spec plans a secondary evaluation that no arm runs: {listed(planned)}",
        where="$.feasibility.effective_config",
        hint="--deviate secondary=none declares before training that it is dropped",
    )
