"""Where chats come from: the hub, a local folder, a file, or the built-in ones.

Text never leaves this machine: what may be published of a data set are ids and digests.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from rx_tools.errors import DiskError, DocumentError, ServiceError, UsageError
from rx_tools.model.names import Sha256
from rx_tools.runner.data.chats import Row
from rx_tools.runner.data.rows import column_rows, distinct, jsonl_rows, parquet_rows

BUILT_IN = "rx/built-in-chats"
"""The source name of the chats that come with the package."""

LAYOUTS = ("data/{split}-*.{kind}", "{split}-*.{kind}", "data/{split}.{kind}", "{split}.{kind}")
KINDS = ("jsonl", "parquet")


@dataclass(frozen=True)
class Dataset:
    """One split as it was read: rows in file order, with distinct ids.

    `files` maps the names of local files to the digests of their bytes; it is empty for the hub.
    """

    source: str
    split: str
    rows: tuple[Row, ...]
    files: Mapping[str, Sha256] = field(default_factory=dict)

    @cached_property
    def rows_sha256(self) -> Sha256:
        """The digest of all ids and row digests, in order."""
        return rows_digest(self.rows)


def rows_digest(rows: Iterable[Row]) -> Sha256:
    """SHA-256 over one line a row: the canonical JSON `["<id>","<digest>"]` and a line feed."""
    total = hashlib.sha256()
    for row in rows:
        total.update(json.dumps([row.row_id, row.sha256], separators=(",", ":")).encode() + b"\n")
    return Sha256(total.hexdigest())


def load_split(source: str | Path, split: str) -> Dataset:
    """Read a split of a source.

    `BUILT_IN` names the built-in chats; an existing folder is read in the hub's layout
    (`data/<split>-*.jsonl` or `.parquet`); an existing file is read whole, whatever the split;
    everything else is a name on the hub, read through `datasets`. Raises `DocumentError` with
    file and line for a wrong row, `ServiceError` when the hub gives nothing.
    """
    path = Path(source)
    if source == BUILT_IN:
        dataset = _built_in(split)
    elif path.is_dir():
        dataset = _from_files(str(source), split, _files_of(path, split))
    elif path.exists() or path.suffix in (".jsonl", ".parquet"):
        dataset = _from_files(str(source), split, [path])
    else:
        dataset = Dataset(str(source), split, tuple(distinct(_hub_rows(str(source), split))))
    if dataset.rows:
        return dataset
    raise DocumentError(f"no rows in the split {split!r}", where=str(source))


def _built_in(split: str) -> Dataset:
    from rx_tools.local.assets import chats_bytes

    if split not in ("train", "test"):
        raise UsageError(f"the built-in chats have no split {split!r}", hint="train or test")
    content = chats_bytes("train" if split == "train" else "test")
    name = f"{split}.jsonl"
    return Dataset(
        BUILT_IN, split, tuple(distinct(jsonl_rows(content, name))), {name: _digest(content)}
    )


def _files_of(folder: Path, split: str) -> list[Path]:
    for layout in LAYOUTS:
        for kind in KINDS:
            found = sorted(folder.glob(layout.format(split=split, kind=kind)))
            if found:
                return found
    raise DocumentError(
        f"no files of the split {split!r}",
        where=str(folder),
        hint=f"expected {LAYOUTS[0].format(split=split, kind='jsonl')} or .parquet",
    )


def _from_files(source: str, split: str, paths: list[Path]) -> Dataset:
    contents = {path: _content(path) for path in paths}
    rows = (row for path, content in contents.items() for row in _file_rows(path, content))
    digests = {path.name: _digest(content) for path, content in contents.items()}
    return Dataset(source, split, tuple(distinct(rows)), digests)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise UsageError("no such file", where=str(path)) from None
    except OSError as error:
        raise DiskError(f"cannot be read: {error.strerror}", where=str(path)) from error


def _file_rows(path: Path, content: bytes) -> Iterator[Row]:
    read = parquet_rows if path.suffix == ".parquet" else jsonl_rows
    return read(content, str(path))


def _hub_rows(name: str, split: str) -> Iterator[Row]:
    try:
        import datasets
    except ImportError as error:
        raise UsageError(
            f"{name} is no local file or folder, and the hub needs `datasets`",
            hint="pip install 'rx-tools[run]', or give a folder or a JSONL file",
        ) from error
    try:
        table: Any = datasets.load_dataset(name, split=split)
    except Exception as error:  # the hub's clients raise dozens of unrelated kinds
        raise ServiceError(
            f"the hub gives no split {split!r}: {_first_line(error)}",
            where=name,
            hint="give a folder with data/<split>-*.jsonl or .parquet, or fill the cache online",
        ) from error
    return column_rows(table, name)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def _digest(content: bytes) -> Sha256:
    return Sha256(hashlib.sha256(content).hexdigest())
