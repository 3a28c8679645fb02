"""The service port on the stock `tinker` SDK (its modules `tinker_*` alone import it).

Each model lives in a session of its own, because the SDK has no call that unloads a model: closing
the session gives the slot back. Every wait has its own limit, with probes of the server in
between, because the SDK waits for ever on a dead server and retries a closed session in silence.
"""

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, Generic, TypeVar

import tinker
from tinker.lib.public_interfaces.training_client import TrainingClient

from rx_tools.model.names import CheckpointUri
from rx_tools.runner.service import (
    Capabilities,
    Datum,
    ForwardResult,
    LoadResponse,
    ModelConfig,
    ModelInfo,
    NoAnswerError,
    NotOfferedError,
    OptimizerConfig,
    Pending,
    RefusedError,
    ServiceIdentity,
    StepResult,
)
from rx_tools.runner.wire.limits import LOOPBACK, REMOTE, Limits
from rx_tools.runner.wire.service_errors import Doing, classify
from rx_tools.runner.wire.service_http import ServiceHttp, host_of, is_loopback
from rx_tools.runner.wire.tinker_session import (
    Session,
    closing_on_error,
    create_by_load,
    in_background,
    quiet_sdk,
)
from rx_tools.runner.wire.tinker_values import (
    forward_result,
    load_response,
    optimizer_config,
    sdk_batch,
    step_params,
    step_result,
)

T = TypeVar("T")


class TinkerService:
    """A `TrainingService` over HTTP. `headers` are sent with every request, values never shown."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        headers: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._base_url, self._api_key = base_url, api_key
        self._headers = dict(headers or {})
        self._limits = limits or (LOOPBACK if is_loopback(host_of(base_url)) else REMOTE)
        self._clock = clock
        self._http = ServiceHttp(base_url, {**self._headers, "X-API-Key": api_key}, self._limits)
        self._models: list[TinkerModel] = []
        self._lock = threading.Lock()
        quiet_sdk(self._http.host)

    def capabilities(self) -> Capabilities:
        """Ask what is served; `UnreachableError` within seconds when nobody answers."""
        raw = self._http.capabilities()
        models = raw.get("supported_models") or []
        names = (model.get("model_name") for model in models if isinstance(model, dict))
        return Capabilities(tuple(str(name) for name in names if name), raw)

    def identity(self) -> ServiceIdentity:
        """Who this is: host, SDK version, digest of the capabilities, embedded revision."""
        raw = self._http.capabilities()
        canonical = json.dumps(raw, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        revision = raw.get("rx_revision")
        return ServiceIdentity(
            host=self._http.host,
            sdk_version=version("tinker"),
            capabilities_sha256=sha256(canonical.encode("ascii")).hexdigest(),
            embedded_revision=None if revision is None else str(revision),
        )

    def create(self, config: ModelConfig) -> "TinkerModel":
        """A fresh model; `NotOfferedError` names a refused seed, rank or optimizer."""
        session = self._open_session()
        with closing_on_error(session):
            pending = session.client.create_lora_training_client(
                base_model=config.base_model,
                rank=config.rank,
                seed=config.seed,
                train_mlp=config.train_mlp,
                train_attn=config.train_attn,
                train_unembed=config.train_unembed,
                optimizer=optimizer_config(config.optimizer),
            )
            client = session.wait(pending.future(), self._limits.create, Doing.CREATE)
        return self._adopt(session, client)

    def create_from_state(
        self, config: ModelConfig, uri: CheckpointUri, *, with_optimizer: bool
    ) -> tuple["TinkerModel", LoadResponse]:
        """A new model from a saved state, with the server's own load response."""
        session = self._open_session()
        with closing_on_error(session):
            optimizer = None if with_optimizer else optimizer_config(config.optimizer)
            pending = create_by_load(session.client, uri, with_optimizer, optimizer)
            client, path = session.wait(pending, self._limits.create, Doing.LOAD)
        return self._adopt(session, client), load_response(path)

    def close(self) -> None:
        """Finish every session that is still open; never hangs on a dead server."""
        with self._lock:
            models, self._models = self._models, []
        for model in models:
            model.release()
        self._http.close()

    def _open_session(self) -> "Session":
        self._http.capabilities()
        return Session(self._connect(), self._http, self._limits, self._clock)

    def _connect(self) -> tinker.ServiceClient:
        client = tinker.ServiceClient(
            base_url=self._base_url,
            api_key=self._api_key,
            default_headers_overrides=self._headers,
        )
        opening = in_background(lambda: client.holder)
        try:
            opening.result(self._limits.session)
        except Exception as error:
            raise classify(error, Doing.CREATE) from error
        return client

    def _adopt(self, session: "Session", client: TrainingClient) -> "TinkerModel":
        model = TinkerModel(session, client, self._forget)
        with self._lock:
            self._models.append(model)
        return model

    def _forget(self, model: "TinkerModel") -> None:
        with self._lock:
            self._models = [one for one in self._models if one is not model]


