"""Checkpoints and training runs on disk; everything published survives SIGKILL.

    runs/<run>/run.json                     facts of the training run
    runs/<run>/<kind>/<name>.json           facts of a checkpoint: it exists once this file does
    runs/<run>/<kind>/<name>.<random>/      its files, complete before the facts appear

Runs carry `:` in their names, folders `.` instead.
"""

import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from threading import RLock

from filelock import FileLock, Timeout

from rx_tools.errors import ServiceError
from rx_tools.local.checkpoints import Address, Facts, Kind
from rx_tools.local.disk import publish, sync_folder, write_durably
from rx_tools.local.refusals import Category, OperationFailedError


class Store:
    """One folder, used by one process at a time; safe for its threads."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "runs"
        self.root.mkdir(parents=True, exist_ok=True)
        self._one_process = FileLock(folder / "lock")
        try:
            self._one_process.acquire(timeout=0)
        except Timeout:
            raise ServiceError("another service works in this store", where=str(folder)) from None
        self._tidy()
        self._lock = RLock()

    def close(self) -> None:
        """Let another process have the folder."""
        self._one_process.release()

    def add_run(self, run: str, facts: Mapping[str, object]) -> None:
        """Remember a training run."""
        with self._lock:
            folder = self._folder(run)
            folder.mkdir(parents=True, exist_ok=True)
            content = json.dumps({**facts, "run": run}, sort_keys=True).encode()
            publish(folder / "run.json", content, replace=True)

    def run(self, run: str) -> dict[str, object] | None:
        """What `add_run` was told, None for an unknown run."""
        path = self._folder(run) / "run.json"
        return json.loads(path.read_bytes()) if path.is_file() else None

    def runs(self) -> list[dict[str, object]]:
        """Every run, the newest first."""
        found = [json.loads(path.read_bytes()) for path in self.root.glob("*/run.json")]
        return sorted(found, key=lambda run: (-float(run["created"]), str(run["run"])))

    def count_runs(self) -> int:
        """How many runs there ever were in this store."""
        return sum(1 for _ in self.root.iterdir())

    def save(
        self, address: Address, facts: Facts, files: Mapping[str, bytes], *, overwrite: bool = False
    ) -> Facts:
        """Publish a checkpoint whole; an existing name is refused unless `overwrite`."""
        with self._lock:
            place = self._facts_path(address)
            before = self._read(place)
            if before is not None and _lives(before) and not overwrite:
                raise OperationFailedError(
                    f"checkpoint {address} already exists; choose another name or overwrite=True"
                )
            place.parent.mkdir(parents=True, exist_ok=True)
            folder = place.with_name(f"{address.name}.{os.urandom(6).hex()}")
            try:
                _write_all(folder, files)
                sizes = {name: len(content) for name, content in files.items()}
                facts = replace(facts, folder=folder.name, files=sizes, size=sum(sizes.values()))
                publish(place, facts.to_json(), replace=before is not None)
            except OSError as error:
                shutil.rmtree(folder, ignore_errors=True)
                raise OperationFailedError(
                    f"checkpoint {address} could not be written: {error.strerror}", Category.SERVER
                ) from error
            if before is not None:
                shutil.rmtree(place.with_name(before.folder), ignore_errors=True)
            return facts

    def facts(self, address: Address) -> Facts:
        """The facts of a checkpoint; fails with a sentence when there is none (any more)."""
        found = self._read(self._facts_path(address))
        if found is None or not _lives(found):
            raise OperationFailedError(f"checkpoint {address} does not exist")
        return found

    def path(self, address: Address, name: str) -> Path:
        """Where one file of a checkpoint lies; `name` must be one of its files."""
        facts = self.facts(address)
        if name not in facts.files:
            raise OperationFailedError(f"checkpoint {address} has no file {name!r}")
        return self._facts_path(address).with_name(facts.folder) / name

    def change(self, address: Address, facts: Facts) -> None:
        """Replace the facts (the time to live, say); the files stay."""
        with self._lock:
            self.facts(address)
            publish(self._facts_path(address), facts.to_json(), replace=True)

    def delete(self, address: Address) -> None:
        """Forget a checkpoint and remove its files."""
        with self._lock:
            facts = self.facts(address)
            place = self._facts_path(address)
            place.unlink()
            sync_folder(place.parent)
            shutil.rmtree(place.with_name(facts.folder), ignore_errors=True)

    def checkpoints(self, run: str) -> Iterator[tuple[Address, Facts]]:
        """A run's living checkpoints, the oldest first."""
        found = []
        for kind in Kind:
            for path in (self._folder(run) / kind).glob("*.json"):
                facts = self._read(path)
                if facts is not None and _lives(facts):
                    found.append((Address(run, kind, path.stem), facts))
        return iter(sorted(found, key=lambda pair: (pair[1].created, str(pair[0]))))

    def _tidy(self) -> None:
        """Remove what a kill left half written, and what has expired."""
        for kind in self.root.glob("*/*/"):
            kept = set()
            for path in kind.glob("*.json"):
                facts = self._read(path)
                if facts is not None and _lives(facts):
                    kept |= {path.name, facts.folder}
            for path in [each for each in kind.iterdir() if each.name not in kept]:
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink()

    def _folder(self, run: str) -> Path:
        return self.root / run.replace(":", ".")

    def _facts_path(self, address: Address) -> Path:
        return self._folder(address.run) / address.kind / f"{address.name}.json"

    @staticmethod
    def _read(path: Path) -> Facts | None:
        return Facts.from_json(path.read_bytes()) if path.is_file() else None


def _lives(facts: Facts) -> bool:
    return facts.expires is None or facts.expires > time.time()


def _write_all(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.mkdir()
    for name, content in files.items():
        write_durably(folder / name, content)
    sync_folder(folder)
