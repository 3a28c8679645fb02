"""What an SDK exception means for the runner.

Sources: the SDK's own code at 0.38 and its measured behaviour against failing servers. The
exceptions are told apart by their attributes, so that this module needs no SDK.
"""

import re
from enum import StrEnum

from rx_tools.errors import ServiceError
from rx_tools.runner.service import (
    CapacityError,
    ModelLostError,
    NoAnswerError,
    NotOfferedError,
    RefusedError,
    SessionClosedError,
    UnreachableError,
)

_LOST_ANSWER = re.compile(r"Error retrieving result: .*status (400|404)", re.DOTALL)

_INTERNALS = re.compile(r" (for|with status \d+ for) self\.request_id=.*")

CAPACITY_PHRASE = "capacity exhausted"
"""A failed creation future says `trainer capacity exhausted` under HTTP 200."""

LOST_PHRASE = "model_lost"
"""What an operation answers that waited while its model was lost."""


class Doing(StrEnum):
    """What was asked for; a 404 means something else for each."""

    CREATE = "creating a model"
    LOAD = "loading a checkpoint"
    FORWARD = "scoring a batch"
    TRAIN = "computing a gradient"
    STEP = "an optimizer step"
    SAVE = "saving a checkpoint"
    EXPORT = "exporting weights"


_BY_STATUS: dict[int, type[ServiceError]] = {
    400: RefusedError,
    404: RefusedError,
    409: SessionClosedError,
    410: ModelLostError,
    422: RefusedError,
    429: CapacityError,
    503: CapacityError,
}

_BY_STATUS_AND_ACT: dict[tuple[int, str], type[ServiceError]] = {
    **{(status, Doing.CREATE): NotOfferedError for status in (400, 404, 422)},
    (404, Doing.EXPORT): NotOfferedError,
    **{(404, act): ModelLostError for act in (Doing.FORWARD, Doing.TRAIN, Doing.STEP, Doing.SAVE)},
}

_HINTS = {
    401: "check TINKER_API_KEY and the proxy tokens",
    403: "check TINKER_API_KEY and the proxy tokens",
    409: "the session was closed or evicted",
}


def from_status(status: int, message: str, doing: str) -> ServiceError:
    """The error for an HTTP status that the service answered."""
    kind = _BY_STATUS_AND_ACT.get((status, doing)) or _BY_STATUS.get(status, ServiceError)
    text = f"{doing}: the service answered {status}: {message}"
    return kind(text, hint=_HINTS.get(status, ""))


def classify(error: BaseException, doing: Doing) -> ServiceError:
    """The runner's error for an exception that the SDK raised while `doing`."""
    if isinstance(error, ServiceError):
        return error
    message = _message(error)
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return from_status(status, message, doing)
    if hasattr(error, "category"):
        return _from_failed_future(message, str(error.category), doing)
    return _kind_of(error)(f"{doing}: {type(error).__name__}: {message}")


def _message(error: BaseException) -> str:
    """The server's own words; what the SDK says of its internals around them is left out."""
    text = " ".join(str(error).split())
    return _INTERNALS.sub("", text).removeprefix("Request failed: ")[:400]


def _kind_of(error: BaseException) -> type[ServiceError]:
    name = type(error).__name__
    lost_answer = isinstance(error, ValueError) and _LOST_ANSWER.search(str(error)) is not None
    if name == "RetryableException" or lost_answer:
        return ModelLostError
    if name in ("APIConnectionError", "APITimeoutError"):
        return UnreachableError
    return NoAnswerError if isinstance(error, TimeoutError) else ServiceError


def _from_failed_future(message: str, category: str, doing: Doing) -> ServiceError:
    text = f"{doing}: {message}"
    if CAPACITY_PHRASE in message:
        return CapacityError(text)
    if LOST_PHRASE in message:
        return ModelLostError(text)
    if category != "user":
        return ServiceError(text)
    if doing in (Doing.CREATE, Doing.EXPORT):
        return NotOfferedError(text)
    return RefusedError(text)
