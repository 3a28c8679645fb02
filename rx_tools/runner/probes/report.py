"""The report of all probes of one optimizer, its evidence files and its record sections."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rx_tools import __version__
from rx_tools.model.json import JsonObject
from rx_tools.runner.data.order import batch_digest
from rx_tools.runner.probes import first_update
from rx_tools.runner.probes.result import Outcome, ProbeResult, finite, overall
from rx_tools.runner.service import Datum, ModelConfig, ServiceIdentity

SCHEMA = "urn:rx:schema:probes:1"
INPUT_SCHEMA = "urn:rx:schema:probe-input:1"
INPUT_NAME = "probes-input.json"
STABLE_RANK = "dimuon_B_update_normalized_stable_rank_step1"


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """All results of one optimizer. `correctness` is one path of the record's section, or None.

    `files` are evidence files to publish: name → bytes.
    """

    optimizer: str
    results: tuple[ProbeResult, ...]
    correctness: JsonObject | None
    files: Mapping[str, bytes]

    @property
    def outcome(self) -> Outcome:
        """One contradiction decides, then one gap."""
        return overall(result.outcome for result in self.results)

    @property
    def contradictions(self) -> tuple[ProbeResult, ...]:
        """What forbids to train."""
        return tuple(each for each in self.results if each.outcome is Outcome.CONTRADICTED)

    @property
    def gaps(self) -> tuple[ProbeResult, ...]:
        """What could not be shown."""
        return tuple(each for each in self.results if each.outcome is Outcome.UNPROVEN)

    def result(self, probe: str) -> ProbeResult | None:
        """The result of one probe, None if it did not run."""
        return next((each for each in self.results if each.probe == probe), None)

    @property
    def activation(self) -> Mapping[str, float]:
        """Activation metrics that the probes measured; empty where weights are not exported."""
        result = self.result(first_update.PROBE)
        value = None if result is None else result.figures.get("stable_rank_mean")
        return {} if value is None else {STABLE_RANK: float(value)}

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON, without the files."""
        return {
            "optimizer": self.optimizer,
            "outcome": self.outcome.value,
            "results": [result.as_dict() for result in self.results],
        }


def evidence_files(
    results: Sequence[ProbeResult], correctness: JsonObject | None, config: ModelConfig,
    identity: ServiceIdentity, batch: Sequence[Datum],
) -> dict[str, bytes]:  # fmt: skip
    """All results of one optimizer in one file, and the fixed input in another."""
    report = {
        "schema": SCHEMA,
        "rx_version": __version__,
        "service": asdict(identity),
        "base_model": config.base_model,
        "rank": config.rank,
        "optimizer": {
            "type": config.optimizer.type,
            "parameters": dict(config.optimizer.parameters),
        },
        "batch_sha256": batch_digest(batch),
        "outcome": overall(result.outcome for result in results).value,
        "results": [result.as_dict() for result in results],
        "correctness": correctness,
    }
    return {
        report_name(config.optimizer.type): encoded(report),
        INPUT_NAME: encoded(input_of(batch)),
    }


def report_name(optimizer: str) -> str:
    """The evidence name of an optimizer's report."""
    return f"probes-{re.sub(r'[^a-z0-9]+', '-', optimizer.lower())}.json"


def input_of(batch: Sequence[Datum]) -> dict[str, Any]:
    """The fixed input in full, with its digest."""
    return {
        "schema": INPUT_SCHEMA,
        "rx_version": __version__,
        "batch_sha256": batch_digest(batch),
        "data": [
            {
                "tokens": datum.tokens.tolist(),
                "targets": datum.targets.tolist(),
                "weights": datum.weights.tolist(),
            }
            for datum in batch
        ],
    }


def encoded(document: Mapping[str, Any]) -> bytes:
    """The document as JSON bytes; a figure that is not finite becomes null."""
    return (json.dumps(finite(document), indent=1, allow_nan=False) + "\n").encode()
