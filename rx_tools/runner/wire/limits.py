"""Wall-clock limits: no call to a service waits longer than these seconds."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds. The SDK itself would wait 300 to 390 s on a dead server, or for ever.

    While an answer is awaited the server is probed, first after `first_wait`, then less and less
    often. Its address may be dead, or it may be busy, for as long as the last two say before that
    becomes an error. `first_answer` is for the very first request: a service may have to wake up.
    """

    probe: float = 4.0
    first_answer: float = 10.0
    session: float = 60.0
    create: float = 600.0
    compute: float = 900.0
    save: float = 600.0
    close: float = 5.0
    first_wait: float = 1.0
    longest_wait: float = 5.0
    silence_before_unreachable: float = 20.0
    busy_before_capacity: float = 60.0


REMOTE = Limits()
LOOPBACK = replace(REMOTE, silence_before_unreachable=2.0)
"""On this machine a refused connection means that the process is gone."""
