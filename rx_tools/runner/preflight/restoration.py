"""Restoration: every arm of a group starts from one adapter, and that is measured, not declared.

A service that accepts seeds creates every arm from its seed; one that refuses them gets one saved
initialization checkpoint per group, which every arm loads. Before the first update each arm's
adapter is hashed, a fixed batch is scored, and the optimizer is observed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rx_tools.errors import ServiceError
from rx_tools.evidence.tensors import adapter_digest
from rx_tools.model.names import CheckpointUri, Sha256
from rx_tools.planning.evidence_names import RESTORATION
from rx_tools.planning.plan import PlannedArm
from rx_tools.runner.arms.scoring import output_digest
from rx_tools.runner.data.order import batch_digest
from rx_tools.runner.preflight.service_check import ServiceFacts
from rx_tools.runner.service import Datum, Model, ModelInfo
from rx_tools.runner.whole.workbench import Workbench


@dataclass(frozen=True, slots=True)
class Start:
    """How the arms of one seed start: from the seed, or from one saved checkpoint."""

    seed: int
    uri: CheckpointUri | None = None
    immutable: bool = False

    def to_json(self) -> dict[str, Any]:
        """The start as it stands in the ledger."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Opening:
    """What was measured of one arm before its first update."""

    adapter: Sha256 | None
    output: Sha256
    info: ModelInfo
    after_step: Mapping[str, Any] | None
    loaded: CheckpointUri | None


def measure_restoration(
    bench: Workbench,
    facts: ServiceFacts,
    batch: Sequence[Datum],
    arms: Sequence[PlannedArm],
    known: Mapping[int, Start],
) -> tuple[dict[str, Any], dict[int, Start]]:
    """The record's `initialization_provenance` of `arms`, and how the arms of each seed start."""
    name = bench.run.unused_name(RESTORATION)
    seeds = dict.fromkeys(arm.seed for arm in arms)
    starts = {seed: known.get(seed) or start_of(bench, facts, seed) for seed in seeds}
    entries = [measure_arm(bench, facts, arm, starts[arm.seed], batch, name) for arm in arms]
    return {"version": 1, "arms": entries}, starts


def start_of(bench: Workbench, facts: ServiceFacts, seed: int) -> Start:
    """The seed itself where the service takes it, else one saved initialization."""
    if facts.seeds:
        return Start(seed)
    first = next(arm for arm in bench.plan.arms if arm.seed == seed)
    model = bench.service.create(bench.config(first, seeded=False))
    name = f"init-{bench.run.run_id}-seed{seed}"
    try:
        uri = model.save_state(name).result()
        return Start(seed, uri, immutable=refuses_replacement(model, name))
    finally:
        model.release()


def refuses_replacement(model: Model, name: str) -> bool:
    """Whether a second save to the same name was refused."""
    try:
        model.save_state(name).result()
    except ServiceError:
        return True
    return False


def open_arm(bench: Workbench, arm: PlannedArm, start: Start) -> tuple[Model, CheckpointUri | None]:
    """A model of the arm's configuration at the group's initialization."""
    config = bench.config(arm, seeded=start.uri is None)
    if start.uri is None:
        return bench.service.create(config), None
    model, response = bench.service.create_from_state(config, start.uri, with_optimizer=False)
    return model, response.loaded


def measure_arm(
    bench: Workbench,
    facts: ServiceFacts,
    arm: PlannedArm,
    start: Start,
    batch: Sequence[Datum],
    evidence: str,
) -> dict[str, Any]:
    """One arm's entry: initialization, optimizer at creation, output on the fixed batch."""
    bench.tell(f"restoration: {arm.name}")
    opening = observe_arm(bench, facts, arm, start, batch)
    return {
        "name": arm.name,
        "initialization": initialization(bench, start, opening, evidence),
        "restore_count": 0,
        "optimizer_checks": [optimizer_check(arm, opening, evidence)],
        "initial_output": {
            "available": True,
            "batch_sha256": batch_digest(batch),
            "output_sha256": opening.output,
            "evidence_ref": evidence,
            "before_first_update": True,
        },
    }


