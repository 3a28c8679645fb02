"""Which code serves: the revision that clearances and evidence bind."""

import hashlib
from functools import cache
from pathlib import Path

from rx_tools import __version__


@cache
def revision() -> str:
    """`rx-local/<version>+<digest of this package's sources>`; equal sources, equal revision."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return f"rx-local/{__version__}+{digest.hexdigest()[:16]}"
