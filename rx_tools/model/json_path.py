"""Paths into JSON documents, as every finding prints them: `$.arms[0]["odd name"].lr`."""

import json
import re

ROOT = "$"
STEP = re.compile(r'\.[A-Za-z_][A-Za-z0-9_]*|\[[0-9]+\]|\["(?:[^"\\]|\\.)*"\]')


def child(path: str, key: str | int) -> str:
    """The path of a member or an element below `path`."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    if key.isascii() and key.isidentifier():
        return f"{path}.{key}"
    return f"{path}[{json.dumps(key)}]"


def below(path: str, *keys: str | int) -> str:
    """The path after several steps down from `path`."""
    for key in keys:
        path = child(path, key)
    return path


def steps_of(path: str) -> list[str | int]:
    """The keys and indices that lead from the root to a path."""
    steps: list[str | int] = []
    for step in STEP.findall(path):
        if step.startswith("."):
            steps.append(step[1:])
        else:
            inner = step[1:-1]
            steps.append(json.loads(inner) if inner.startswith('"') else int(inner))
    return steps


def parent(path: str) -> str:
    """The path one step up; the root is its own parent."""
    last = ROOT
    for step in STEP.finditer(path):
        last = path[: step.start()]
    return last
