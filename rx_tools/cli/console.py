"""Two channels: data on stdout, prose on stderr; nothing passes without the one redactor."""

import codecs
import io
import json
import os
import re
import sys
from typing import TextIO

from rx_tools.evidence.secrets import redact

ESCAPING = "rx-escape"
LAST_CHANNEL = 2
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f]")
"""What could move the cursor of a terminal; in JSON none of them stands unescaped."""


def escaped(error: UnicodeError) -> tuple[str, int]:
    """What a stream cannot encode, as JSON escapes it: data stays the same JSON."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def open_channels() -> None:
    """Let stdout and stderr take every character, whatever the locale or the file names hold.

    Where a descriptor is closed the null device takes its place: a file of the run that got its
    number would receive what any child process prints.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= LAST_CHANNEL:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", closefd=False)
    codecs.register_error(ESCAPING, escaped)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ESCAPING)


def emit(text: str, *, verbatim: bool = False) -> None:
    """Write data to stdout, ending with one newline.

    `verbatim` is for the one command that shows a throw-away key of its own making.
    """
    write(sys.stdout, text if verbatim else redact(text))


def say(text: str) -> None:
    """Write prose to stderr, ending with one newline."""
    write(sys.stderr, redact(text))


def write(stream: TextIO, text: str) -> None:
    """Write without control characters; after a reader has left, the exit code still stands."""
    shown = CONTROLS.sub("\ufffd", text)
    try:
        stream.write(shown if shown.endswith("\n") else shown + "\n")
        stream.flush()
    except BrokenPipeError:
        unread = os.open(os.devnull, os.O_WRONLY)
        os.dup2(unread, stream.fileno())
        os.close(unread)
