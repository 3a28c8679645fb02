"""Which files the arguments of a command mean: files, folders, patterns."""

import glob
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from rx_tools.errors import UsageError

PATTERN = re.compile(r"[*?\[]")
MOST_FILES = 10_000
"""In one folder; a run has a few dozen, and reading this many takes seconds."""
UPDATE = re.compile(r"record-([0-9]{4,9})\.json")


@dataclass(frozen=True, slots=True)
class Found:
    """One file to judge. `named` says that it was asked for by its own name."""

    path: Path
    named: bool


def gather(arguments: Iterable[str]) -> tuple[Found, ...]:
    """Every file once, in the order of the arguments; folders in the order of their names."""
    found: dict[Path, Found] = {}
    for argument in arguments:
        for item in meant(argument):
            found.setdefault(item.path, item)
    return tuple(found.values())


def meant(argument: str) -> Iterator[Found]:
    """What one argument means; a name that exists is never read as a pattern."""
    if not argument:
        hint = "`.` is the folder that you are in; was a variable empty?"
        raise UsageError("an empty file name", hint=hint)
    path = Path(argument)
    if is_folder(path):
        yield from (Found(inner, False) for inner in documents_in(path))
    elif PATTERN.search(argument) and not exists(path):
        # `Path.glob` refuses absolute patterns.
        matches = sorted(glob.glob(argument, recursive=True))  # noqa: PTH207
        for match in map(Path, matches):
            inner = documents_in(match) if is_folder(match) else [match]
            yield from (Found(item, False) for item in inner)
    else:
        yield Found(path, True)


def is_folder(path: Path) -> bool:
    """Whether this is a folder; a name that no file system knows is none."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def exists(path: Path) -> bool:
    """Whether there is such a file; a name that no file system knows does not exist."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def documents_in(folder: Path) -> list[Path]:
    """The JSON files and ledgers below a folder, sorted by name; links to folders stay closed.

    Raises `UsageError` for a folder that holds more than any experiment does.
    """
    found = list(islice(walk(folder), MOST_FILES + 1))
    if len(found) > MOST_FILES:
        what = f"holds more than {MOST_FILES} JSON files"
        hint = "name the folder of an experiment, or the files themselves"
        raise UsageError(what, where=str(folder), hint=hint)
    return sorted(found)


def walk(folder: Path) -> Iterator[Path]:
    """The same, unsorted, without entering hidden folders and private ones."""
    for place, folders, names in os.walk(folder):
        parent = Path(place)
        private = {"work"} if "run.json" in names else set()
        folders[:] = [name for name in folders if name[0] != "." and name not in private]
        for name in names:
            ours = name == "ledger.jsonl" or name.endswith(".json")
            if ours and name[0] != "." and (parent / name).is_file():
                yield parent / name


def update_number(path: Path) -> int | None:
    """The number of a record update such as `record-0007.json`."""
    match = UPDATE.fullmatch(path.name)
    return int(match.group(1)) if match else None
