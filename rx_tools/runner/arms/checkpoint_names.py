"""Checkpoint names that a service accepts, that say what they hold, and that never repeat."""

import hashlib
import re


def checkpoint_name(run: str, arm: str, restores: int, step: int) -> str:
    """The name of the state of `arm` with `step` updates after `restores` restores.

    A replay saves the same step again, so the number of restores is part of the name.
    """
    return f"{plain(run)}-{plain(arm)}-r{restores}-s{step}"


def plain(name: str) -> str:
    """`name` if it is made of letters, digits and `._-` only, else made so and kept unique."""
    cleaned = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "x"
    if cleaned == name:
        return name
    return f"{cleaned}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
