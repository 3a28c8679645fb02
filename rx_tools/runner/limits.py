"""Wall-clock limits: no call to a service waits longer than these seconds."""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds. The SDK itself would wait 300 to 390 s on a dead server, or for ever."""

    probe: float = 4.0
    session: float = 60.0
    create: float = 600.0
    compute: float = 900.0
    save: float = 600.0
    close: float = 5.0
    longest_wait_between_probes: float = 5.0
    silence_before_unreachable: float = 3.0
    busy_before_capacity: float = 60.0

    def waits(self, total: float) -> Iterator[float]:
        """Growing waits that add up to `total`; between two of them the server is probed."""
        wait, spent = 1.0, 0.0
        while spent < total:
            step = min(wait, self.longest_wait_between_probes, total - spent)
            yield step
            spent += step
            wait *= 2
