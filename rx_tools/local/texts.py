"""The tokenizer, as far as sampling needs it: where a reply ends, and what tokens say."""

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any


class Texts:
    """Reads `tokenizer.json` and `tokenizer_config.json` of a folder when first asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        return Tokenizer.from_file(str(self.folder / "tokenizer.json"))

    @cached_property
    def end_tokens(self) -> tuple[int, ...]:
        """The tokens that end a reply unless a request says otherwise."""
        config = json.loads((self.folder / "tokenizer_config.json").read_bytes())
        named = config.get("eos_token")
        name = named.get("content") if isinstance(named, dict) else named
        token = self._tokenizer.token_to_id(name) if name else None
        return () if token is None else (token,)

    def text_of(self, tokens: Sequence[int]) -> str:
        """The text of some tokens, special ones included."""
        text: str = self._tokenizer.decode(list(tokens), skip_special_tokens=False)
        return text
