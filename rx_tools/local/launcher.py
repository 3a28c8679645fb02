"""Start the embedded service as a child process that dies with its parent."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from select import select
from tempfile import TemporaryFile
from types import TracebackType
from typing import IO

from rx_tools.errors import ServiceError
from rx_tools.local.revision import revision

READY_SECONDS = 30.0


class Running:
    """A service that runs; leaving the context stops it."""

    def __init__(self, process: subprocess.Popen[bytes], base_url: str, api_key: str) -> None:
        self.process, self.base_url, self.api_key = process, base_url, api_key
        self.revision = revision()

    @property
    def environment(self) -> Mapping[str, str]:
        """What a client needs to reach it, proxies kept away from the loopback."""
        return {
            "TINKER_BASE_URL": self.base_url,
            "TINKER_API_KEY": self.api_key,
            "TINKER_TELEMETRY": "0",
            "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
        }

    def stop(self) -> None:
        """End it: politely, then firmly. Safe to call twice."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    def __enter__(self) -> "Running":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.stop()


def launch(
    store: Path, *, faults: Sequence[str] = (), like: str | None = None, port: int = 0,
    log: Path | None = None, model_names: Sequence[str] = (), model_folder: Path | None = None,
    chunk: int = 1024,
) -> Running:  # fmt: skip
    """Start the service on a free loopback port (or `port`) and wait until it listens.

    `model_names` are further names of the served model: `rx/tiny-qwen3`, or the Qwen3 of
    `model_folder` under the folder's name. What the service says goes to the file `log`.
    Raises `ServiceError` when it does not come up.
    """
    command = [sys.executable, "-m", "rx_tools.local", "--store", str(store.resolve())]
    command += ["--port", str(port), "--chunk", str(chunk)]
    command += [word for name in model_names for word in ("--model-name", name)]
    command += [word for fault in faults for word in ("--fault", fault)]
    command += ["--like", like] if like else []
    command += ["--model-folder", str(model_folder.resolve())] if model_folder else []
    with log.open("ab+") if log else TemporaryFile() as errors:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
            cwd=_import_root(), env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        ready = _first_line(process)
        if not ready:
            process.kill()
            process.wait()
            raise ServiceError(f"the embedded service did not start: {_last_line(errors)}")
    told = json.loads(ready)
    return Running(process, told["base_url"], told["api_key"])


def _last_line(errors: IO[bytes]) -> str:
    errors.seek(0)
    lines = errors.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"


def _import_root() -> Path:
    """The folder that holds the package `rx_tools`."""
    return Path(__file__).resolve().parents[2]


def _first_line(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    waiting, _, _ = select([process.stdout], [], [], READY_SECONDS)
    return process.stdout.readline() if waiting else b""
