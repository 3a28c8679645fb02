"""Which code serves: the revision that clearances and evidence bind."""

import hashlib
from functools import cache
from pathlib import Path

from rx_tools import __version__


@cache
def revision() -> str:
    """`rx-local/<version>+<digest of this package's files>`; equal files, equal revision."""
    digest = hashlib.sha256()
    root = Path(__file__).parent
    for path in sorted(each for each in root.rglob("*") if each.is_file()):
        if path.suffix != ".pyc":
            name = path.relative_to(root).as_posix()
            digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return f"rx-local/{__version__}+{digest.hexdigest()[:16]}"
