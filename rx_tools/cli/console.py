"""Two channels: data on stdout, prose on stderr; nothing passes without the one redactor."""

import sys

from rx_tools.evidence.secrets import redact


def emit(text: str, *, verbatim: bool = False) -> None:
    """Write data to stdout, ending with one newline.

    `verbatim` is for the one command that shows a throw-away key of its own making.
    """
    shown = text if verbatim else redact(text)
    sys.stdout.write(shown if shown.endswith("\n") else shown + "\n")
    sys.stdout.flush()


def say(text: str) -> None:
    """Write prose to stderr, ending with one newline."""
    shown = redact(text)
    sys.stderr.write(shown if shown.endswith("\n") else shown + "\n")
    sys.stderr.flush()
