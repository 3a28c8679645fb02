"""Plain HTTP beside the SDK: quick probes, raw answers, and files to download.

The SDK retries an unreachable server for five minutes in silence and fills in defaults where a
server says nothing; these calls do neither.
"""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

import httpx

from rx_tools.errors import ServiceError, UsageError
from rx_tools.runner.service import (
    CapacityError,
    ModelLostError,
    NoAnswerError,
    SessionClosedError,
    UnreachableError,
)
from rx_tools.runner.wire.limits import Limits
from rx_tools.runner.wire.service_errors import Doing, from_status

CAPABILITIES = "/api/v1/get_server_capabilities"


class ServiceHttp:
    """One address with its headers; every call has its own time limit."""

    def __init__(self, base_url: str, headers: Mapping[str, str], limits: Limits) -> None:
        self.base_url = base_url.rstrip("/")
        self.host = host_of(base_url)
        self._place = (
            f"{urlsplit(base_url).scheme}://{urlsplit(base_url).netloc.rpartition('@')[2]}"
        )
        self._limits = limits
        self._client = httpx.Client(
            headers=dict(headers),
            trust_env=not is_loopback(self.host),
            follow_redirects=False,
            verify=self.base_url.startswith("https"),
        )

    def capabilities(self) -> Mapping[str, Any]:
        """What the server says of itself; `UnreachableError` within seconds when nobody answers."""
        response = self._send("GET", CAPABILITIES, seconds=self._limits.first_answer)
        return _document(response, "asking what is served")

    def info(self, model_id: str) -> Mapping[str, Any]:
        """The raw answer to `get_info`: what the server left out stays left out."""
        return self._json(
            "POST", "/api/v1/get_info", "asking about a live model", {"model_id": model_id}
        )

    def observe(self, model_id: str) -> Mapping[str, Any] | None:
        """The embedded service's minimal observation; None where there is no such call."""
        path = f"/api/v1/rx/observe?model_id={quote(model_id, safe='')}"
        response = self._send("GET", path)
        if response.status_code in (404, 405, 501):
            return None
        return _document(response, "observing the optimizer")

    def check_alive(self, session_id: str, model_id: str | None) -> None:
        """Raise what has become of the server, the session or the model; return if all live.

        A server that takes the question and does not answer in time is busy, which is no verdict.
        """
        try:
            if model_id is not None:
                self._check_model(model_id)
            response = self._send("POST", "/api/v1/session_heartbeat", {"session_id": session_id})
        except NoAnswerError:
            return
        if response.status_code in (409, 410):
            raise SessionClosedError("the session was closed or evicted")
        _check_busy(response)

    def _check_model(self, model_id: str) -> None:
        response = self._send("POST", "/api/v1/get_info", {"model_id": model_id})
        if response.status_code in (404, 410):
            raise ModelLostError("the server no longer knows the model")
        if response.status_code == 409:
            raise SessionClosedError("the session was closed or evicted")
        _check_busy(response)

    def export_urls(self, run: str, name: str) -> Mapping[str, str]:
        """File name → URL of exported weights."""
        path = (
            f"/api/v1/training_runs/{quote(run, safe='')}/checkpoints/external_weights/"
            f"{quote(name, safe='')}/external_weights_urls"
        )
        urls = self._json("GET", path, Doing.EXPORT).get("urls")
        if not isinstance(urls, dict) or not urls:
            raise ServiceError(f"{Doing.EXPORT}: the service named no files")
        return {str(file): urljoin(self.base_url, str(url)) for file, url in urls.items()}

    def download(self, files: Mapping[str, str], folder: Path) -> Mapping[str, Path]:
        """Fetch every file into `folder`; credentials go to the service's own origin only."""
        folder.mkdir(parents=True, exist_ok=True)
        return {name: self._fetch(url, folder / safe_name(name)) for name, url in files.items()}

    def _fetch(self, url: str, target: Path) -> Path:
        ours = urlsplit(url)[:2] == urlsplit(self.base_url)[:2]
        client = self._client if ours else httpx.Client(follow_redirects=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with client.stream("GET", url, timeout=120.0) as response, target.open("wb") as out:
                if response.status_code != 200:
                    raise from_status(response.status_code, "no file", Doing.EXPORT)
                for block in response.iter_bytes(1 << 20):
                    out.write(block)
        except httpx.TransportError as error:
            raise UnreachableError(f"downloading {target.name}: {error}") from error
        finally:
            if not ours:
                client.close()
        return target

    def close(self) -> None:
        """Drop the connections."""
        self._client.close()

    def _json(
        self, method: str, path: str, doing: str, body: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any]:
        return _document(self._send(method, path, body), doing)

    def _send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        seconds: float | None = None,
    ) -> httpx.Response:
        limits = httpx.Timeout(seconds or self._limits.probe, connect=self._limits.probe)
        try:
            return self._client.request(method, self.base_url + path, json=body, timeout=limits)
        except httpx.ReadTimeout as error:
            raise NoAnswerError(
                f"took the request, but did not answer within {limits.read:g} s",
                where=self._place,
            ) from error
        except httpx.TransportError as error:
            raise UnreachableError(
                f"nobody answers: {type(error).__name__}",
                where=self._place,
                hint="is the service up, and TINKER_BASE_URL right?",
            ) from error
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise UnreachableError(f"not an address: {error}", where=self._place) from error


def host_of(base_url: str) -> str:
    """The host of an address; `UsageError` for what is none."""
    try:
        parts = urlsplit(base_url)
        host = parts.hostname
    except ValueError:
        parts, host = urlsplit(""), None
    if host is None or parts.scheme not in ("http", "https"):
        raise UsageError(
            "is no address of a service",
            where="TINKER_BASE_URL",
            hint="it begins with https:// or http:// and names a host",
        )
    return host


def is_loopback(host: str) -> bool:
    """Whether `host` is this machine, where a proxy must not be asked."""
    return host in ("localhost", "::1") or host.startswith("127.")


def safe_name(name: str) -> PurePosixPath:
    """`name` as a path that stays inside its folder."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or not path.parts:
        raise ServiceError(f"the service named a file outside its folder: {name!r}")
    return path


def _document(response: httpx.Response, doing: str) -> Mapping[str, Any]:
    if response.status_code != 200:
        raise from_status(response.status_code, " ".join(response.text.split())[:200], doing)
    try:
        answer = response.json()
    except ValueError as error:
        raise ServiceError(f"{doing}: the answer is no JSON") from error
    if not isinstance(answer, dict):
        raise ServiceError(f"{doing}: the answer is no JSON object")
    return answer


def _check_busy(response: httpx.Response) -> None:
    if response.status_code in (429, 503):
        raise CapacityError(f"the service answers {response.status_code}")
