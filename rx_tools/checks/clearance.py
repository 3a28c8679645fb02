"""What a clearance binds, and what closes the gate again: pure comparison, in sentences."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rx_tools.model.json import JsonObject, as_object
from rx_tools.model.names import Sha256

SENTENCES = {
    "run_id": "it belongs to run {was}, this is run {now}",
    "spec_sha256": "the spec was edited after the preflight",
    "plan_sha256": "the plan was edited after the preflight",
    "rx_version": "rx is {now}, the preflight ran with {was}",
    "sdk_version": "the tinker SDK is {now}, the preflight ran with {was}",
    "service": "the service changed: {was} → {now}",
}


@dataclass(frozen=True, slots=True)
class Binding:
    """Everything that must not change between the preflight and an arm."""

    run_id: str
    spec_sha256: Sha256
    plan_sha256: Sha256
    rx_version: str
    sdk_version: str
    service: Mapping[str, Any]
    evidence: Mapping[str, Sha256]

    def to_json(self) -> dict[str, Any]:
        """The binding as it stands in the clearance."""
        return asdict(self)


def differences(issued: JsonObject, now: Binding) -> tuple[str, ...]:
    """One sentence for each thing that differs from what the clearance binds."""
    current = now.to_json()
    changed = [
        sentence.format(was=plain(issued.get(key)), now=plain(current[key]))
        for key, sentence in SENTENCES.items()
        if issued.get(key) != current[key]
    ]
    return (*changed, *evidence_differences(as_object(issued.get("evidence")), now.evidence))


def evidence_differences(issued: Mapping[str, Any], now: Mapping[str, Sha256]) -> tuple[str, ...]:
    """A bound evidence file that is missing, or whose bytes are others."""
    missing = [f"evidence {name} is missing" for name in issued if name not in now]
    edited = [
        f"evidence {name} was edited after the preflight"
        for name, digest in issued.items()
        if name in now and now[name] != digest
    ]
    return (*missing, *edited)


def plain(value: object) -> str:
    """A value for a sentence."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {value[key]}" for key in sorted(value))
    return str(value)
