"""Chats to tokens through the cookbook's own renderer; needs the `run` extra."""

import logging
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from rx_tools.errors import DocumentError, UsageError
from rx_tools.runner.data.chats import Chat
from rx_tools.runner.data.rendering import (
    TRAIN_ON_WHAT,
    Rendered,
    RendererProvenance,
    special_tokens,
    tokenizer_digest,
    tokenizer_error,
)
from rx_tools.runner.service import Datum


class CookbookRenderer:
    """`renderers.get_renderer(name)` and `conversation_to_datum`, built once for all rows."""

    def __init__(self, name: str, tokenizer: Path | str) -> None:
        try:
            from tinker_cookbook.renderers import get_renderer
            from tinker_cookbook.tokenizer_utils import get_tokenizer
        except ImportError as error:
            raise UsageError(
                "the cookbook is not installed", hint="pip install 'rx-tools[run]'"
            ) from error
        _say_once("tinker_cookbook.renderers.base")
        try:
            loaded = get_tokenizer(str(tokenizer))
        except Exception as error:  # a hub that cannot be reached, a folder without the files
            raise tokenizer_error(tokenizer, error) from error
        try:
            self._renderer: Any = get_renderer(name, loaded)
        except Exception as error:
            raise UsageError(f"the cookbook has no renderer {name!r}: {error}") from error
        self.provenance = RendererProvenance(
            name,
            "tinker_cookbook",
            version("tinker-cookbook"),
            TRAIN_ON_WHAT,
            tokenizer_digest(tokenizer),
        )
        self.control_tokens = special_tokens(loaded.backend_tokenizer)

    def render(self, chat: Chat, max_length: int | None) -> Rendered:
        """See `Renderer.render`; the weights of the cookbook's mean reduction become a mask."""
        datum = self._datum(chat, max_length)
        full = max_length is not None and len(datum.tokens) + 1 == max_length
        truncated = full and len(self._datum(chat, None).tokens) > len(datum.tokens)
        return Rendered(datum, truncated)

    def _datum(self, chat: Chat, max_length: int | None) -> Datum:
        from tinker_cookbook.renderers import TrainOnWhat
        from tinker_cookbook.supervised.data import conversation_to_datum

        messages: list[Any] = [
            {"role": message.role, "content": message.content} for message in chat
        ]
        try:
            made = conversation_to_datum(
                messages, self._renderer, max_length, TrainOnWhat(TRAIN_ON_WHAT)
            )
        except Exception as error:
            raise DocumentError(f"the cookbook cannot render a chat: {error}") from error
        inputs = made.loss_fn_inputs
        return Datum(
            np.asarray(made.model_input.to_ints(), dtype=np.int64),
            np.asarray(inputs["target_tokens"].to_numpy(), dtype=np.int64),
            (np.asarray(inputs["weights"].to_numpy()) > 0).astype(np.float32),
        )


def _say_once(logger: str) -> None:
    seen: set[str] = set()

    def first_time(record: logging.LogRecord) -> bool:
        text = record.getMessage()
        known = text in seen
        seen.add(text)
        return not known

    logging.getLogger(logger).addFilter(first_time)
