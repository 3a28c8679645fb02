"""Saying what went wrong inside, where it may be said."""

import sys
import traceback
from contextlib import suppress


def complain() -> None:
    """Print the exception being handled; a log on a full disk must not stop the service."""
    with suppress(OSError, ValueError):
        traceback.print_exc(file=sys.stderr)
