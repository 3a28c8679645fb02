"""Files that a command writes where the user says: checked before the work, then written whole."""

from pathlib import Path

from rx_tools.errors import DiskError, UsageError
from rx_tools.evidence.publish import place, temporary


def check_place(path: Path) -> None:
    """Raise `UsageError` unless a file of this name can be meant."""
    if is_folder(path):
        example = f"such as {path / 'output'}"
        raise UsageError("is a folder", where=str(path), hint=f"name a file in it, {example}")
    check_parent(path)


def check_parent(path: Path) -> None:
    """Raise `UsageError` unless the name is usable and there is a folder to write it into."""
    if not is_folder(path) and not is_folder(path.parent):
        hint = "make it first, or choose another place"
        raise UsageError(f"there is no folder {path.parent}", where=str(path), hint=hint)


def check_new(path: Path) -> None:
    """The same as `check_place` for a file that must not be there yet."""
    check_place(path)
    if path.exists() or path.is_symlink():
        hint = "choose another name; nothing was written"
        raise UsageError("the file exists", where=str(path), hint=hint)


def is_folder(path: Path) -> bool:
    """Whether there is such a folder; raises `UsageError` for a name that no file can have."""
    try:
        return path.is_dir()
    except (OSError, ValueError) as error:
        hint = "choose a shorter, plain name"
        raise UsageError("no usable file name", where=repr(str(path))[:80], hint=hint) from error


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet, whole or not at all."""
    check_new(path)
    place(path.parent, path.name, text.encode())


def write_over(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all, in place of what is there; a device is written to."""
    check_place(path)
    target = path.resolve()
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(content)
            return
        with temporary(target.parent) as (_, half):
            half.write_bytes(content)
            half.replace(target)
    except OSError as error:
        reason = f"cannot be written: {error.strerror}"
        raise DiskError(reason, where=str(path), hint="choose another place") from error
