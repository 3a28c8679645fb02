"""Futures: submitted once, answered once, asked for as often as the client likes."""

import json
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from threading import Event, Lock
from uuid import uuid4

from rx_tools.local.http import JSON_TYPE, Response
from rx_tools.local.refusals import Category

KEPT_BYTES = 32 << 20
KEPT_FUTURES = 20_000


@dataclass(slots=True)
class Future:
    """One submitted operation; `response` is set before `done`."""

    request_id: str
    key: Hashable
    done: Event = field(default_factory=Event)
    response: Response | None = None
    queue_state: str = "active"

    def finish(self, response: Response) -> None:
        """Set the answer, once."""
        self.response = response
        self.done.set()


class FutureTable:
    """All futures; the oldest answers are forgotten when they take too much room."""

    def __init__(self) -> None:
        self._by_id: OrderedDict[str, Future] = OrderedDict()
        self._by_key: dict[Hashable, Future] = {}
        self._lock = Lock()
        self._size = 0

    def open(self, key: Hashable) -> tuple[Future, bool]:
        """The future of `key`, and whether it is new: a repeated request gets the first one."""
        with self._lock:
            if key in self._by_key:
                return self._by_key[key], False
            future = Future(uuid4().hex, key)
            self._by_id[future.request_id] = self._by_key[key] = future
            return future, True

    def get(self, request_id: str) -> Future | None:
        """The future of a request id, None when it is unknown or forgotten."""
        with self._lock:
            return self._by_id.get(request_id)

    def finish(self, future: Future, response: Response) -> None:
        """Answer a future and make room."""
        future.finish(response)
        with self._lock:
            self._size += len(response.body)
            while self._size > KEPT_BYTES or len(self._by_id) > KEPT_FUTURES:
                if not self._forget_oldest():
                    return

    def _forget_oldest(self) -> bool:
        done = (each for each in self._by_id.values() if each.response is not None)
        oldest = next(done, None)
        if oldest is None or oldest.response is None:
            return False
        del self._by_id[oldest.request_id]
        del self._by_key[oldest.key]
        self._size -= len(oldest.response.body)
        return True


def failure(sentence: str, category: Category) -> Response:
    """The answer of a failed operation: HTTP 200 with the error inside, as the protocol has it."""
    content = json.dumps({"error": sentence, "category": category})
    return Response(content.encode(), 200, JSON_TYPE)
