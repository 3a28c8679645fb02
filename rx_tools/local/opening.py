"""Routes that a client calls before and around the work: configuration, sessions, telemetry."""

from rx_tools.local.http import Request, Response, answer, text
from rx_tools.local.revision import revision
from rx_tools.local.service import Service


def health(service: Service, request: Request) -> Response:
    """The service is up."""
    del service, request
    return answer({"status": "ok"})


def client_config(service: Service, request: Request) -> Response:
    """Flags of the SDK; everything that this service lacks stays off."""
    request.json()
    return answer({"fwdbwd_max_chunk_len": service.settings.chunk})


def dynamic_config(service: Service, request: Request) -> Response:
    """Flags that the SDK asks for again and again; all at their defaults."""
    del service
    request.json()
    return answer({})


def capabilities(service: Service, request: Request) -> Response:
    """The served models; `rx_revision` is this service's own addition."""
    del request
    models = [
        {
            "model_name": name,
            "max_context_length": service.base.shape.max_context,
            "trainable": True,
            "sampleable": True,
        }
        for name in service.settings.model_names
    ]
    return answer({"supported_models": models, "rx_revision": revision()})


def create_session(service: Service, request: Request) -> Response:
    """Open a session."""
    body = request.json()
    session = service.sessions.open(body.get("user_metadata"), body.get("display_name"))
    return answer({"type": "create_session", "session_id": session.session_id})


def heartbeat(service: Service, request: Request) -> Response:
    """Keep a session alive."""
    service.sessions.alive(text(request.json(), "session_id"))
    return answer({"type": "session_heartbeat"})


def finish_session(service: Service, request: Request) -> Response:
    """The client is done; its models are released. Safe to call twice."""
    session = service.sessions.get(request.parts[0])
    if not session.closed:
        service.release(session, "finished")
    return answer({})


def get_session(service: Service, request: Request) -> Response:
    """What a session has made."""
    session = service.sessions.get(request.parts[0])
    return answer(
        {
            "training_run_ids": session.models,
            "sampler_ids": session.samplers,
            "user_metadata": session.user_metadata,
            "display_name": session.display_name,
        }
    )


def list_sessions(service: Service, request: Request) -> Response:
    """The sessions of this start, the newest first."""
    del request
    return answer({"sessions": [each.session_id for each in service.sessions.every()]})


def telemetry(service: Service, request: Request) -> Response:
    """Accepted and dropped."""
    del service, request
    return answer({"status": "accepted"})
