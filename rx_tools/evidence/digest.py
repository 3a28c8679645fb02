"""SHA-256 over bytes and files, as 64 lower-case hexadecimal digits."""

import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from rx_tools.errors import IntegrityError
from rx_tools.model.names import Sha256

CHUNK = 1 << 20
ZEROS = Sha256("0" * 64)
"""Stands for "nothing before": the predecessor of a ledger's first line."""


def sha256_of(data: bytes) -> Sha256:
    """The digest of bytes in memory."""
    return Sha256(hashlib.sha256(data).hexdigest())


def sha256_file(path: Path) -> Sha256:
    """The digest of a regular file, read in chunks; a symbolic link or a device is refused."""
    digest = hashlib.sha256()
    for chunk in chunks_of(path):
        digest.update(chunk)
    return Sha256(digest.hexdigest())


Made = TypeVar("Made")


class Files(dict[str, bytes]):
    """Path → bytes; each digest is taken once. Not to be changed after the first digest."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        super().__init__(files)
        self._digests: dict[str, Sha256] = {}
        self._made: dict[tuple[object, Sha256], Any] = {}

    def sha256(self, path: str) -> Sha256:
        """The digest of one file."""
        if path not in self._digests:
            self._digests[path] = sha256_of(self[path])
        return self._digests[path]

    def once(self, make: Callable[[bytes, str], Made], path: str) -> Made:
        """What a pure function makes of a file; of equal bytes the very same object."""
        key = (make, self.sha256(path))
        if key not in self._made:
            self._made[key] = make(self[path], path)
        found: Made = self._made[key]
        return found


def read_file(path: Path) -> bytes:
    """All bytes of a regular file at once, never through a symbolic link."""
    with os.fdopen(open_regular(path), "rb", buffering=0) as file:
        return file.readall()


def chunks_of(path: Path) -> Iterator[bytes]:
    """The bytes of a regular file, never through a symbolic link.

    Raises `IntegrityError` for anything that is not a regular file, `OSError` when unreadable.
    """
    descriptor = open_regular(path)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        while chunk := file.read(CHUNK):
            yield chunk


def open_regular(path: Path, flags: int = os.O_RDONLY) -> int:
    """A descriptor of a regular file; links, folders, devices and pipes are refused."""
    refuse_irregular(path, path.lstat().st_mode)
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        refuse_irregular(path, os.fstat(descriptor).st_mode)
    except IntegrityError:
        os.close(descriptor)
        raise
    return descriptor


def refuse_irregular(path: Path, mode: int) -> None:
    """Raise `IntegrityError` unless the mode is that of a regular file."""
    if stat.S_ISREG(mode):
        return
    what = "is a symbolic link" if stat.S_ISLNK(mode) else "is not a regular file"
    raise IntegrityError(what, where=str(path), hint="put the file itself in its place")
