"""`rx serve`: the embedded service in the foreground."""

import os
import signal
import sys
import time
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated

import typer

from rx_tools.cli.console import emit, say
from rx_tools.cli.options import Debug, Quiet
from rx_tools.errors import ExitCode
from rx_tools.local.fault_catalogue import described

if TYPE_CHECKING:
    from rich.table import Table

    from rx_tools.local.server import Server

SHOWN = 15


def command(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free port.")] = 0,
    host: Annotated[
        str, typer.Option(help="The address to listen on; anything but loopback is your risk.")
    ] = "127.0.0.1",
    store: Annotated[
        Path, typer.Option(help="Where checkpoints are kept; they outlive the service.")
    ] = Path("rx-serve"),
    model: Annotated[
        Path | None, typer.Option(help="A small Qwen3 in Hugging Face layout to serve.")
    ] = None,
    model_name: Annotated[
        list[str] | None, typer.Option(help="A further name of the served model; repeatable.")
    ] = None,
    fault: Annotated[
        list[str] | None, typer.Option(help="NAME[:ARG], repeatable; the list is above.")
    ] = None,
    like: Annotated[str | None, typer.Option(help="Lack what another service lacks.")] = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> ExitCode:
    """Serve a Tinker-compatible endpoint with a tiny model until Ctrl-C."""
    import rx_tools.local.threads  # noqa: F401  (before numpy)
    from rx_tools.local.host import Start, open_server

    store.mkdir(parents=True, exist_ok=True)
    server = open_server(
        Start(
            store=store, port=port, host=host, model_names=tuple(model_name or ()),
            model_folder=model, faults=tuple(fault or ()), like=like,
        )
    )  # fmt: skip
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        _serve(server, store, quiet=quiet)
    except KeyboardInterrupt:
        server.shutdown()
    server.stop()
    if not quiet:
        count = server.traffic.total()
        say(f"stopped after {count} requests; every saved checkpoint is in {store}")
    return ExitCode.OK


command.__doc__ = f"""{command.__doc__}

Example: rx serve --port 8000 --model-name Qwen/Qwen3.5-2B --fault capacity:2

Faults, for rehearsing what a real service may do:

\b
{described()}
"""


def _serve(server: "Server", store: Path, *, quiet: bool) -> None:
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
    emit(f"export TINKER_BASE_URL={server.base_url}")
    emit(f"export TINKER_API_KEY={server.service.settings.key}", verbatim=True)
    if not quiet:
        names = ", ".join(server.service.settings.model_names)
        say(f"serving {names}; checkpoints in {store}; Ctrl-C stops")
    if not quiet and sys.stderr.isatty():
        _watch(server)
    while True:
        time.sleep(3600)


def _watch(server: "Server") -> None:
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), refresh_per_second=4, transient=True) as live:
        while True:
            live.update(_table(server))
            time.sleep(0.25)


def _table(server: "Server") -> "Table":
    from rich.table import Table

    service, rows = server.service, min(SHOWN, max(3, os.get_terminal_size(2).lines - 6))
    table = Table(
        title=f"{len(service.models)} live models, {server.traffic.total()} requests",
        title_justify="left",
    )
    for column in ("time", "", "path", "status", "ms"):
        table.add_column(column, justify="right" if column in ("status", "ms") else "left")
    for each in server.traffic.last(rows):
        moment = time.strftime("%H:%M:%S", time.localtime(each.moment))
        path = each.path.removeprefix("/api/v1/")
        table.add_row(moment, each.method, path, str(each.status), f"{1000 * each.seconds:.0f}")
    return table
