"""`python -m rx_tools.local`: the service as a child process.

Prints one JSON line when it is ready, and ends when its standard input ends: with its parent.
"""

import rx_tools.local.threads  # noqa: F401, I001  (before numpy)

import argparse
import json
import sys
from pathlib import Path
from threading import Thread

from rx_tools.local.host import open_server
from rx_tools.local.server import Server


def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser(prog="python -m rx_tools.local")
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--model-name", action="append", default=[])
    parser.add_argument("--fault", action="append", default=[])
    parser.add_argument("--like", default=None)
    parser.add_argument("--chunk", type=int, default=1024)
    asked = parser.parse_args()
    server = open_server(
        asked.store,
        port=asked.port,
        model_names=tuple(asked.model_name),
        faults=tuple(asked.fault),
        like=asked.like,
        chunk=asked.chunk,
    )
    Thread(target=_end_with_parent, args=(server,), daemon=True).start()
    ready = {"base_url": server.base_url, "api_key": server.service.settings.key}
    sys.stdout.write(json.dumps(ready) + "\n")
    sys.stdout.flush()
    server.serve_forever(poll_interval=0.1)
    server.service.close()


def _end_with_parent(server: Server) -> None:
    sys.stdin.buffer.read()
    server.shutdown()


if __name__ == "__main__":
    main()
