"""The retained files that back a record: names, kinds, digests and a way to read their bytes."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Concatenate, ParamSpec, TypeVar

from rx_tools.model.json import as_list, as_object, as_text
from rx_tools.model.names import Sha256

KINDS = (
    "script",
    "effective_config",
    "code_revision",
    "code_patch",
    "predictions",
    "metrics",
    "generated_tasks",
)

Made = TypeVar("Made")
More = ParamSpec("More")


@dataclass(frozen=True, slots=True)
class EvidenceFile:
    """One retained file. `sha256` and `size` are those of the bytes that `read` returns."""

    name: str
    kind: str
    sha256: Sha256
    size: int
    read: Callable[[], bytes]

    @classmethod
    def of_bytes(cls, name: str, kind: str, content: bytes) -> "EvidenceFile":
        """A file whose bytes are at hand."""
        digest = Sha256(hashlib.sha256(content).hexdigest())
        return cls(name, kind, digest, len(content), lambda: content)


@dataclass(frozen=True, slots=True)
class Evidence(Mapping[str, EvidenceFile]):
    """Retained files by name. An empty one says that no file was handed over."""

    files: Mapping[str, EvidenceFile] = field(default_factory=dict)
    _made: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __getitem__(self, name: str) -> EvidenceFile:
        return self.files[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def of_kind(self, kind: str) -> tuple[EvidenceFile, ...]:
        """The retained files of one kind, in the order of the record."""
        return tuple(file for file in self.files.values() if file.kind == kind)

    def once(
        self,
        make: Callable[Concatenate["Evidence", More], Made],
        *args: More.args,
        **kwargs: More.kwargs,
    ) -> Made:
        """What a pure function makes of this evidence; made once, however many judges ask."""
        key = (make, args, *kwargs.items())
        if key not in self._made:
            self._made[key] = make(self, *args, **kwargs)
        found: Made = self._made[key]
        return found


def inline_evidence(record: object) -> Evidence:
    """What a record retains within itself: its evidence files that carry their `content`."""
    files: dict[str, EvidenceFile] = {}
    for entry in as_list(as_object(as_object(record).get("evidence")).get("files")):
        item = as_object(entry)
        name, content = item.get("name"), item.get("content")
        if isinstance(name, str) and isinstance(content, str) and name not in files:
            data = content.encode("utf-8", "surrogatepass")
            files[name] = EvidenceFile.of_bytes(name, as_text(item.get("kind")), data)
    return Evidence(files)
