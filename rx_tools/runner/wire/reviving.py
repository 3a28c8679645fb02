"""A service that is started anew when it dies: for the embedded one, whose address then changes."""

from collections.abc import Callable
from threading import Lock

from rx_tools.model.names import CheckpointUri
from rx_tools.runner.service import (
    Capabilities,
    LoadResponse,
    Model,
    ModelConfig,
    ServiceIdentity,
    TrainingService,
    UnreachableError,
)


class RevivingService:
    """A `TrainingService` that calls `connect` for a new one when the present one is gone.

    `connect` starts the service if it is dead and returns a connection to it. Live models of the
    dead service stay lost; their arms go back to the last checkpoint.
    """

    def __init__(self, connect: Callable[[], TrainingService]) -> None:
        self._connect = connect
        self._service = connect()
        self._lock = Lock()

    def capabilities(self) -> Capabilities:
        """Ask what is served."""
        return self._alive().capabilities()

    def identity(self) -> ServiceIdentity:
        """Who this is; the same after a restart of the same code."""
        return self._alive().identity()

    def create(self, config: ModelConfig) -> Model:
        """A fresh model of the live service."""
        return self._alive().create(config)

    def create_from_state(
        self, config: ModelConfig, uri: CheckpointUri, *, with_optimizer: bool
    ) -> tuple[Model, LoadResponse]:
        """A new model of the live service that starts from a saved state."""
        return self._alive().create_from_state(config, uri, with_optimizer=with_optimizer)

    def close(self) -> None:
        """Finish the present session."""
        self._service.close()

    def _alive(self) -> TrainingService:
        with self._lock:
            try:
                self._service.capabilities()
            except UnreachableError:
                self._service.close()
                self._service = self._connect()
            return self._service
