"""Routes that make models: from nothing, or from a checkpoint."""

from collections.abc import Mapping
from typing import Any

from rx_tools.local import archive, optimizers
from rx_tools.local.checkpoints import Address, Kind, parse_address
from rx_tools.local.http import Request, Response, answer, text, whole
from rx_tools.local.lora import LoraConfig
from rx_tools.local.models import LiveModel
from rx_tools.local.refusals import OperationFailedError
from rx_tools.local.service import Service, accepted
from rx_tools.local.sessions import Session


def create_model(service: Service, request: Request) -> Response:
    """A model that has learnt nothing."""
    body = request.json()
    session, model_id = _place(service, body)

    def work() -> Response:
        model = service.fresh(
            session, model_id, service.base_named(text(body, "base_model")),
            checked_lora(body.get("lora_config"), service.settings.max_rank),
            optimizer=optimizers.checked_config(body.get("optimizer_config") or {"type": "adamw"}),
            seed=_seed(body.get("lora_config")),
        )  # fmt: skip
        service.add(session, model, body.get("user_metadata"))
        return answer({"model_id": model_id, "type": "create_model"})

    return accepted(service.scheduler.submit(("create", model_id), work), model_id)


def load_weights(service: Service, request: Request) -> Response:
    """Load a checkpoint: into a live model, or as the first act of a new one."""
    body = request.json()
    if body.get("model_id") is not None:
        model_id, turn = text(body, "model_id"), whole(body, "seq_id", least=1)
        return service.submit(model_id, turn, lambda: _load_into(service, model_id, body))
    session, model_id = _place(service, body)
    work = lambda: _load_new(service, session, model_id, body)  # noqa: E731
    return accepted(service.scheduler.submit(("create", model_id), work), model_id)


def get_info(service: Service, request: Request) -> Response:
    """What a live model is, its optimizer included."""
    model_id = text(request.json(), "model_id")
    service.require(model_id)
    model = service.models.get(model_id)
    if model is None:
        raise OperationFailedError(f"model {model_id} was not created")
    data = {"arch": "qwen3", "model_name": model.base_name}
    if service.settings.tokenizer is not None:
        data["tokenizer_id"] = service.settings.tokenizer
    return answer(
        {
            "type": "get_info",
            "model_id": model_id,
            "model_name": model.base_name,
            "model_data": data,
            "optimizer_config": dict(model.optimizer_config),
            "is_lora": True,
            "lora_rank": model.lora.rank,
            "train_attn": model.lora.train_attn,
            "train_mlp": model.lora.train_mlp,
            "train_unembed": model.lora.train_unembed,
        }
    )


def checked_lora(asked: Any, max_rank: int) -> LoraConfig:
    """Rank and flags; a missing configuration is the SDK's default (rank 32, all trained)."""
    config = asked if isinstance(asked, Mapping) else {}
    rank = config.get("rank", 32)
    if isinstance(rank, bool) or not isinstance(rank, int) or not 1 <= rank <= max_rank:
        raise OperationFailedError(
            f"lora rank {rank!r} must be a whole number from 1 to {max_rank}"
        )
    flags = {name: config.get(name, True) for name in ("train_attn", "train_mlp", "train_unembed")}
    if not all(isinstance(flag, bool) for flag in flags.values()) or not any(flags.values()):
        raise OperationFailedError(
            "at least one of train_attn, train_mlp, train_unembed must be on"
        )
    return LoraConfig(rank, **flags)


def _seed(lora_config: Any) -> int | None:
    seed = lora_config.get("seed") if isinstance(lora_config, Mapping) else None
    if seed is None or (isinstance(seed, int) and not isinstance(seed, bool)):
        return seed
    raise OperationFailedError(f"lora seed {seed!r} must be a whole number")


def _place(service: Service, body: Mapping[str, Any]) -> tuple[Session, str]:
    session = service.sessions.alive(text(body, "session_id"))
    model_id = f"{session.session_id}:train:{whole(body, 'model_seq_id')}"
    if model_id not in service.expected:
        service.expected.add(model_id)
        session.models.append(model_id)
    return session, model_id


def _load_new(
    service: Service, session: Session, model_id: str, body: Mapping[str, Any]
) -> Response:
    address = parse_address(body.get("path"))
    facts = service.store.facts(address)
    base = service.base_named(body.get("base_model") or facts.base_model)
    config = LoraConfig(facts.rank, facts.train_attn, facts.train_mlp, facts.train_unembed)
    with_optimizer = body.get("optimizer") is True
    asked = facts.optimizer if with_optimizer else body.get("optimizer_config")
    wanted = optimizers.checked_config(asked or {"type": "adamw"})
    adapter = service.adapter(address, config)
    optimizer = optimizers.fresh(wanted, adapter)
    model = LiveModel(model_id, session.session_id, base, config, adapter, wanted, optimizer)
    if with_optimizer:
        _restore_optimizer(service, model, address)
    service.add(session, model, body.get("user_metadata"))
    return answer({"type": "load_weights", "path": str(address), "model_id": model_id})


def _load_into(service: Service, model_id: str, body: Mapping[str, Any]) -> Response:
    model, address = service.live(model_id), parse_address(body.get("path"))
    facts = service.store.facts(address)
    if facts.rank != model.lora.rank:
        raise OperationFailedError(f"rank {facts.rank} of {address} is not {model.lora.rank}")
    adapter = service.adapter(address, model.lora)
    if body.get("optimizer") is True:
        if dict(facts.optimizer) != dict(model.optimizer_config):
            raise OperationFailedError(
                f"{address} holds the state of {facts.optimizer['type']}, "
                f"this model has {model.optimizer_config['type']}"
            )
        _restore_optimizer(service, model, address)
    else:
        model.optimizer = optimizers.fresh(model.optimizer_config, adapter)
    model.adapter, model.gradients = adapter, {}
    return answer({"type": "load_weights", "path": str(address), "model_id": model_id})


def _restore_optimizer(service: Service, model: LiveModel, address: Address) -> None:
    if address.kind is not Kind.WEIGHTS:
        raise OperationFailedError(f"{address} holds no optimizer state")
    content = service.file(address, archive.OPTIMIZER)
    model.optimizer = archive.read_optimizer(content, model.adapter)
