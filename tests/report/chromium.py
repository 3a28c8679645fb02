"""A real browser without a window: what it shows, what it complains about, what it asks for."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

CHROMIUM = Path("/usr/bin/chromium")
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--enable-logging=stderr",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)


@dataclass(frozen=True)
class Shown:
    """The DOM after loading, console lines, and the addresses that the page asked for."""

    dom: str
    console: list[str]
    requests: list[str]


def show(page, home, *flags):
    """Load a local page; `home` is an empty folder for the browser's own files."""
    assert CHROMIUM.exists(), f"{CHROMIUM} is missing: apt-get install -y chromium"
    log = home / "net.json"
    command = [CHROMIUM, *QUIET, f"--user-data-dir={home}", f"--log-net-log={log}", *flags]
    done = subprocess.run(
        [*command, "--dump-dom", page.as_uri()],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    return Shown(done.stdout, console, asked_for(log))


def asked_for(log):
    """The URLs whose initiator is a page; the browser's own errands have none."""
    events = json.loads(log.read_text())["events"]
    parameters = [event["params"] for event in events if isinstance(event.get("params"), dict)]
    return [
        one["url"]
        for one in parameters
        if one.get("initiator", "not an origin") != "not an origin" and "url" in one
    ]
