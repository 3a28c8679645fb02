"""Zip archives: written the same way every time, read with distrust.

The archive is checked as a whole before a byte of it is used: every byte must belong to exactly
one member, to the directory or to its end, no member may claim more than the caps allow, and
names and modes are judged before anything is read. Nothing is ever extracted to disk.
"""

import io
import os
import stat
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from rx_tools.errors import IntegrityError
from rx_tools.evidence.digest import open_regular

EPOCH = (1980, 1, 1, 0, 0, 0)
REGULAR_0644 = (stat.S_IFREG | 0o644) << 16
UNIX = 3
LOCAL_HEADER = struct.Struct("<4s5H3I2H")
MAX_MEMBERS = 4096
MAX_UNPACKED = 512 << 20
MAX_ARCHIVE = 512 << 20
RATIO = 1000
ENCRYPTED = 0x1


def zip_bytes(contents: Mapping[str, bytes]) -> bytes:
    """An archive of these files: stored, sorted by path, with one fixed time and mode."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(contents, key=str.encode):
            member = zipfile.ZipInfo(path, EPOCH)
            member.create_system, member.external_attr = UNIX, REGULAR_0644
            archive.writestr(member, contents[path])
    return buffer.getvalue()


def read_zip(path: Path) -> dict[str, bytes]:
    """Path → bytes of every member. Raises `IntegrityError` for whatever is not plain."""
    with os.fdopen(open_regular(path), "rb") as file:
        data = file.read(MAX_ARCHIVE + 1)
    if len(data) > MAX_ARCHIVE:
        raise IntegrityError(f"has more than {MAX_ARCHIVE} bytes", where=str(path))
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            check_archive(archive, data)
            return {member.filename: unpack(archive, member) for member in archive.infolist()}
    except IntegrityError as error:
        raise IntegrityError(error.what, where=str(path)) from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, struct.error) as error:
        raise IntegrityError(f"is no sound zip archive: {error}", where=str(path)) from error
    except (ValueError, RuntimeError, OSError, UnicodeError) as error:
        raise IntegrityError(f"is no sound zip archive: {error}", where=str(path)) from error


def check_archive(archive: zipfile.ZipFile, data: bytes) -> None:
    """Raise `IntegrityError` for bombs, duplicates, odd members and bytes that nobody owns."""
    members = archive.infolist()
    if len(members) > MAX_MEMBERS:
        raise IntegrityError(f"has more than {MAX_MEMBERS} members")
    for member in members:
        check_member(member)
    names = [member.filename for member in members]
    if len(set(names)) != len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise IntegrityError(f"holds {twice!a} twice")
    if sum(member.file_size for member in members) > MAX_UNPACKED:
        raise IntegrityError(f"would unpack to more than {MAX_UNPACKED} bytes")
    check_layout(archive, members, data)


def check_member(member: zipfile.ZipInfo) -> None:
    """Raise `IntegrityError` for links, encryption, unknown packing and impossible ratios."""
    name, kind = member.filename, stat.S_IFMT(member.external_attr >> 16)
    if member.is_dir():
        raise IntegrityError(f"{name!a} is a directory entry")
    if member.orig_filename != name:
        raise IntegrityError(f"the name {member.orig_filename!a} is not plain")
    if kind not in (0, stat.S_IFREG):
        raise IntegrityError(f"{name!a} is a link or a device")
    if member.flag_bits & ENCRYPTED:
        raise IntegrityError(f"{name!a} is encrypted")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise IntegrityError(f"{name!a} is packed in an unusual way")
    if member.file_size > RATIO * max(member.compress_size, 1):
        raise IntegrityError(f"{name!a} unpacks to more than {RATIO} times its packed size")


def check_layout(archive: zipfile.ZipFile, members: list[zipfile.ZipInfo], data: bytes) -> None:
    """Raise `IntegrityError` unless the members follow each other without gap or overlap."""
    expected = 0
    for member in sorted(members, key=lambda item: item.header_offset):
        if member.header_offset != expected:
            raise IntegrityError(f"{member.filename!a} overlaps another member or follows a gap")
        header = LOCAL_HEADER.unpack_from(data, expected)
        described = 16 if header[2] & 0x8 else 0
        expected += LOCAL_HEADER.size + header[9] + header[10] + member.compress_size
        expected += described_size(data, expected) if described else 0
    if archive.start_dir != expected:
        raise IntegrityError("there are bytes between the members and the directory")
    if archive.comment:
        raise IntegrityError("carries a comment")


def described_size(data: bytes, offset: int) -> int:
    """The length of a data descriptor, with or without its signature."""
    return 16 if data[offset : offset + 4] == b"PK\x07\x08" else 12


def unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The bytes of a member, never more than it declares; zipfile checks the CRC at the end."""
    with archive.open(member) as file:
        content = file.read(member.file_size + 1)
    if len(content) != member.file_size:
        raise IntegrityError(f"{member.filename!a} is not as long as it says")
    return content
