"""The manifest of a bundle: what `sha256sum -c` checks, in exactly one possible form."""

import re
from collections.abc import Mapping

from rx_tools.errors import IntegrityError
from rx_tools.evidence.layout import MANIFEST
from rx_tools.model.names import Sha256

LINE = re.compile(r"([0-9a-f]{64})  ([^\x00-\x1f\x7f\\]+)")


def manifest_text(digests: Mapping[str, Sha256]) -> bytes:
    """One line `<sha256>  <path>` for each file, sorted by the path's bytes."""
    paths = sorted(digests, key=str.encode)
    return "".join(f"{digests[path]}  {path}\n" for path in paths).encode()


def parse_manifest(content: bytes) -> dict[str, Sha256]:
    """Path → digest. Raises `IntegrityError` unless the bytes are what `manifest_text` writes."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise IntegrityError("is not UTF-8", where=MANIFEST) from error
    digests: dict[str, Sha256] = {}
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        found = LINE.fullmatch(line)
        if found is None:
            raise IntegrityError("is not `<sha256>  <path>`", where=f"{MANIFEST}:{number}")
        if found[2] in digests:
            raise IntegrityError(f"lists {found[2]!a} twice", where=f"{MANIFEST}:{number}")
        digests[found[2]] = Sha256(found[1])
    if manifest_text(digests) != content:
        raise IntegrityError("is not sorted, or does not end with one newline", where=MANIFEST)
    return digests
