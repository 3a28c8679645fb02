"""What was asked lately, for whoever watches."""

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

REMEMBERED = 200


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer; `seconds` from reading it to having written the answer."""

    moment: float
    method: str
    path: str
    status: int
    seconds: float


class Traffic:
    """The last requests and counts of all, by path."""

    def __init__(self) -> None:
        self._last: deque[Exchange] = deque(maxlen=REMEMBERED)
        self._counts: Counter[str] = Counter()
        self._lock = Lock()

    def add(self, exchange: Exchange) -> None:
        """Remember one."""
        with self._lock:
            self._last.append(exchange)
            self._counts[exchange.path] += 1

    def last(self, count: int) -> Sequence[Exchange]:
        """The last `count`, the newest last."""
        with self._lock:
            return list(self._last)[-count:]

    def total(self) -> int:
        """How many requests were answered."""
        with self._lock:
            return self._counts.total()
