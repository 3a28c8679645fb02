"""Whether a folder can hold a run: written, synced, linked without replacing, and locked."""

import os
import shutil
import tempfile
from pathlib import Path

from rx_tools.evidence.folders import sync_folder, try_lock

NEEDED = 200 << 20
"""Bytes: 40 MiB of evidence, once more as a bundle, and the private states of a rehearsal."""


def disk_problem(folder: Path) -> str:
    """What keeps a run from working in this folder; empty when nothing does."""
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".rx-doctor-") as scratch:
            return problem_in(Path(scratch))
    except OSError as error:
        return f"{error.strerror or error} ({type(error).__name__})"


def problem_in(scratch: Path) -> str:
    """Do once what publishing and the ledger do all the time."""
    original, copy = scratch / "written", scratch / "linked"
    descriptor = os.open(original, os.O_RDWR | os.O_CREAT | os.O_EXCL)
    try:
        os.write(descriptor, b"rx")
        os.fsync(descriptor)
        if not try_lock(descriptor):
            return "a lock that nobody holds cannot be taken"
    finally:
        os.close(descriptor)
    try:
        copy.hardlink_to(original)
    except OSError:
        shutil.copyfile(original, copy)
    sync_folder(scratch)
    return "" if copy.read_bytes() == b"rx" else "what was written is not what is read"


def free_bytes(folder: Path) -> int:
    """How much room the disk of a folder has."""
    return shutil.disk_usage(folder).free
