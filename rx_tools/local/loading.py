"""The route that loads a checkpoint: into a live model, or as the first act of a new one."""

from collections.abc import Mapping
from typing import Any

from rx_tools.local import archive, optimizers
from rx_tools.local.checkpoints import Address, Facts, Kind, parse_address
from rx_tools.local.creation import place
from rx_tools.local.http import Request, Response, answer, text, whole
from rx_tools.local.lora import LoraConfig
from rx_tools.local.models import LiveModel
from rx_tools.local.optimizers import Optimizer
from rx_tools.local.refusals import OperationFailedError
from rx_tools.local.service import Service
from rx_tools.local.sessions import Session


def load_weights(service: Service, request: Request) -> Response:
    """Load; with `session_id` a new model is made, with `model_id` a live one is changed."""
    body = request.json()
    if body.get("model_id") is not None:
        model_id, turn = text(body, "model_id"), whole(body, "seq_id", least=1)
        return service.submit(model_id, turn, lambda: _load_into(service, model_id, body))
    session, model_id = place(service, body)
    return service.submit_creation(model_id, lambda: _load_new(service, session, model_id, body))


def _load_new(
    service: Service, session: Session, model_id: str, body: Mapping[str, Any]
) -> Response:
    if body.get("weights_access_token"):
        raise OperationFailedError("weights_access_token is not supported")
    for fault in service.faults:
        fault.on_create(None)
    address = parse_address(body.get("path"))
    facts = service.store.facts(address)
    base = service.base_named(body.get("base_model") or facts.base_model)
    lora = LoraConfig(facts.rank, facts.train_attn, facts.train_mlp, facts.train_unembed)
    with_optimizer = body.get("optimizer") is True
    named = body.get("optimizer_config")
    if with_optimizer and named is not None and named != dict(facts.optimizer):
        raise OperationFailedError(
            f"{address} holds the state of {facts.optimizer['type']}, not of {named!r:.80}"
        )
    asked = facts.optimizer if with_optimizer else named
    wanted = service.faults.through(
        asked or optimizers.DEFAULT, lambda fault, config: fault.restored(config)
    )
    config = optimizers.checked_config(wanted)
    adapter = service.adapter(address, lora)
    optimizer = optimizers.fresh(config)
    if with_optimizer and config == dict(facts.optimizer):
        optimizer = _saved_optimizer(service, address, facts)
    model = LiveModel(model_id, session.session_id, base, lora, adapter, config, optimizer)
    service.add(session, model, body.get("user_metadata"))
    return _loaded(address, model_id)


def _load_into(service: Service, model_id: str, body: Mapping[str, Any]) -> Response:
    model, address = service.live(model_id), parse_address(body.get("path"))
    facts = service.store.facts(address)
    adapter = service.adapter(address, model.lora)
    if body.get("optimizer") is True:
        if dict(facts.optimizer) != dict(model.optimizer_config):
            raise OperationFailedError(
                f"{address} holds the state of {facts.optimizer['type']}, "
                f"this model has {model.optimizer_config['type']}"
            )
        model.optimizer = _saved_optimizer(service, address, facts)
    else:
        model.optimizer = optimizers.fresh(model.optimizer_config)
    model.adapter, model.gradients = adapter, {}
    return _loaded(address, model_id)


def _saved_optimizer(service: Service, address: Address, facts: Facts) -> Optimizer:
    if address.kind is not Kind.WEIGHTS:
        raise OperationFailedError(f"{address} holds no optimizer state")
    saved = archive.read_optimizer(service.file(address, archive.OPTIMIZER))
    cold = optimizers.fresh(facts.optimizer)
    return service.faults.through(saved, lambda fault, state: fault.restored_state(state, cold))


def _loaded(address: Address, model_id: str) -> Response:
    return answer({"type": "load_weights", "path": str(address), "model_id": model_id})
