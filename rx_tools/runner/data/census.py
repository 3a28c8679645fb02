"""Counting what goes wrong in silence: rows that train nothing, cut rows, control marks in text."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from rx_tools.runner.data.chats import Chat, Row, RowId
from rx_tools.runner.data.rendering import Rendered


@dataclass(frozen=True, slots=True)
class Census:
    """What a set of rows looks like once rendered; rows are named by id, never by text."""

    rows: int
    tokens: int
    counted_tokens: int
    longest: int
    zero_weight: tuple[RowId, ...]
    truncated: tuple[RowId, ...]
    control_tokens: tuple[RowId, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain values for a document."""
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in asdict(self).items()
        }


def take_census(rows: Iterable[tuple[Row, Rendered]], control_tokens: tuple[str, ...]) -> Census:
    """Count rows together with what they rendered to.

    `zero_weight`: no target counts, because the chat has no answer or `max_length` cut it off.
    `truncated`: `max_length` cut something. `control_tokens`: a text contains one of them, and
    the tokenizer would read it as a real mark.
    """
    seen = list(rows)
    lengths = [len(rendered.datum.tokens) for _, rendered in seen]
    return Census(
        rows=len(seen),
        tokens=sum(lengths),
        counted_tokens=sum(rendered.counted_tokens for _, rendered in seen),
        longest=max(lengths, default=0),
        zero_weight=tuple(row.row_id for row, made in seen if made.counted_tokens == 0),
        truncated=tuple(row.row_id for row, made in seen if made.truncated),
        control_tokens=tuple(row.row_id for row, _ in seen if _holds(row.chat, control_tokens)),
    )


def _holds(chat: Chat, control_tokens: tuple[str, ...]) -> bool:
    return any(token in message.content for message in chat for token in control_tokens)
