"""Chats to tokens: the built-in renderer for the Qwen 3.5 chat format.

It covers text turns, tool answers among them, trained on all assistant messages, and gives what
the cookbook's renderers of the same names and `conversation_to_datum` give, token by token and
weight by weight; a test compares the two. Weights are a mask: 1 for what the assistant wrote.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

import rx_tools
from rx_tools.errors import DocumentError, RxError, ServiceError, UsageError
from rx_tools.model.names import Sha256
from rx_tools.runner.data.chats import Chat
from rx_tools.runner.service import Datum

TRAIN_ON_WHAT = "all_assistant_messages"
NO_THOUGHT = "<think>\n\n</think>\n\n"
PREFILL = {"qwen3_5": "<think>\n", "qwen3_5_disable_thinking": NO_THOUGHT}
"""What the generation prompt writes after the last assistant header, by renderer name."""

Implementation = Literal["builtin", "cookbook"]


@dataclass(frozen=True, slots=True)
class RendererProvenance:
    """Which code turned text into tokens; part of the evaluator's identity."""

    name: str
    implementation: str
    version: str
    train_on_what: str
    tokenizer_sha256: Sha256


@dataclass(frozen=True, slots=True)
class Rendered:
    """A datum, and whether `max_length` cut the chat."""

    datum: Datum
    truncated: bool

    @property
    def counted_tokens(self) -> int:
        """How many targets count in the loss."""
        return int(np.count_nonzero(self.datum.weights > 0))


class Renderer(Protocol):
    """Turns a chat into a datum."""

    @property
    def provenance(self) -> RendererProvenance:
        """Name, implementation, version."""
        ...

    @property
    def control_tokens(self) -> tuple[str, ...]:
        """Texts that become control tokens wherever they stand."""
        ...

    def render(self, chat: Chat, max_length: int | None) -> Rendered:
        """Tokens of at most `max_length`, cut from the right, then shifted by one.

        Raises `DocumentError` when fewer than two tokens are left.
        """
        ...


def make_renderer(
    name: str, tokenizer: Path | str, implementation: Implementation = "builtin"
) -> Renderer:
    """The renderer of that name over a tokenizer: a folder with `tokenizer.json`, or a hub name.

    `cookbook` needs the `run` extra. Raises `UsageError` for a name that is not offered.
    """
    if implementation == "cookbook":
        from rx_tools.runner.data.cookbook_rendering import CookbookRenderer

        return CookbookRenderer(name, tokenizer)
    if name not in PREFILL:
        raise UsageError(
            f"no built-in renderer is called {name!r}",
            hint=f"built in: {', '.join(PREFILL)}; others need the `run` extra",
        )
    return BuiltInRenderer(name, tokenizer)


@cache
def load_tokenizer(tokenizer: Path | str) -> Any:
    """A `tokenizers.Tokenizer` from a folder or from the hub (its local cache when offline)."""
    from tokenizers import Tokenizer

    try:
        if Path(tokenizer).is_dir():
            return Tokenizer.from_file(str(Path(tokenizer) / "tokenizer.json"))
        return Tokenizer.from_pretrained(str(tokenizer))
    except Exception as error:  # the library raises bare `Exception`s
        raise tokenizer_error(tokenizer, error) from error


def tokenizer_error(tokenizer: Path | str, cause: Exception) -> RxError:
    """One line on a tokenizer that cannot be loaded: the folder's fault, or the hub's."""
    what = f"the tokenizer cannot be loaded: {(str(cause).splitlines() or ['no reason given'])[0]}"
    if Path(tokenizer).is_dir():
        return DocumentError(what, where=str(tokenizer), hint="expected tokenizer.json in it")
    hint = "give a folder with tokenizer.json, or go online once"
    return ServiceError(what, where=str(tokenizer), hint=hint)


