"""Drawing tokens: one position at a time, with cached keys and values."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rx_tools.local.decoding import Decoder

Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to draw: `temperature` 0 is greedy; `top_k` -1 and `top_p` 1 keep every token."""

    max_tokens: int
    seed: int
    temperature: float = 1.0
    top_k: int = -1
    top_p: float = 1.0
    topk_logprobs: int = 0

    def numbered(self, index: int) -> "Sampling":
        """The same with the stream of the `index`-th sample."""
        return replace(self, seed=(self.seed << 8) + index)


@dataclass(frozen=True, slots=True)
class Drawn:
    """One sequence; `logprobs` are the model's own, before temperature and cuts.

    The token that stopped it is included. `stopped` tells a stop from the length limit.
    """

    tokens: tuple[int, ...]
    logprobs: Array
    stopped: bool
    top_ids: NDArray[np.int32]
    top_logprobs: Array


class Stop:
    """When a sequence ends: at a token, or when its text holds one of the given texts."""

    def __init__(self, tokens: Sequence[int] = (), texts: Sequence[str] = ()) -> None:
        self.tokens, self.texts = frozenset(tokens), tuple(texts)

    def reached(self, tokens: Sequence[int], text: str) -> bool:
        """Whether the sequence that ends with the last of `tokens` is over."""
        return tokens[-1] in self.tokens or any(each in text for each in self.texts)


TextOf = Callable[[Sequence[int]], str]
"""From token ids to text; asked only where a stop is a text."""


def draw(decoder: Decoder, scores: Array, how: Sampling, stop: Stop, text_of: TextOf) -> Drawn:
    """Continue what `decoder` holds, whose next token has `scores`, until a stop or the limit."""
    source = np.random.default_rng(how.seed)
    tokens: list[int] = []
    logprobs: list[np.float32] = []
    tops: list[tuple[NDArray[np.int32], Array]] = []
    while len(tokens) < how.max_tokens:
        token = choose_token(scores, how, source)
        tokens.append(token)
        logprobs.append(scores[token])
        tops.append(top(scores[None], how.topk_logprobs))
        if stop.reached(tokens, text_of(tokens) if stop.texts else ""):
            return _drawn(tokens, logprobs, tops, stopped=True)
        if len(tokens) < how.max_tokens:
            scores = decoder.feed([token])[-1]
    return _drawn(tokens, logprobs, tops, stopped=False)


def top(scores: Array, k: int) -> tuple[NDArray[np.int32], Array]:
    """The `k` likeliest tokens of each row and their log-probabilities, likeliest first."""
    if k < 1:
        return np.empty((len(scores), 0), np.int32), np.empty((len(scores), 0), np.float32)
    ids = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return ids.astype(np.int32), np.take_along_axis(scores, ids, axis=1)


def _drawn(
    tokens: list[int], logprobs: list[np.float32],
    tops: list[tuple[NDArray[np.int32], Array]], *, stopped: bool,
) -> Drawn:  # fmt: skip
    none = np.empty((0, 0), np.int32)
    ids = np.concatenate([each for each, _ in tops]) if tops else none
    scores = np.concatenate([each for _, each in tops]) if tops else none.astype(np.float32)
    return Drawn(tuple(tokens), np.array(logprobs, np.float32), stopped, ids, scores)


def choose_token(scores: Array, how: Sampling, source: np.random.Generator) -> int:
    """Draw one token by its log-probabilities (vocabulary)."""
    if how.temperature == 0:
        return int(scores.argmax())
    weights = scores.astype(np.float64) / how.temperature
    tokens = _kept(weights, how)
    summed = np.cumsum(_odds(weights[tokens]))
    place = int(np.searchsorted(summed, source.random() * summed[-1], side="right"))
    return int(tokens[min(place, len(tokens) - 1)])


def _kept(weights: NDArray[np.float64], how: Sampling) -> NDArray[np.intp]:
    """The tokens that the cuts leave, likeliest first where there are cuts."""
    if how.top_k < 1 and how.top_p >= 1:
        return np.arange(len(weights))
    order = np.argsort(-weights, kind="stable")
    if how.top_k > 0:
        order = order[: how.top_k]
    share = np.cumsum(_odds(weights[order]))
    return order[: int(np.searchsorted(share, how.top_p * share[-1])) + 1]


def _odds(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    odds: NDArray[np.float64] = np.exp(weights - weights.max())
    return odds
