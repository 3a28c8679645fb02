"""Whether a process holds a ledger, asked without touching the lock itself."""

import os
from pathlib import Path

LOCKS = Path("/proc/locks")


def is_held(ledger: Path, locks: Path = LOCKS) -> bool | None:
    """True while some process has the file locked; None where the system keeps no list of locks."""
    try:
        listed = locks.read_text()
    except OSError:
        return None
    status = ledger.stat()
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    return any(device in line.split() for line in listed.splitlines() if "FLOCK" in line)
