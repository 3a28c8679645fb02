"""From settings to a listening server."""

import secrets
from collections.abc import Sequence
from pathlib import Path

from rx_tools.local.assets import tokenizer_folder
from rx_tools.local.choosing import choose
from rx_tools.local.server import Server
from rx_tools.local.service import Service
from rx_tools.local.settings import TINY_NAME, Settings


def open_server(
    store: Path, *, port: int = 0, model_names: Sequence[str] = (), faults: Sequence[str] = (),
    like: str | None = None, chunk: int = 1024,
) -> Server:  # fmt: skip
    """Bind a port and make everything ready; the caller runs `serve_forever`."""
    chosen = choose(faults, like)
    settings = Settings(
        store=store,
        key=f"tml-local-{secrets.token_urlsafe(24)}",
        port=port,
        model_names=tuple(dict.fromkeys((TINY_NAME, *model_names))),
        tokenizer=tokenizer_folder(),
        chunk=chunk,
    )
    return Server(Service(settings, chosen))