def tokenizer_digest(tokenizer: Path | str) -> Sha256:
    """SHA-256 of the folder's `tokenizer.json`, or of the hub tokenizer's serialized form."""
    file = Path(tokenizer) / "tokenizer.json"
    content = file.read_bytes() if file.is_file() else load_tokenizer(tokenizer).to_str().encode()
    return Sha256(hashlib.sha256(content).hexdigest())


def special_tokens(tokenizer: Any) -> tuple[str, ...]:
    """The texts that a `tokenizers.Tokenizer` reads as control tokens, in the order of ids."""
    added = tokenizer.get_added_tokens_decoder()
    return tuple(added[key].content for key in sorted(added) if added[key].special)


def datum_from_tokens(tokens: list[int], weights: list[int], max_length: int | None) -> Rendered:
    """Cut from the right to `max_length`, then pair each token with its successor."""
    kept = len(tokens) if max_length is None else min(max_length, len(tokens))
    if kept < 2:
        raise DocumentError("a chat renders to fewer than two tokens", hint="raise max_length")
    ids = np.asarray(tokens[:kept], dtype=np.int64)
    mask = np.asarray(weights[:kept], dtype=np.float32)
    return Rendered(Datum(ids[:-1], ids[1:], mask[1:]), kept < len(tokens))


class Piece(NamedTuple):
    """A text that is tokenized on its own, and whether its tokens are trained on."""

    text: str
    trained: bool


class BuiltInRenderer:
    """`qwen3_5` and `qwen3_5_disable_thinking` over the `tokenizers` package alone."""

    def __init__(self, name: str, tokenizer: Path | str) -> None:
        self._tokenizer = load_tokenizer(tokenizer)
        self._prefill = PREFILL[name]
        self.provenance = RendererProvenance(
            name, "rx_tools", rx_tools.__version__, TRAIN_ON_WHAT, tokenizer_digest(tokenizer)
        )
        self.control_tokens = special_tokens(self._tokenizer)

    def render(self, chat: Chat, max_length: int | None) -> Rendered:
        """See `Renderer.render`."""
        tokens: list[int] = []
        weights: list[int] = []
        for text, trained in pieces(chat, self._prefill):
            ids = self._tokenizer.encode(text, add_special_tokens=False).ids
            tokens.extend(ids)
            weights.extend([int(trained)] * len(ids))
        return datum_from_tokens(tokens, weights, max_length)


def pieces(chat: Chat, prefill: str) -> Iterator[Piece]:
    """The separately tokenized texts of a chat, in order.

    Each turn is a header and a body. An empty thought stands in the header of every assistant
    turn after the last user turn, unless the turn brings its own; of the very last turn's header
    only the part that the generation prompt writes (`prefill`) is given, the rest is trained on.
    """
    last_user = max((i for i, m in enumerate(chat) if m.role == "user"), default=-1)
    for place, message in enumerate(chat):
        content = message.content.strip()
        header, trained = _header(chat, place), message.role == "assistant"
        if trained and place > last_user and "<think>" not in content:
            given = prefill if place == len(chat) - 1 else NO_THOUGHT
            yield Piece(header + given, False)
            if given != NO_THOUGHT:
                yield Piece(NO_THOUGHT.removeprefix(given), True)
        else:
            yield Piece(header, False)
        yield Piece(_body(chat, place, content), trained)


def _header(chat: Chat, place: int) -> str:
    role = "user" if chat[place].role == "tool" else chat[place].role
    if _is_tool(chat, place) and _is_tool(chat, place - 1):
        return "\n"
    before = "\n" if place else ""
    return f"{before}<|im_start|>{role}\n"


def _body(chat: Chat, place: int, content: str) -> str:
    if not _is_tool(chat, place):
        return f"{content}<|im_end|>"
    end = "" if _is_tool(chat, place + 1) else "<|im_end|>"
    return f"<tool_response>\n{content}\n</tool_response>{end}"


def _is_tool(chat: Chat, place: int) -> bool:
    return 0 <= place < len(chat) and chat[place].role == "tool"
