"""What every measurement works with: the run, its ledger, its plan, the service and the data."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rx_tools.evidence.ledger import Ledger
from rx_tools.evidence.publish import Published
from rx_tools.evidence.run_dir import RunDir, pretty
from rx_tools.model.json import JsonObject, as_object
from rx_tools.planning.plan import Plan, PlannedArm
from rx_tools.runner.arms.events import Event, nobody
from rx_tools.runner.data.prepared import ItemKind, PreparedData
from rx_tools.runner.service import ModelConfig, OptimizerConfig, TrainingService


@dataclass(frozen=True)
class Workbench:
    """One open run. `timer` counts seconds; `tell` shows a line, `watch` an event of the work."""

    run: RunDir
    ledger: Ledger
    service: TrainingService
    data: PreparedData
    timer: Callable[[], float]
    tell: Callable[[str], None]
    watch: Callable[[Event], None] = nobody

    @property
    def plan(self) -> Plan:
        """The frozen plan."""
        return self.run.plan

    @property
    def spec(self) -> JsonObject:
        """The judged spec."""
        return as_object(self.run.spec.value)

    @property
    def batch_size(self) -> int:
        """Examples per optimizer step."""
        return int(self.spec["batch_size"])

    def config(self, arm: PlannedArm, *, seeded: bool) -> ModelConfig:
        """What the arm asks the service for."""
        return ModelConfig(
            base_model=str(self.spec["base_model"]),
            rank=int(self.spec["lora_rank"]),
            optimizer=OptimizerConfig(arm.optimizer.type, dict(arm.optimizer.parameters)),
            seed=arm.seed if seeded else None,
        )

    def publish_json(self, name: str, document: Mapping[str, Any]) -> Published:
        """Publish a document as evidence, under the next free version of its name."""
        return self.run.put_evidence(self.run.unused_name(name), pretty(document))

    def data_facts(self) -> dict[str, Any]:
        """Ids and digests of all rows, and how many of the used ones count for nothing.

        Zero-weight, truncated and control-token rows of training and scoring; scored rows whose
        text is also trained on.
        """
        seeds = {arm.seed for arm in self.plan.arms}
        steps = max(arm.steps for arm in self.plan.arms)
        counted = self.data.census(seeds, steps)
        return self.data.manifest() | {
            "census": {kind: asdict(census) for kind, census in counted.items()},
            "shared_rows": list(self.data.shared_rows()),
        }

    def items_manifest(self, kind: ItemKind) -> bytes:
        """One row per scored item: its id, and no text."""
        rows = [{"item_id": item, "set": kind} for item in self.data.items(kind)]
        return "".join(json.dumps(row) + "\n" for row in rows).encode()

    def scratch(self, name: str) -> Path:
        """A private folder of this run."""
        folder = self.run.work / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder
