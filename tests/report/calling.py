"""The command line as a user calls it, in this process: what is printed and the exit code."""

import json
import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from rx_tools.checks.shape import judge_shape
from rx_tools.cli.app import build


@dataclass(frozen=True)
class Done:
    """What a finished process leaves."""

    returncode: int
    stdout: str
    stderr: str


def rx(*arguments, cwd=None):
    """Call `rx ARGUMENTS`, optionally inside a folder."""
    words = [str(argument) for argument in arguments]
    with inside(cwd):
        result = CliRunner().invoke(build(words), words)
    return Done(result.exit_code, result.stdout, result.stderr)


def rx_json(*arguments, **options):
    """The document that it printed; it has the shape of the schema that it names."""
    document = json.loads(rx(*arguments, "--format", "json", **options).stdout)
    name = document["schema"].split(":")[-2]
    assert judge_shape(document, name, name) == ()
    return document


@contextmanager
def inside(folder):
    """The working directory, for a while."""
    before = Path.cwd()
    os.chdir(folder or before)
    try:
        yield
    finally:
        os.chdir(before)
