"""Examples, and their grouping into padded matrices of similar length."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Tokens = NDArray[np.int64]
GROUP_TOKENS = 2048


@dataclass(frozen=True, slots=True)
class Example:
    """One datum: tokens, targets and the loss's inputs, all of one length."""

    tokens: Tokens
    targets: Tokens
    inputs: Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Group:
    """Examples of similar length: `tokens` is padded; `rows` are the real positions of it."""

    members: tuple[int, ...]
    tokens: Tokens
    rows: NDArray[np.int64]
    bounds: tuple[int, ...]
    """Where each member's positions begin and end among `rows`."""


def groups(examples: Sequence[Example]) -> Iterator[Group]:
    """Group by length (ties in the order given), at most `GROUP_TOKENS` padded tokens each."""
    order = sorted(range(len(examples)), key=lambda index: len(examples[index].tokens))
    members: list[int] = []
    for index in order:
        length = len(examples[index].tokens)
        if members and (
            length * (len(members) + 1) > GROUP_TOKENS
            or length > 1.3 * len(examples[members[0]].tokens) + 8
        ):
            yield _group(examples, members)
            members = []
        members.append(index)
    if members:
        yield _group(examples, members)


def _group(examples: Sequence[Example], members: Sequence[int]) -> Group:
    lengths = [len(examples[index].tokens) for index in members]
    tokens = np.zeros((len(members), lengths[-1]), np.int64)
    for row, index in enumerate(members):
        tokens[row, : lengths[row]] = examples[index].tokens
    rows = np.concatenate(
        [row * lengths[-1] + np.arange(length) for row, length in enumerate(lengths)]
    )
    return Group(tuple(members), tokens, rows, tuple(np.cumsum([0, *lengths]).tolist()))
