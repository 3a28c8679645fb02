"""The table of routes. `*` stands for one segment of a path."""

from collections.abc import Callable

from rx_tools.local import (
    creation,
    downloads,
    listing,
    loading,
    observe,
    opening,
    retrieval,
    sample_route,
    sampler_routes,
    saving,
    training,
)
from rx_tools.local.http import Request, Response
from rx_tools.local.refusals import HttpRefusalError
from rx_tools.local.service import Service

Route = Callable[[Service, Request], Response]

OPEN: frozenset[str] = frozenset({"/api/v1/healthz"})
"""Answered without a key."""

SIGNED = "/api/v1/rx/files/"
"""Answered to whoever holds a signed URL."""

ROUTES: dict[tuple[str, str], Route] = {
    ("GET", "healthz"): opening.health,
    ("POST", "client/config"): opening.client_config,
    ("POST", "client/dynamic_config"): opening.dynamic_config,
    ("GET", "get_server_capabilities"): opening.capabilities,
    ("POST", "create_session"): opening.create_session,
    ("POST", "session_heartbeat"): opening.heartbeat,
    ("POST", "sessions/*/finish"): opening.finish_session,
    ("GET", "sessions/*"): opening.get_session,
    ("GET", "sessions"): opening.list_sessions,
    ("POST", "telemetry"): opening.telemetry,
    ("POST", "create_model"): creation.create_model,
    ("POST", "load_weights"): loading.load_weights,
    ("POST", "get_info"): creation.get_info,
    ("POST", "forward_backward"): training.forward_backward,
    ("POST", "optim_step"): training.optim_step,
    ("POST", "save_weights"): saving.save_weights,
    ("POST", "save_weights_external"): saving.save_external,
    ("POST", "save_weights_for_sampler"): sampler_routes.save_for_sampler,
    ("POST", "create_sampling_session"): sampler_routes.create_sampling_session,
    ("GET", "samplers/*"): sampler_routes.get_sampler,
    ("POST", "asample"): sample_route.sample,
    ("POST", "retrieve_future"): retrieval.retrieve_future,
    ("GET", "training_runs/*/checkpoints/external_weights/*/external_weights_urls"): downloads.urls,
    ("POST", "weights_info"): listing.weights_info,
    ("GET", "training_runs"): listing.list_runs,
    ("GET", "training_runs/*"): listing.get_run,
    ("GET", "training_runs/*/checkpoints"): listing.list_run_checkpoints,
    ("DELETE", "training_runs/*/checkpoints/*/*"): listing.delete_checkpoint,
    ("PUT", "training_runs/*/checkpoints/*/*/ttl"): listing.set_ttl,
    ("GET", "checkpoints"): listing.list_checkpoints,
    ("GET", "rx/files/*/*/*"): downloads.download,
    ("GET", "rx/observe"): observe.observe,
}

SUBMITS = frozenset(
    {
        "/api/v1/create_model",
        "/api/v1/load_weights",
        "/api/v1/forward_backward",
        "/api/v1/optim_step",
        "/api/v1/save_weights",
        "/api/v1/save_weights_external",
        "/api/v1/save_weights_for_sampler",
    }
)
"""The operations of models, which faults may refuse before they are queued."""

PREFIX = "/api/v1/"


def find(method: str, path: str) -> tuple[Route, tuple[str, ...]]:
    """The route of a path and what its wildcards matched; 404 or 405 when there is none."""
    segments = path.removeprefix(PREFIX).split("/") if path.startswith(PREFIX) else []
    methods = []
    for (allowed, pattern), route in ROUTES.items():
        parts = _match(pattern.split("/"), segments)
        if parts is not None and allowed == method:
            return route, parts
        if parts is not None:
            methods.append(allowed)
    if methods:
        raise HttpRefusalError(405, f"{path} takes {', '.join(methods)}, not {method}")
    raise HttpRefusalError(404, f"there is no {path} in this service")


def _match(pattern: list[str], segments: list[str]) -> tuple[str, ...] | None:
    if len(pattern) != len(segments):
        return None
    pairs = list(zip(pattern, segments, strict=True))
    if not all(word in ("*", segment) for word, segment in pairs):
        return None
    return tuple(segment for word, segment in pairs if word == "*")
