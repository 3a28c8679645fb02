"""Which files the arguments of a command mean: files, folders, patterns."""

import glob
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

PATTERN = re.compile(r"[*?\[]")
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


def documents_in(folder: Path) -> Iterator[Path]:
    """The JSON files and ledgers below a folder, hidden ones left out, sorted by name."""
    for path in sorted([*folder.rglob("*.json"), *folder.rglob("ledger.jsonl")]):
        inside = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in inside.parts)
        if path.is_file() and not hidden and not is_private(path, folder):
            yield path


def is_private(path: Path, folder: Path) -> bool:
    """Whether the file lies in the `work` folder of a run directory, which is never handed in."""
    between = [parent for parent in path.parents if parent.is_relative_to(folder)]
    return any(p.name == "work" and (p.parent / "run.json").is_file() for p in between)


def update_number(path: Path) -> int | None:
    """The number of a record update such as `record-0007.json`."""
    match = UPDATE.fullmatch(path.name)
    return int(match.group(1)) if match else None
