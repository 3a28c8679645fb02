"""Routes that train: forward, forward and backward, optimizer step."""

from collections.abc import Mapping
from typing import Any

from rx_tools.local import wire
from rx_tools.local.examples import checked_examples, checked_loss
from rx_tools.local.http import Request, Response, answer, text, whole
from rx_tools.local.models import LiveModel
from rx_tools.local.optimizers import checked_settings
from rx_tools.local.refusals import HttpRefusalError, OperationFailedError
from rx_tools.local.service import Service
from rx_tools.local.wire import ForwardBackward


def forward_backward(service: Service, request: Request) -> Response:
    """Score a batch; unless `forward_only`, also add its gradient to the model's."""
    asked = wire.parse_forward_backward(request.body)
    if asked.seq_id < 1:
        raise HttpRefusalError(400, "seq_id must be a whole number from 1")
    return service.submit(asked.model_id, asked.seq_id, lambda: _score(service, asked))


def optim_step(service: Service, request: Request) -> Response:
    """Apply the accumulated gradient once and clear it."""
    body = request.json()
    model_id, turn = text(body, "model_id"), whole(body, "seq_id", least=1)
    return service.submit(model_id, turn, lambda: _step(service, model_id, body))


def _score(service: Service, asked: ForwardBackward) -> Response:
    model = service.live(asked.model_id)
    settings = checked_loss(asked.loss, asked.settings)
    examples = checked_examples(asked.data, asked.loss, service.base.shape)
    outcome = service.engine.run(
        model.lora, model.adapter, examples, asked.loss, settings,
        backward=not asked.forward_only,
    )  # fmt: skip
    if not asked.forward_only:
        model.accumulate(outcome.gradients)
    logprobs = service.faults.through(
        outcome.logprobs, lambda fault, arrays: fault.logprobs(arrays)
    )
    content = wire.pack_forward_backward(logprobs, {"loss:sum": outcome.loss})
    return Response(content, media_type=wire.MEDIA_TYPE)


def _step(service: Service, model_id: str, body: Mapping[str, Any]) -> Response:
    model = service.live(model_id)
    settings = service.faults.through(
        _settings(service, model, body), lambda fault, asked: fault.settings(asked)
    )
    model.gradients = service.faults.through(
        model.gradients, lambda fault, gradients: fault.gradients(model.steps + 1, gradients)
    )
    metrics = model.step(settings)
    if service.faults.any(lambda fault: fault.after_step()):
        service.lose_models()
    return answer({"metrics": metrics})


def _settings(service: Service, model: LiveModel, body: Mapping[str, Any]) -> Mapping[str, float]:
    kind, asked = step_parameters(body)
    actual = str(model.optimizer_config["type"])
    if kind == actual:
        return checked_settings(kind, asked)
    if service.faults.any(lambda fault: fault.swallows_parameters()):
        return checked_settings(actual, {})
    raise OperationFailedError(f"parameters of {kind} for a model whose optimizer is {actual}")


def step_parameters(body: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Optimizer type and settings of a request: `adam_params`, or `optimizer_params`."""
    adam, other = body.get("adam_params"), body.get("optimizer_params")
    if isinstance(adam, Mapping) and other is None:
        return "adamw", adam
    if isinstance(other, Mapping) and adam is None and isinstance(other.get("type"), str):
        return str(other["type"]), other
    raise OperationFailedError("expected either adam_params or optimizer_params with a type")
