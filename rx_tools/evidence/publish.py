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
from rx_tools.evidence.budget import Budget, budget_of, require_room
from rx_tools.evidence.digest import chunks_of, sha256_file
from rx_tools.evidence.folders import locked, sync_folder, try_lock, write_all
from rx_tools.evidence.layout import EVIDENCE
from rx_tools.evidence.names import check_name, folded
from rx_tools.evidence.secrets import refuse_secrets
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
    allowed or that only case or Unicode form distinguishes from a published one, and for a file
    that holds a credential; `DocumentError` when the caps of a run's evidence break; `DiskError`
    when the disk gives out, with the folder as it was.
    """
    return place(folder, check_name(name), content)


def place(folder: Path, name: str, content: Content) -> Published:
    """The same as `publish` under a name that the user chose, which may be any."""
    with disk_errors(folder, name), temporary(folder) as (descriptor, path):
        published = copy(name, content, descriptor)
        os.fsync(descriptor)
        refuse_secrets(name, path.read_bytes())
        with locked(folder):
            if is_new(folder, published):
                refuse_twin(folder, published)
                refuse_above_caps(folder, published)
                link(path, folder / name)
                sync_folder(folder)
    return published


@contextmanager
def disk_errors(folder: Path, name: str) -> Iterator[None]:
    """Turn a failing disk into `DiskError`, with what it means for the folder."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO):
            raise
        reason = f"cannot write {name}: {error.strerror}; nothing was changed"
        raise DiskError(reason, where=str(folder)) from error


@contextmanager
def writable(folder: Path) -> Iterator[None]:
    """Turn the refusal of a new file into `DiskError` about the folder, not about that file."""
    try:
        yield
    except OSError as error:
        reason = f"nothing can be written here: {error.strerror}"
        raise DiskError(reason, where=str(folder), hint="choose another place") from error


@contextmanager
def temporary(folder: Path) -> Iterator[tuple[int, Path]]:
    """A locked temporary file beside its future name; it is gone afterwards, whatever happens."""
    with locked(folder):
        sweep(folder)
        with writable(folder):
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
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        except FileNotFoundError:  # its writer has just finished
            continue
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


def is_new(folder: Path, published: Published) -> bool:
    """Whether nothing is there yet; the same bytes are no news, other bytes are an error."""
    target = folder / published.name
    if not (target.exists() or target.is_symlink()):
        return True
    existing = sha256_file(target)
    if existing == published.sha256:
        return False
    raise IntegrityError(
        f"{published.name} is already published with SHA-256 {existing}; these bytes have "
        f"{published.sha256}",
        where=str(folder),
        hint="published files never change: choose a new name for a new stage",
    )


def refuse_twin(folder: Path, published: Published) -> None:
    """Raise `IntegrityError` if a published name differs only in case or Unicode form."""
    wanted = folded(published.name)
    twin = next((path.name for path in folder.iterdir() if folded(path.name) == wanted), "")
    if twin:
        reason = f"{published.name} and the published {twin} collide where case is ignored"
        raise IntegrityError(reason, where=str(folder), hint="choose another name")


def refuse_above_caps(folder: Path, published: Published) -> None:
    """Raise `DocumentError` if the evidence of a run would outgrow its caps."""
    present = budget_of(folder) if folder.name == EVIDENCE else Budget(0, 0)
    require_room(present, {published.name: published.size})


def link(path: Path, target: Path) -> None:
    """Name the file without replacing; where hard links are unknown, rename under the lock."""
    try:
        os.link(path, target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        path.rename(target)
