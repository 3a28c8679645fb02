"""From an exception to one line and an exit code: the only place where that happens."""

import errno
import functools
import sys
import traceback
from collections.abc import Callable
from typing import ParamSpec

import typer

from rx_tools.cli.console import say
from rx_tools.errors import ExitCode, RxError

P = ParamSpec("P")

USAGE_HINTS = {
    errno.ENOENT: "name a path that exists",
    errno.EISDIR: "name a file, not a folder",
    errno.ENOTDIR: "a part of this path is a file: name a folder",
    errno.EEXIST: "choose another name",
    errno.ENAMETOOLONG: "choose a shorter name",
}
DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG}


def guarded(command: Callable[P, ExitCode]) -> Callable[P, None]:
    """Wrap a command: it returns its exit code, and no exception escapes as a traceback."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            code = command(*args, **kwargs)
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except BaseException as error:
            code = report(error)
        raise typer.Exit(int(code))

    return run


def report(error: BaseException) -> ExitCode:
    """Say what happened in one line; the traceback only with `--debug`."""
    if "--debug" in sys.argv:
        say(traceback.format_exc())
    code, line = describe(error)
    say(f"rx: {line}")
    return code


def describe(error: BaseException) -> tuple[ExitCode, str]:
    """The exit code and the line of any exception."""
    match error:
        case RxError():
            return error.exit_code, str(error)
        case KeyboardInterrupt():
            return ExitCode.INTERRUPTED, "interrupted; what was finished is saved"
        case OSError() if error.errno in DISK_ERRORS:
            return ExitCode.DISK, f"{error.filename or 'disk'}: {error.strerror}"
        case OSError() if error.errno in USAGE_HINTS:
            hint = USAGE_HINTS[error.errno]
            return ExitCode.USAGE, f"{error.filename}: {error.strerror} ({hint})"
        case OSError():
            return ExitCode.DISK, f"{error.filename or 'disk'}: {error.strerror or error}"
        case _:
            return ExitCode.INTERNAL, (
                f"internal error: {type(error).__name__}: {' '.join(str(error).split())}"
                " (a bug: please report it with the output of the same command and --debug)"
            )
