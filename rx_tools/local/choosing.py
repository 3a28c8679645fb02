"""From `NAME[:ARG]` to faults, and how they compose."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from rx_tools.errors import UsageError
from rx_tools.local.fault import Fault
from rx_tools.local.fault_catalogue import CATALOGUE, LIKE
from rx_tools.local.faults import ALL

T = TypeVar("T")


class Faults:
    """The chosen faults; none is the honest service."""

    def __init__(self, chosen: Sequence[Fault] = ()) -> None:
        self._chosen = tuple(chosen)

    def __iter__(self) -> Iterator[Fault]:
        return iter(self._chosen)

    def any(self, says: Callable[[Fault], bool]) -> bool:
        """Whether any fault says so; every one is asked, because some count."""
        answers = [says(fault) for fault in self]
        return any(answers)

    def through(self, value: T, change: Callable[[Fault, T], T]) -> T:
        """`value` after each fault had its way with it."""
        for fault in self:
            value = change(fault, value)
        return value


def choose(wanted: Sequence[str], like: str | None = None) -> Faults:
    """The faults of `NAME[:ARG]` words and of a bundle; `UsageError` for what is unknown."""
    if like is not None and like not in LIKE:
        raise UsageError(f"--like {like}: unknown", hint=f"known: {', '.join(LIKE)}")
    words = [*LIKE.get(like or "", ()), *wanted]
    return Faults([_fault(word) for word in words])


def _fault(word: str) -> Fault:
    name, colon, text = word.partition(":")
    kinds = {kind.name: kind for kind in ALL}
    if name not in kinds:
        raise UsageError(f"--fault {word}: unknown", hint=f"known: {', '.join(kinds)}")
    default = CATALOGUE[name].default
    if not colon:
        return kinds[name](default if default is not None else 0)
    if default is None:
        raise UsageError(f"--fault {word}: {name} takes no argument")
    try:
        argument = float(text)
    except ValueError:
        argument = math.nan
    if not 0 <= argument < math.inf:
        raise UsageError(f"--fault {word}: {text!r} is not a number from 0")
    return kinds[name](argument)
