"""Two channels: data on stdout, prose on stderr."""

import sys


def emit(text: str) -> None:
    """Write data to stdout, ending with one newline."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    sys.stdout.flush()


def say(text: str) -> None:
    """Write prose to stderr, ending with one newline."""
    sys.stderr.write(text if text.endswith("\n") else text + "\n")
    sys.stderr.flush()
