"""Bring an arm's model to life: at its initialization, or at the last checkpoint."""

from collections.abc import Sequence
from typing import Any

from rx_tools.model.names import CheckpointUri
from rx_tools.runner.arms.arm import ArmJob, HygieneError, Workshop
from rx_tools.runner.arms.hygiene import check_count, check_loaded, check_optimizer
from rx_tools.runner.arms.resume import ArmHistory, Checkpoint
from rx_tools.runner.service import LoadResponse, Model, ModelInfo, RefusedError


def open_arm(job: ArmJob, shop: Workshop, history: ArmHistory) -> Model:
    """A live model that holds the updates of a checkpoint of `history`, recorded and checked.

    The ledger says what was restored and which optimizer answers before the next update: in one
    line, so that no moment exists at which a restore stands there without its check. A checkpoint
    that the service no longer has costs the updates since the one before it.
    """
    model, loaded, last, refused = _bring_to_life(job, shop, history.checkpoints)
    try:
        info = model.info()
        if history.must_restore:
            shop.note("arm_restored", _restored(job, history, last, loaded, refused, info))
        else:
            shop.note("optimizer_checked", _checked(job, info))
        check_optimizer(job.config.optimizer, info)
        check_count(info, last.step if last else 0)
        _check_state(last, info)
    except BaseException:
        model.release()
        raise
    return model


def optimizer_facts(job: ArmJob, info: ModelInfo) -> dict[str, Any]:
    """What the server says of the arm's optimizer before its next update."""
    return {
        "requested": {
            "type": job.config.optimizer.type,
            "parameters": dict(job.config.optimizer.parameters),
        },
        "source": "declared" if info.optimizer is None else "server_response",
        "actual": info.optimizer,
        "observation": info.observation,
    }


Opened = tuple[Model, LoadResponse | None, Checkpoint | None, list[CheckpointUri]]


def _bring_to_life(job: ArmJob, shop: Workshop, checkpoints: Sequence[Checkpoint]) -> Opened:
    """The newest checkpoint that the service gives back, else the initialization."""
    refused: list[CheckpointUri] = []
    for checkpoint in reversed(checkpoints):
        try:
            return *_load(job, shop, checkpoint.uri, with_optimizer=True), checkpoint, refused
        except RefusedError:
            refused.append(checkpoint.uri)
    if job.initial is None:
        return shop.service.create(job.config), None, None, refused
    return *_load(job, shop, job.initial, with_optimizer=False), None, refused


def _load(
    job: ArmJob, shop: Workshop, uri: CheckpointUri, *, with_optimizer: bool
) -> tuple[Model, LoadResponse]:
    model, loaded = shop.service.create_from_state(job.config, uri, with_optimizer=with_optimizer)
    try:
        check_loaded(loaded, uri)
    except HygieneError:
        model.release()
        raise
    return model, loaded


def _checked(job: ArmJob, info: ModelInfo) -> dict[str, Any]:
    created = {"arm": job.name, "after_restore": 0, "before_next_update": True}
    return created | optimizer_facts(job, info)


def _restored(
    job: ArmJob,
    history: ArmHistory,
    last: Checkpoint | None,
    loaded: LoadResponse | None,
    refused: list[CheckpointUri],
    info: ModelInfo,
) -> dict[str, Any]:
    step = last.step if last else 0
    return {
        "arm": job.name,
        "restore": history.restores + 1,
        "uri": last.uri if last else job.initial,
        "loaded": loaded.loaded if loaded else None,
        "with_optimizer": last is not None,
        "step": step,
        "discarded": len(history.rows) - step,
        "refused": refused,
        "optimizer": optimizer_facts(job, info),
    }


def _check_state(checkpoint: Checkpoint | None, info: ModelInfo) -> None:
    """Where the server shows a digest of its state, the restored one must be the saved one."""
    if checkpoint is None or checkpoint.state_sha256 is None or info.observation is None:
        return
    state = info.observation.get("state_sha256")
    if state != checkpoint.state_sha256:
        raise HygieneError(
            f"the restored state is {str(state)[:12]}…, saved was {checkpoint.state_sha256[:12]}…",
            hint="the optimizer may have come back cold; do not trust this service's restores",
        )
