"""One SDK session: opened with a limit, watched while it works, closed within seconds."""

import logging
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import tinker
from tinker.lib.api_future_impl import _APIFuture
from tinker.lib.client_connection_pool_type import ClientConnectionPoolType
from tinker.lib.public_interfaces.training_client import TrainingClient, fetch_training_info
from tinker.types.optimizer import OptimizerConfig as SdkOptimizerConfig

from rx_tools.runner.wire.limits import Limits
from rx_tools.runner.wire.service_errors import Doing
from rx_tools.runner.wire.service_http import ServiceHttp, is_loopback
from rx_tools.runner.wire.waiting import Waiter

R = TypeVar("R")


class Session:
    """One SDK session: waits, probes, and closes."""

    def __init__(
        self,
        client: tinker.ServiceClient,
        http: ServiceHttp,
        limits: Limits,
        clock: Callable[[], float],
    ) -> None:
        self.client, self.http, self.limits = client, http, limits
        self._waiter = Waiter(self._check_alive, limits, clock)
        self.session_id: str = client.holder.get_session_id()
        self.model_id: str | None = None
        self._unfinished: set[Future[Any]] = set()
        self._closed = False

    def track(self, future: "Future[Any]") -> None:
        """Remember what is under way, so that closing ends the SDK's own retries as well."""
        self._unfinished.add(future)

    def wait(self, future: "Future[R]", seconds: float, doing: Doing) -> R:
        """The future's result, or a `ServiceError` that says what has become of it."""
        self.track(future)
        try:
            return self._waiter.wait(future, seconds, doing)
        finally:
            if future.done():
                self._unfinished.discard(future)

    def close(self) -> None:
        """Stop what is under way and finish the session, within seconds; safe to call twice."""
        if self._closed:
            return
        self._closed = True
        for future in tuple(self._unfinished):
            future.cancel()
        self._unfinished.clear()
        with suppress(Exception):
            self.client.close("success").result(self.limits.close)

    def _check_alive(self) -> None:
        self.http.check_alive(self.session_id, self.model_id)


@contextmanager
def closing_on_error(session: Session) -> Iterator[None]:
    """A session whose model never came to life gives its slot back at once."""
    try:
        yield
    except BaseException:
        session.close()
        raise


def quiet_sdk(host: str) -> None:
    """No telemetry, no proxy for this machine, no log lines between ours."""
    os.environ["TINKER_TELEMETRY"] = "0"
    if is_loopback(host):
        known = os.environ.get("NO_PROXY") or os.environ.get("no_proxy") or ""
        if host not in known.split(","):
            os.environ["NO_PROXY"] = os.environ["no_proxy"] = ",".join(filter(None, [known, host]))
    if "TINKER_LOG" not in os.environ:
        logging.getLogger("tinker").setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", message="DEPRECATED: ", category=FutureWarning)


def in_background(work: Callable[[], R]) -> "Future[R]":
    """Run `work` in a thread that does not keep the process alive."""
    future: Future[R] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def create_by_load(
    client: tinker.ServiceClient,
    uri: str,
    with_optimizer: bool,
    optimizer: SdkOptimizerConfig | None,
) -> "Future[tuple[TrainingClient, str | None]]":
    """The SDK's create-from-state, except that the server's load response is kept.

    The public call discards the path, which is the proof that this very state was loaded.
    """
    holder = client.holder
    session_id, number = holder.get_session_id(), holder.get_training_client_id()
    model_id = f"{session_id}:train:{number}"
    request = tinker.types.LoadWeightsRequest(
        session_id=session_id,
        model_seq_id=number,
        path=uri,
        optimizer=with_optimizer,
        optimizer_config=optimizer,
    )

    async def create() -> tuple[TrainingClient, str | None]:
        started = time.time()
        with holder.aclient(ClientConnectionPoolType.TRAIN) as http:
            promise = await http.weights.load(request=request)
        answer = await _APIFuture(
            tinker.types.LoadWeightsResponse,
            holder,
            promise,
            request_start_time=started,
            request_type="LoadWeights",
        ).result_async()
        info = await fetch_training_info(holder, model_id)
        training = TrainingClient(holder, model_seq_id=number, model_id=model_id, info=info)
        return training, answer.path

    return holder.run_coroutine_threadsafe(create()).future()
