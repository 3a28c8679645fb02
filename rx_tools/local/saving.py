"""Routes that save: training state, weights for sampling, weights to download."""

from collections.abc import Mapping
from typing import Any

from rx_tools.local import archive
from rx_tools.local.checkpoints import Address, Kind, checked_name, checked_ttl
from rx_tools.local.http import Request, Response, answer, text, whole
from rx_tools.local.refusals import OperationFailedError
from rx_tools.local.service import Service


def save_weights(service: Service, request: Request) -> Response:
    """Adapter and optimizer, to load later."""
    return _submit(service, request, Kind.WEIGHTS)


def save_external(service: Service, request: Request) -> Response:
    """Adapter, its configuration and the optimizer's state, to download."""
    return _submit(service, request, Kind.EXTERNAL)


def _submit(service: Service, request: Request, kind: Kind) -> Response:
    body = request.json()
    model_id, turn = text(body, "model_id"), whole(body, "seq_id", least=1)
    return service.submit(model_id, turn, lambda: _save(service, model_id, turn, kind, body))


def _save(
    service: Service, model_id: str, turn: int, kind: Kind, body: Mapping[str, Any]
) -> Response:
    if body.get("age_encryption_recipients"):
        raise OperationFailedError("age encryption is not supported")
    address = save(service, model_id, kind, body.get("path") or f"{turn:06d}", body)
    return answer({"type": request_type(kind), "path": str(address)})


def save(
    service: Service, model_id: str, kind: Kind, name: object, body: Mapping[str, Any]
) -> Address:
    """Publish a checkpoint of a live model, inside an operation."""
    model = service.live(model_id)
    address = Address(model_id, kind, checked_name(name))
    ttl = checked_ttl(body.get("ttl_seconds"))
    files = archive.files_of(model, with_optimizer=kind is not Kind.SAMPLER)
    if kind is Kind.EXTERNAL:
        files = service.faults.through(files, lambda fault, content: fault.exported(content))
    facts = service.facts(model, ttl, body.get("user_metadata"))
    service.store.save(address, facts, files, overwrite=body.get("overwrite") is True)
    return address


def request_type(kind: Kind) -> str:
    """The `type` of a save's answer, a literal that the SDK checks."""
    return {
        Kind.WEIGHTS: "save_weights",
        Kind.SAMPLER: "save_weights_for_sampler",
        Kind.EXTERNAL: "save_weights_external",
    }[kind]
