"""Sessions: opened by a client, kept alive by heartbeats, closed by it or by silence."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from uuid import uuid4

from rx_tools.local.refusals import HttpRefusalError


@dataclass(slots=True)
class Session:
    """One client's session; `closed` says why it ended, empty while it lives."""

    session_id: str
    opened: float
    heard: float
    user_metadata: Mapping[str, object] | None = None
    display_name: str | None = None
    closed: str = ""
    models: list[str] = field(default_factory=list)
    samplers: list[str] = field(default_factory=list)


class Sessions:
    """All sessions of this start."""

    def __init__(self) -> None:
        self._all: dict[str, Session] = {}
        self._lock = Lock()

    def open(self, user_metadata: Mapping[str, object] | None, name: str | None) -> Session:
        """A new session."""
        now = time.monotonic()
        session = Session(str(uuid4()), time.time(), now, user_metadata, name)
        with self._lock:
            self._all[session.session_id] = session
        return session

    def get(self, session_id: str) -> Session:
        """A session of this start, living or closed; 410 when it is from another one."""
        session = self._all.get(session_id)
        if session is None:
            raise HttpRefusalError(410, f"session {session_id} is unknown: session_lost")
        return session

    def alive(self, session_id: str) -> Session:
        """A living session, whose clock is reset; 409 when it was closed or evicted."""
        session = self.get(session_id)
        if session.closed:
            raise HttpRefusalError(409, f"session {session_id} is {session.closed}")
        session.heard = time.monotonic()
        return session

    def every(self) -> list[Session]:
        """All sessions, the newest first."""
        with self._lock:
            return sorted(self._all.values(), key=lambda each: -each.opened)

    def silent(self, seconds: float) -> list[Session]:
        """Living sessions that have not been heard of for so long."""
        limit = time.monotonic() - seconds
        return [each for each in self.every() if not each.closed and each.heard < limit]
