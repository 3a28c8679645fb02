"""The retained files of a record: those inline, and those that lie in a folder."""

import hashlib
from pathlib import Path

from rx_tools.errors import UsageError
from rx_tools.model.evidence import Evidence, EvidenceFile, inline_evidence
from rx_tools.model.json import as_list, as_object, as_text
from rx_tools.model.names import Sha256


def retained_evidence(record: object, folder: Path | None = None) -> Evidence:
    """Inline files, overlaid by the regular files of `folder`; kinds as the record states them.

    Raises `UsageError` if `folder` is no directory. Files are hashed here and read on demand.
    """
    inline = inline_evidence(record)
    if folder is None:
        return inline
    require_folder(folder)
    kinds = kinds_by_name(record)
    files = dict(inline.files)
    for path in sorted(folder.iterdir()):
        if path.is_file():
            files[path.name] = evidence_file(path, kinds.get(path.name, ""))
    return Evidence(files)


def require_folder(folder: Path | None) -> None:
    """Raise `UsageError` for a folder that was named and is none."""
    if folder is not None and not folder.is_dir():
        raise UsageError("no such directory", where=str(folder), hint="--evidence takes a folder")


def kinds_by_name(record: object) -> dict[str, str]:
    """File name → kind, as the record's evidence lists them."""
    listed = as_list(as_object(as_object(record).get("evidence")).get("files"))
    entries = [as_object(entry) for entry in listed]
    return {as_text(entry.get("name")): as_text(entry.get("kind")) for entry in entries}


def evidence_file(path: Path, kind: str) -> EvidenceFile:
    """Hash one file; its bytes are read again only when a check asks for them."""
    with path.open("rb") as stream:
        digest = Sha256(hashlib.file_digest(stream, "sha256").hexdigest())
    return EvidenceFile(path.name, kind, digest, path.stat().st_size, path.read_bytes)
