"""The route that waits for a future."""

from rx_tools.local.http import Request, Response, answer, text
from rx_tools.local.refusals import HttpRefusalError
from rx_tools.local.service import Service

WAIT_SECONDS = 20.0


def retrieve_future(service: Service, request: Request) -> Response:
    """The answer when it is there; 408 after a while, which the SDK takes for `ask again`.

    (The SDK gives up a request after 45 s and prints a warning for each JSON `try_again`.)
    """
    request_id = text(request.json(), "request_id")
    future = service.scheduler.futures.get(request_id)
    if future is None:
        raise HttpRefusalError(410, f"request {request_id} is unknown or expired")
    if future.done.wait(WAIT_SECONDS) and future.response is not None:
        return future.response
    return answer(
        {
            "type": "try_again",
            "request_id": request_id,
            "queue_state": future.queue_state,
        },
        408,
    )
