"""The minimal observation of a model's concrete optimizer: this service's own addition."""

from rx_tools.local.http import Request, Response, answer
from rx_tools.local.optimizers import state_digest
from rx_tools.local.refusals import HttpRefusalError
from rx_tools.local.revision import revision
from rx_tools.local.service import Service


def observe(service: Service, request: Request) -> Response:
    """Type, steps taken, settings of the last step and the digest of the state, as they are."""
    model_id = request.query.get("model_id", "")
    if service.faults.any(lambda fault: fault.hides_observation()):
        raise HttpRefusalError(404, "there is no observation of the optimizer in this service")
    service.require(model_id)
    with service.scheduler.quiet:
        model = service.models.get(model_id)
        if model is None:
            raise HttpRefusalError(404, f"model {model_id} was not created")
        return answer(
            {
                "model_id": model_id,
                "optimizer": {**model.optimizer_config, "type": model.optimizer.type},
                "step": model.optimizer.step,
                "last": model.optimizer.last,
                "state_sha256": state_digest(model.optimizer),
                "revision": revision(),
            }
        )
