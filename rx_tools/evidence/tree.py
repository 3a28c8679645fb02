"""A bundle as a map from paths to bytes, whether it is a directory or a zip archive."""

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rx_tools.errors import IntegrityError, UnverifiedError
from rx_tools.evidence.archive import MAX_MEMBERS, MAX_UNPACKED, read_zip
from rx_tools.evidence.digest import Files, read_file
from rx_tools.evidence.layout import BUNDLE, FOLDERS, MANIFEST, is_expected
from rx_tools.evidence.names import fault_of, folded


@dataclass(frozen=True, slots=True)
class Tree:
    """The files of a bundle in memory, with the place they came from."""

    place: Path
    files: Files

    def read(self, path: str) -> bytes:
        """The bytes of one file; `UnverifiedError` when it is not there."""
        if path in self.files:
            return self.files[path]
        raise UnverifiedError(f"there is no {path} in it", where=str(self.place))


def open_tree(place: Path) -> Tree:
    """Read a bundle. Raises `IntegrityError` for anything that no bundle holds."""
    if place.is_symlink():
        raise IntegrityError(
            "is a symbolic link", where=str(place), hint="name the bundle that it leads to"
        )
    files = read_folder(place) if place.is_dir() else read_zip(place)
    check_paths(files, place)
    return Tree(place, Files(files))


def read_folder(place: Path) -> dict[str, bytes]:
    """Path → bytes of every file below a directory; links, devices and masses are refused."""
    files: dict[str, bytes] = {}
    total = 0
    for path, entry in walk(place):
        total += entry.stat(follow_symlinks=False).st_size
        if len(files) >= MAX_MEMBERS or total > MAX_UNPACKED:
            raise IntegrityError("holds more than any bundle", where=str(place))
        files[path] = read_file(Path(entry.path))
    return files


def walk(place: Path, prefix: str = "") -> Iterator[tuple[str, os.DirEntry[str]]]:
    """The regular files of a directory and of the folders that a bundle has."""
    with os.scandir(place) as entries:
        for entry in sorted(entries, key=lambda item: item.name):
            path = f"{prefix}{entry.name}"
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISREG(mode):
                yield path, entry
            elif stat.S_ISDIR(mode) and not prefix and entry.name in FOLDERS:
                yield from walk(Path(entry.path), f"{path}/")
            else:
                what = "a symbolic link" if stat.S_ISLNK(mode) else "an unexpected folder or device"
                raise IntegrityError(f"{path!a} is {what}", where=str(place))


def check_paths(files: Mapping[str, bytes], place: Path) -> None:
    """Raise `IntegrityError` for names off the allow-list, strange places and nested bundles."""
    seen: dict[str, str] = {}
    for path in files:
        folder, _, name = path.rpartition("/")
        fault = fault_of(name) or ("" if folder in ("", *FOLDERS) else "lies in a strange folder")
        if fault:
            raise IntegrityError(f"the path {path!a} {fault}", where=str(place))
        if folder and name in (MANIFEST, BUNDLE):
            raise IntegrityError(f"{path} belongs to a bundle inside the bundle", where=str(place))
        if not is_expected(path):
            raise IntegrityError(f"{path} belongs into no bundle", where=str(place))
        twin = seen.setdefault(folded(path), path)
        if twin != path:
            raise IntegrityError(f"{path} and {twin} collide where case is ignored")