def observe_arm(
    bench: Workbench,
    facts: ServiceFacts,
    arm: PlannedArm,
    start: Start,
    batch: Sequence[Datum],
) -> Opening:
    """Open the arm, score the fixed batch, hash its adapter, then let one step show its numbers.

    The step comes last, on this throw-away model: it makes the server show the hyperparameters
    that it applies for this arm's configuration.
    """
    model, loaded = open_arm(bench, arm, start)
    try:
        info = model.info()
        output = output_digest(model.forward(batch).result().logprobs)
        adapter = hash_adapter(bench, arm, model) if facts.exports else None
        after = observed_step(bench, arm, model, batch) if facts.observes else None
        return Opening(adapter, output, info, after, loaded)
    finally:
        model.release()


def hash_adapter(bench: Workbench, arm: PlannedArm, model: Model) -> Sha256:
    """SHA-256 of the LoRA tensors as they were downloaded."""
    files = model.download_weights(f"init-{arm.name}", bench.scratch(f"init/{arm.name}"))
    tensors = next(path for name, path in files.items() if name.endswith(".safetensors"))
    return adapter_digest(tensors)


def observed_step(
    bench: Workbench, arm: PlannedArm, model: Model, batch: Sequence[Datum]
) -> Mapping[str, Any] | None:
    """The server's observation of the optimizer after one step of the arm's configuration."""
    config = bench.config(arm, seeded=False).optimizer
    model.forward_backward(batch).result()
    model.optim_step(config, arm.learning_rate or 1e-4).result()
    return model.info().observation


def initialization(
    bench: Workbench, start: Start, opening: Opening, evidence: str
) -> dict[str, Any]:
    """The proof that was measured: the adapter's hash, the loaded checkpoint, or both."""
    proof: dict[str, Any] = {
        "base_checkpoint": f"{bench.spec['base_model']}@{base_revision(bench)}",
        "evidence_ref": evidence,
        "before_first_update": True,
    }
    if opening.adapter is not None:
        proof |= {"adapter_sha256": opening.adapter, "source": "local_hash"}
    if start.uri is not None:
        proof |= {
            "source": "server_response",
            "checkpoint_uri": start.uri,
            "checkpoint_immutable": start.immutable,
            "checkpoint_scope": "full_initialization",
            "loaded_checkpoint_uri": opening.loaded,
            "load_succeeded": opening.loaded is not None,
        }
    return proof


def base_revision(bench: Workbench) -> str:
    """The embedded service's revision, else the digest of what the service says it serves."""
    identity = bench.service.identity()
    return identity.embedded_revision or identity.capabilities_sha256[:16]


def optimizer_check(arm: PlannedArm, opening: Opening, evidence: str) -> dict[str, Any]:
    """The optimizer at creation, from the server's own words, or declared where it has none."""
    entry = {"after_restore": 0, "before_next_update": True, "evidence_ref": evidence}
    return entry | optimizer_answer(opening.info, opening.after_step, arm)


def optimizer_answer(
    info: ModelInfo, observation: Mapping[str, Any] | None, arm: PlannedArm
) -> dict[str, Any]:
    """`actual` and `actual_config` as far as a server response shows them."""
    if observation is not None:
        shown = dict(observation.get("last") or {})
        if arm.learning_rate is None:
            shown.pop("learning_rate", None)
        family = str(dict(observation.get("optimizer") or {}).get("type"))
        return {"source": "server_response", "actual": family, "actual_config": shown}
    if info.optimizer is not None:
        config = {key: value for key, value in info.optimizer.items() if key != "type"}
        family = str(info.optimizer.get("type"))
        return {"source": "server_response", "actual": family, "actual_config": config}
    return {"source": "declared", "actual": None, "actual_config": None}
