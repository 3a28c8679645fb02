"""`python -m rx_tools.local`: the service as a child process.

Prints one JSON line when it is ready, and ends when its standard input ends: with its parent.
"""

import rx_tools.local.threads  # noqa: F401, I001  (before numpy)

import argparse
import json
import signal
import sys
from pathlib import Path
from threading import Thread

from rx_tools.errors import RxError
from rx_tools.local.host import Start, open_server
from rx_tools.local.server import Server


def main() -> int:
    """Serve until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's; it may want to save
    try:
        server = open_server(_asked())
    except RxError as error:
        sys.stderr.write(f"{error}\n")
        return int(error.exit_code)
    Thread(target=_end_with_parent, args=(server,), daemon=True).start()
    ready = {"base_url": server.base_url, "api_key": server.service.settings.key}
    sys.stdout.write(json.dumps(ready) + "\n")
    sys.stdout.flush()
    server.serve_forever(poll_interval=0.1)
    server.stop()
    return 0


def _asked() -> Start:
    parser = argparse.ArgumentParser(prog="python -m rx_tools.local")
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--model-name", action="append", default=[])
    parser.add_argument("--model-folder", type=Path, default=None)
    parser.add_argument("--fault", action="append", default=[])
    parser.add_argument("--like", default=None)
    parser.add_argument("--chunk", type=int, default=1024)
    given = parser.parse_args()
    return Start(
        store=given.store,
        port=given.port,
        model_names=tuple(given.model_name),
        model_folder=given.model_folder,
        faults=tuple(given.fault),
        like=given.like,
        chunk=given.chunk,
    )


def _end_with_parent(server: Server) -> None:
    sys.stdin.buffer.read()
    server.shutdown()


if __name__ == "__main__":
    sys.exit(main())
