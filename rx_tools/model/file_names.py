"""Names of evidence files: one allow-list for packing and for verifying.

A name must mean the same file on every system, so it is one path component in Unicode NFC, made of
letters, digits and `._-+=@,`; it starts with neither dot nor dash, ends with no dot, is no device
name of Windows, and has at most 200 bytes in UTF-8.
"""

import re
import unicodedata
from collections.abc import Iterable

from rx_tools.errors import IntegrityError

MAX_BYTES = 200
MARKS = frozenset("._-+=@,")
LETTERS_AND_DIGITS = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Nd"})
RESERVED = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])\Z", re.IGNORECASE)
INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
HINT = "use letters, digits and ._-+=@, in one path component of at most 200 bytes"


def check_name(name: str) -> str:
    """The name itself, if it is allowed; else `IntegrityError` with the reason."""
    reason = fault_of(name)
    if not reason:
        return name
    shown = ascii(name if len(name) <= MAX_BYTES else f"{name[:MAX_BYTES]}…")
    raise IntegrityError(f"the file name {shown} {reason}", hint=HINT)


def fault_of(name: str) -> str:
    """Why a name is not allowed; empty when it is."""
    if not name:
        return "is empty"
    if any("\ud800" <= character <= "\udfff" for character in name):
        return "is not valid Unicode"
    if len(name.encode()) > MAX_BYTES:
        return f"has more than {MAX_BYTES} bytes"
    wrong = next((character for character in name if not is_allowed(character)), "")
    return f"contains {wrong!a}" if wrong else fault_of_form(name)


def fault_of_form(name: str) -> str:
    """What is wrong with a name of allowed characters; empty when nothing is."""
    if not unicodedata.is_normalized("NFC", name):
        return "is not in Unicode normal form C"
    if name[0] in ".-":
        return "starts with a dot or a dash"
    if name.endswith("."):
        return "ends with a dot"
    if RESERVED.match(folded(name).split(".")[0]):
        return "is a device name on Windows"
    return ""


def is_allowed(character: str) -> bool:
    """Visible letters, digits, combining marks that NFC keeps, and the listed punctuation."""
    if character in MARKS:
        return True
    return unicodedata.category(character) in LETTERS_AND_DIGITS and not INVISIBLE.match(character)


def folded(name: str) -> str:
    """What a case-insensitive, normalizing file system would make of a name."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def twin_of(name: str, others: Iterable[str]) -> str:
    """A different name that would collide with this one on some file system; empty if none."""
    return next((other for other in others if other != name and folded(other) == folded(name)), "")