class TinkerModel:
    """One live model in its own session."""

    def __init__(
        self, session: Session, client: TrainingClient, forget: Callable[["TinkerModel"], None]
    ) -> None:
        self._session, self._client, self._forget = session, client, forget
        self._limits = session.limits
        self._id = str(client.model_id)
        self._stalled = False
        session.model_id = self._id

    @property
    def model_id(self) -> str:
        """The server's name of the live model."""
        return self._id

    def info(self) -> ModelInfo:
        """A fresh answer; `optimizer` is None where the server gave no echo."""
        raw = self._session.http.info(self._id)
        data = raw.get("model_data") or {}
        return ModelInfo(
            base_model=str(data.get("model_name") or raw.get("model_name") or ""),
            rank=int(raw.get("lora_rank") or 0),
            tokenizer=str(data.get("tokenizer_id") or ""),
            optimizer=raw.get("optimizer_config"),
            observation=self._session.http.observe(self._id),
        )

    def forward(self, batch: Sequence[Datum]) -> Pending[ForwardResult]:
        """Score without changing anything."""
        future = self._submit(Doing.FORWARD).forward(sdk_batch(batch), "cross_entropy")
        return self._pending(future, self._limits.compute, Doing.FORWARD, forward_result)

    def forward_backward(self, batch: Sequence[Datum]) -> Pending[ForwardResult]:
        """Accumulate the gradient of the summed cross entropy."""
        future = self._submit(Doing.TRAIN).forward_backward(sdk_batch(batch), "cross_entropy")
        return self._pending(future, self._limits.compute, Doing.TRAIN, forward_result)

    def optim_step(self, optimizer: OptimizerConfig, learning_rate: float) -> Pending[StepResult]:
        """Apply one update and clear the gradient."""
        try:
            params = step_params(optimizer, learning_rate)
        except ValueError as error:
            reason = " ".join(str(error).split())[:300]
            raise RefusedError(f"the SDK refuses the step's parameters: {reason}") from error
        future = self._submit(Doing.STEP).optim_step(params)
        return self._pending(future, self._limits.compute, Doing.STEP, step_result)

    def save_state(self, name: str, *, overwrite: bool = False) -> Pending[CheckpointUri]:
        """Save weights and optimizer; `RefusedError` when `name` exists already."""
        future = self._submit(Doing.SAVE).save_state(name, overwrite=overwrite)
        return self._pending(
            future, self._limits.save, Doing.SAVE, lambda answer: CheckpointUri(answer.path)
        )

    def load_state(self, uri: CheckpointUri, *, with_optimizer: bool) -> Pending[LoadResponse]:
        """Load into this model; the response is the server's own."""
        client = self._submit(Doing.LOAD)
        load = client.load_state_with_optimizer if with_optimizer else client.load_state
        future = load(uri)
        return self._pending(
            future, self._limits.create, Doing.LOAD, lambda answer: load_response(answer.path)
        )

    def download_weights(self, name: str, folder: Path) -> Mapping[str, Path]:
        """Export the adapter into `folder`; after a refusal the model counts as stalled."""
        future = self._submit(Doing.EXPORT).save_weights_external(name)
        try:
            answer = self._session.wait(future.future(), self._limits.save, Doing.EXPORT)
        except (NotOfferedError, NoAnswerError):
            self._stalled = True
            raise
        run, _, saved = answer.path.removeprefix("tinker://").partition("/external_weights/")
        return self._session.http.download(self._session.http.export_urls(run, saved), folder)

    def release(self) -> None:
        """Give the slot back by finishing the session; safe to call twice."""
        self._session.close()
        self._forget(self)

    def _submit(self, doing: Doing) -> TrainingClient:
        if self._stalled:
            raise NoAnswerError(
                f"{doing}: this model's request sequence stalled after a refused weight export"
            )
        return self._client

    def _pending(
        self, future: Any, seconds: float, doing: Doing, convert: Callable[[Any], T]
    ) -> "TinkerPending[T]":
        under_way = future.future()
        self._session.track(under_way)
        return TinkerPending(lambda: convert(self._session.wait(under_way, seconds, doing)))


class TinkerPending(Generic[T]):
    """A submitted operation; asking twice gives the same answer."""

    def __init__(self, ask: Callable[[], T]) -> None:
        self._ask = ask
        self._answer: list[T] = []

    def result(self) -> T:
        """The outcome, or a `ServiceError`."""
        if not self._answer:
            self._answer.append(self._ask())
        return self._answer[0]
