"""Routes that make samplers: from the base model, a checkpoint, or a live model."""

from collections.abc import Mapping
from typing import Any

from rx_tools.local.checkpoints import Kind, parse_address
from rx_tools.local.http import Request, Response, answer, text, whole
from rx_tools.local.lora import LoraConfig
from rx_tools.local.refusals import HttpRefusalError, OperationFailedError
from rx_tools.local.samplers import Sampler
from rx_tools.local.saving import save
from rx_tools.local.service import Service


def create_sampling_session(service: Service, request: Request) -> Response:
    """A sampler of the base model, or of saved weights."""
    body = request.json()
    session = service.sessions.alive(text(body, "session_id"))
    sampler_id = f"{session.session_id}:sample:{whole(body, 'sampling_session_seq_id')}"
    if sampler_id not in service.samplers:
        path, base = body.get("model_path"), body.get("base_model")
        sampler = (
            Sampler(
                sampler_id, session.session_id, service.base_named(base), None,
                service.base.weights,
            )
            if path is None
            else _of_checkpoint(service, sampler_id, session.session_id, path)
        )  # fmt: skip
        service.add_sampler(sampler)
    return answer({"type": "create_sampling_session", "sampling_session_id": sampler_id})


def get_sampler(service: Service, request: Request) -> Response:
    """What a sampler draws from."""
    sampler = service.samplers.get(request.parts[0])
    if sampler is None:
        raise HttpRefusalError(404, f"sampler {request.parts[0]} does not exist")
    return answer(
        {
            "sampler_id": sampler.sampler_id,
            "base_model": sampler.base_name,
            "model_path": sampler.model_path,
        }
    )


def save_for_sampler(service: Service, request: Request) -> Response:
    """Save weights to draw from: under a name, or straight into a sampler."""
    body = request.json()
    model_id, turn = text(body, "model_id"), whole(body, "seq_id", least=1)
    return service.submit(model_id, turn, lambda: _save(service, model_id, turn, body))


def _save(service: Service, model_id: str, turn: int, body: Mapping[str, Any]) -> Response:
    sequence = body.get("sampling_session_seq_id")
    if sequence is None:
        address = save(service, model_id, Kind.SAMPLER, body.get("path") or f"{turn:06d}", body)
        return answer({"type": "save_weights_for_sampler", "path": str(address)})
    kind = body.get("kind", "snapshot")
    if kind not in ("snapshot", "inflight"):
        raise OperationFailedError(f"unknown kind of sampler {kind!r}")
    model = service.live(model_id)
    sampler_id = f"{model.session_id}:sample:{whole(body, 'sampling_session_seq_id')}"
    weights = service.engine.effective(model.lora, model.adapter)
    follows = model_id if kind == "inflight" else None
    for sampler in service.samplers.values():
        if follows is not None and sampler.inflight_of == follows:
            sampler.weights = weights
    service.add_sampler(
        Sampler(sampler_id, model.session_id, model.base_name, None, weights, follows)
    )
    return answer({"type": "save_weights_for_sampler", "sampling_session_id": sampler_id})


def _of_checkpoint(service: Service, sampler_id: str, session_id: str, path: object) -> Sampler:
    address = parse_address(path)
    facts = service.store.facts(address)
    lora = LoraConfig(facts.rank, facts.train_attn, facts.train_mlp, facts.train_unembed)
    weights = service.engine.effective(lora, service.adapter(address, lora))
    return Sampler(sampler_id, session_id, facts.base_model, str(address), weights)
