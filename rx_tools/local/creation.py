"""Routes that make a model and tell what it is."""

from collections.abc import Mapping
from typing import Any

from rx_tools.local import optimizers
from rx_tools.local.http import Request, Response, answer, text, whole
from rx_tools.local.lora import LoraConfig
from rx_tools.local.models import LiveModel
from rx_tools.local.refusals import HttpRefusalError, OperationFailedError
from rx_tools.local.service import Service
from rx_tools.local.sessions import Session

FLAGS = ("train_attn", "train_mlp", "train_unembed")


def create_model(service: Service, request: Request) -> Response:
    """A model that has learnt nothing."""
    body = request.json()
    session, model_id = place(service, body)
    return service.submit_creation(model_id, lambda: _create(service, session, model_id, body))


def get_info(service: Service, request: Request) -> Response:
    """What a live model is, its optimizer included."""
    model_id = text(request.json(), "model_id")
    service.require(model_id)
    model = service.models.get(model_id)
    if model is None:
        raise HttpRefusalError(404, f"model {model_id} was not created")
    return answer(_info(service, model))


def place(service: Service, body: Mapping[str, Any]) -> tuple[Session, str]:
    """The session of a creation, and the id of the model to be."""
    session = service.sessions.alive(text(body, "session_id"))
    model_id = f"{session.session_id}:train:{whole(body, 'model_seq_id')}"
    if model_id not in service.expected:
        service.expected.add(model_id)
        session.models.append(model_id)
    return session, model_id


def checked_lora(asked: Any, max_rank: int) -> LoraConfig:
    """Rank and flags; a missing configuration is the SDK's default (rank 32, all trained)."""
    config = asked if isinstance(asked, Mapping) else {}
    rank = config.get("rank", 32)
    if isinstance(rank, bool) or not isinstance(rank, int) or not 1 <= rank <= max_rank:
        raise OperationFailedError(f"lora rank {rank!r} is not a whole number from 1 to {max_rank}")
    flags = {name: config.get(name, True) for name in FLAGS}
    if not all(isinstance(flag, bool) for flag in flags.values()) or not any(flags.values()):
        raise OperationFailedError(f"at least one of {', '.join(FLAGS)} must be on")
    return LoraConfig(rank, **flags)


def _create(service: Service, session: Session, model_id: str, body: Mapping[str, Any]) -> Response:
    seed = _seed(body.get("lora_config"))
    for fault in service.faults:
        fault.on_create(seed)
    wanted = service.faults.through(
        body.get("optimizer_config") or optimizers.DEFAULT,
        lambda fault, config: fault.created(config),
    )
    model = service.fresh(
        session, model_id, service.base_named(body.get("base_model")),
        checked_lora(body.get("lora_config"), service.settings.max_rank),
        optimizer=optimizers.checked_config(wanted), seed=seed,
    )  # fmt: skip
    service.add(session, model, body.get("user_metadata"))
    return answer({"model_id": model_id, "type": "create_model"})


def _info(service: Service, model: LiveModel) -> dict[str, object]:
    data = {
        "arch": "qwen3",
        "model_name": model.base_name,
        "tokenizer_id": str(service.settings.tokenizer),
    }
    info: dict[str, object] = {
        "type": "get_info",
        "model_id": model.model_id,
        "model_name": model.base_name,
        "model_data": data,
        "is_lora": True,
        "lora_rank": model.lora.rank,
        "train_attn": model.lora.train_attn,
        "train_mlp": model.lora.train_mlp,
        "train_unembed": model.lora.train_unembed,
    }
    if not service.faults.any(lambda fault: fault.hides_optimizer()):
        info["optimizer_config"] = dict(model.optimizer_config)
    return info


def _seed(lora_config: Any) -> int | None:
    seed = lora_config.get("seed") if isinstance(lora_config, Mapping) else None
    if seed is None or (isinstance(seed, int) and not isinstance(seed, bool)):
        return seed
    raise OperationFailedError(f"lora seed {seed!r} must be a whole number")
