"""A service that waits by the contract's policy when it is full, wherever a model is created.

It creates nothing more once a stop is requested, so that a preflight ends between two probes.
"""

from rx_tools.model.names import CheckpointUri
from rx_tools.runner.arms.stop import StopSignal
from rx_tools.runner.service import (
    Capabilities,
    LoadResponse,
    Model,
    ModelConfig,
    ServiceIdentity,
    TrainingService,
)
from rx_tools.runner.wire.capacity import CapacityPolicy


class PatientService:
    """Creates models like `service`, by `policy` again while it is full, until `stop`."""

    def __init__(
        self, service: TrainingService, policy: CapacityPolicy, stop: StopSignal | None = None
    ) -> None:
        self._service, self._policy, self._stop = service, policy, stop or StopSignal()

    def capabilities(self) -> Capabilities:
        """Ask what is served."""
        return self._policy.attempt(self._service.capabilities)

    def identity(self) -> ServiceIdentity:
        """Who this is."""
        return self._policy.attempt(self._service.identity)

    def create(self, config: ModelConfig) -> Model:
        """A fresh model; `CapacityBlockedError` when the service stays full."""
        self._stop.check()
        return self._policy.attempt(lambda: self._service.create(config))

    def create_from_state(
        self, config: ModelConfig, uri: CheckpointUri, *, with_optimizer: bool
    ) -> tuple[Model, LoadResponse]:
        """A new model from a saved state; `CapacityBlockedError` when the service stays full."""
        self._stop.check()
        return self._policy.attempt(
            lambda: self._service.create_from_state(config, uri, with_optimizer=with_optimizer)
        )

    def close(self) -> None:
        """Finish the session."""
        self._service.close()
