"""Bring an arm's model to life: at its initialization, or at the last checkpoint."""

from typing import Any

from rx_tools.runner.arms.arm import ArmJob, HygieneError, Workshop
from rx_tools.runner.arms.hygiene import check_count, check_loaded, check_optimizer
from rx_tools.runner.arms.resume import ArmHistory, Checkpoint
from rx_tools.runner.service import LoadResponse, Model, ModelInfo


def open_arm(job: ArmJob, shop: Workshop, history: ArmHistory) -> Model:
    """A live model that holds exactly `history.resume_step` updates, recorded and checked.

    The ledger says what was restored and which optimizer answers before the next update. The
    model is asked first, so that a restore whose optimizer nobody saw is never written down.
    """
    model, loaded = _bring_to_life(job, shop, history.last)
    try:
        restores = history.restores + (1 if history.must_restore else 0)
        info = model.info()
        if history.must_restore:
            shop.note("arm_restored", _restored(job, history, restores, loaded))
        shop.note("optimizer_checked", optimizer_facts(job, info, restores))
        check_optimizer(job.config.optimizer, info)
        check_count(info, history.resume_step)
        _check_state(history.last, info)
    except BaseException:
        model.release()
        raise
    return model


def optimizer_facts(job: ArmJob, info: ModelInfo, restores: int) -> dict[str, Any]:
    """What the server says of the arm's optimizer before its next update."""
    return {
        "arm": job.name,
        "after_restore": restores,
        "requested": {
            "type": job.config.optimizer.type,
            "parameters": dict(job.config.optimizer.parameters),
        },
        "source": "declared" if info.optimizer is None else "server_response",
        "actual": info.optimizer,
        "observation": info.observation,
        "before_next_update": True,
    }


def _bring_to_life(
    job: ArmJob, shop: Workshop, checkpoint: Checkpoint | None
) -> tuple[Model, LoadResponse | None]:
    uri = checkpoint.uri if checkpoint else job.initial
    if uri is None:
        return shop.service.create(job.config), None
    model, loaded = shop.service.create_from_state(
        job.config, uri, with_optimizer=checkpoint is not None
    )
    try:
        check_loaded(loaded, uri)
    except HygieneError:
        model.release()
        raise
    return model, loaded


def _restored(
    job: ArmJob, history: ArmHistory, restores: int, loaded: LoadResponse | None
) -> dict[str, Any]:
    return {
        "arm": job.name,
        "restore": restores,
        "uri": history.last.uri if history.last else job.initial,
        "loaded": loaded.loaded if loaded else None,
        "with_optimizer": history.last is not None,
        "step": history.resume_step,
        "discarded": len(history.rows) - history.resume_step,
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
