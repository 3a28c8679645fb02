"""The embedded service's tokenizer and the built-in chats, all from text written here."""

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Literal

from rx_tools.errors import DiskError

Split = Literal["train", "test"]


def tokenizer_folder() -> Path:
    """The folder with `tokenizer.json` and `tokenizer_config.json`, vocabulary 2048."""
    return Path(__file__).parent / "tokenizer"


def chats_bytes(split: Split) -> bytes:
    """The built-in chats as JSONL (`prompt_id`, `messages`); the same bytes on every machine."""
    from rx_tools.local.assets.chats import jsonl, rows

    return jsonl(rows(split))


def chats_file(split: Split, folder: Path | None = None) -> Path:
    """Write the chats into `folder` (by default the system's temporary one) and name the file.

    The name carries the digest of the content, so that two versions never share a file.
    Raises `DiskError` where the folder cannot be written.
    """
    content = chats_bytes(split)
    digest = hashlib.sha256(content).hexdigest()
    place = folder or Path(tempfile.gettempdir())
    target = place / f"rx-chats-{split}-{digest[:16]}.jsonl"
    try:
        place.mkdir(parents=True, exist_ok=True)
        if not target.is_file() or target.read_bytes() != content:
            _replace(target, content)
    except OSError as error:
        raise DiskError(
            f"cannot write the built-in chats: {error.strerror}", where=str(target)
        ) from (error)
    return target


def hub_folder(folder: Path) -> Path:
    """Write both splits in the hub's layout, `data/{train,test}-00000-of-00001.jsonl`."""
    try:
        (folder / "data").mkdir(parents=True, exist_ok=True)
        for split in ("train", "test"):
            _replace(folder / "data" / f"{split}-00000-of-00001.jsonl", chats_bytes(split))
    except OSError as error:
        raise DiskError(
            f"cannot write the built-in chats: {error.strerror}", where=str(folder)
        ) from (error)
    return folder


def _replace(target: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".rx-chats-")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
