"""Publish a file once and for ever: no replacing, nothing half-written, hashed while copied.

The bytes go to a temporary file in the same folder, are hashed on the way, synced, and linked to
their name without replacing. Whoever is killed in between leaves an ignored temporary file that
the next publisher sweeps away; the old state stays intact.
"""

import errno
import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from rx_tools.errors import DiskError, IntegrityError
from rx_tools.evidence.digest import chunks_of, sha256_file
from rx_tools.evidence.folders import locked, sync_folder, try_lock, write_all
from rx_tools.evidence.names import check_name, folded
from rx_tools.model.names import Sha256

Content: TypeAlias = bytes | Path | Iterable[bytes]
TEMPORARY = ".rx-publishing-"
NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK}


@dataclass(frozen=True, slots=True)
class Published:
    """A file that will never change. `size` is in bytes."""

    name: str
    sha256: Sha256
    size: int


def publish(folder: Path, name: str, content: Content) -> Published:
    """Write `content` under `name` in `folder`, which must exist.

    Publishing the same bytes again answers as the first time. Raises `IntegrityError` for other
    bytes under a published name (it tells the digest that is there), for a name that is not
    allowed and for one that only case or Unicode form distinguishes from a published one;
    `DiskError` when the disk gives out, with the folder as it was.
    """
    check_name(name)
    try:
        with temporary(folder) as (descriptor, path):
            published = copy(name, content, descriptor)
            os.fsync(descriptor)
            with locked(folder):
                settle(folder, path, published)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO):
            raise
        reason = f"cannot publish {name}: {error.strerror}; nothing was changed"
        raise DiskError(reason, where=str(folder)) from error
    return published


@contextmanager
def temporary(folder: Path) -> Iterator[tuple[int, Path]]:
    """A locked temporary file beside its future name; it is gone afterwards, whatever happens."""
    with locked(folder):
        sweep(folder)
        descriptor, place = tempfile.mkstemp(prefix=TEMPORARY, dir=folder)
        try_lock(descriptor)
    path = Path(place)
    try:
        os.fchmod(descriptor, 0o644)
        yield descriptor, path
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def sweep(folder: Path) -> None:
    """Remove temporary files whose writer is gone: nobody holds their lock."""
    for path in folder.glob(f"{TEMPORARY}*"):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        if try_lock(descriptor):
            path.unlink(missing_ok=True)
        os.close(descriptor)


def copy(name: str, content: Content, descriptor: int) -> Published:
    """Copy the content, hashing the very bytes that are written."""
    digest, size = hashlib.sha256(), 0
    for chunk in pieces(content):
        digest.update(chunk)
        write_all(descriptor, chunk)
        size += len(chunk)
    return Published(name, Sha256(digest.hexdigest()), size)


def pieces(content: Content) -> Iterable[bytes]:
    """The content in chunks."""
    match content:
        case bytes():
            return (content,)
        case Path():
            return chunks_of(content)
        case _:
            return content


def settle(folder: Path, path: Path, published: Published) -> None:
    """Give the temporary file its name unless something is there; the folder is locked."""
    present = sorted(path.name for path in folder.iterdir())
    if published.name in present:
        refuse_other_bytes(folder, published)
        return
    wanted = folded(published.name)
    twin = next((other for other in present if folded(other) == wanted), "")
    if twin:
        reason = f"{published.name} and the published {twin} collide where case is ignored"
        raise IntegrityError(reason, where=str(folder), hint="choose another name")
    link(path, folder / published.name)
    sync_folder(folder)


def refuse_other_bytes(folder: Path, published: Published) -> None:
    """Same name, same bytes: nothing to do. Same name, other bytes: an error with the digest."""
    existing = sha256_file(folder / published.name)
    if existing == published.sha256:
        return
    raise IntegrityError(
        f"{published.name} is already published with SHA-256 {existing}; these bytes have "
        f"{published.sha256}",
        where=str(folder),
        hint="published files never change: choose a new name for a new stage",
    )


def link(path: Path, target: Path) -> None:
    """Name the file without replacing; where hard links are unknown, rename under the lock."""
    try:
        os.link(path, target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        path.rename(target)
