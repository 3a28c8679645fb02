"""From what a start is asked to a listening server."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rx_tools.errors import DiskError, ServiceError
from rx_tools.local.assets import tokenizer_folder
from rx_tools.local.choosing import choose
from rx_tools.local.server import Server
from rx_tools.local.service import Service
from rx_tools.local.settings import TINY_NAME, Settings

LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]", "::1"})


@dataclass(frozen=True, slots=True)
class Start:
    """What a start is asked: by a parent process, or by `rx serve`.

    `model_names` are names for the one served model: the tiny one, or the Qwen3 of `model_folder`.
    """

    store: Path
    port: int = 0
    host: str = "127.0.0.1"
    model_names: Sequence[str] = ()
    model_folder: Path | None = None
    faults: Sequence[str] = ()
    like: str | None = None
    chunk: int = 1024


def open_server(start: Start) -> Server:
    """Bind a port and make everything ready; the caller runs `serve_forever`."""
    chosen = choose(start.faults, start.like)
    own = TINY_NAME if start.model_folder is None else start.model_folder.resolve().name
    settings = Settings(
        store=start.store,
        key=f"tml-local-{secrets.token_urlsafe(24)}",
        tokenizer=_tokenizer(start.model_folder),
        host=start.host,
        port=start.port,
        model_names=tuple(dict.fromkeys((own, *start.model_names))),
        model_folder=start.model_folder,
        chunk=start.chunk,
        allowed_hosts=LOOPBACK if start.host in LOOPBACK else frozenset(),
    )
    try:
        service = Service(settings, chosen)
    except OSError as error:
        raise DiskError(f"the store cannot be used: {error}", where=str(start.store)) from error
    try:
        return Server(service)
    except OSError as error:
        raise ServiceError(
            f"cannot listen on {start.host}:{start.port}: {error.strerror}",
            hint="--port 0 takes any free port",
        ) from error


def _tokenizer(model_folder: Path | None) -> Path:
    own = None if model_folder is None else model_folder.resolve()
    return own if own is not None and (own / "tokenizer.json").is_file() else tokenizer_folder()
