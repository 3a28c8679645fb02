"""Chats as the runner sees them: messages, rows with an id and a digest, and their rules."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NewType

from rx_tools.model.names import Sha256

RowId = NewType("RowId", str)
"""The row's `prompt_id`; else the digest of its messages."""

MEANINGFUL = ("tool_calls", "unparsed_tool_calls", "trainable", "reasoning_content")


@dataclass(frozen=True, slots=True)
class Message:
    """One turn. `role` is any non-empty word; system, user, assistant and tool are known."""

    role: str
    content: str


Chat = tuple[Message, ...]


@dataclass(frozen=True)
class Row:
    """A chat with its id."""

    row_id: RowId
    chat: Chat

    @cached_property
    def sha256(self) -> Sha256:
        """The digest of the messages alone: two rows of one text have the same."""
        return chat_digest(self.chat)


def chat_digest(chat: Chat) -> Sha256:
    """SHA-256 of the canonical JSON of the messages, keys sorted, no spaces, ASCII only."""
    plain = [{"content": message.content, "role": message.role} for message in chat]
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return Sha256(hashlib.sha256(text.encode()).hexdigest())


class NoRowError(ValueError):
    """A value that is no chat; the reader adds the file and the line."""


def row_from(value: object) -> Row:
    """Check one parsed row: `messages` is a non-empty list of `role` and `content` texts.

    Other columns are left alone, but a message key that would change the rendering (tool calls,
    a `trainable` mark) is refused unless it is null. Raises `NoRowError` with a plain sentence.
    """
    if not isinstance(value, Mapping):
        raise NoRowError("a row must be an object with `messages`")
    messages = value.get("messages")
    if not isinstance(messages, list | tuple) or not messages:
        raise NoRowError("`messages` must be a non-empty list")
    chat = tuple(_message(message, place) for place, message in enumerate(messages))
    return Row(_row_id(value.get("prompt_id"), chat), chat)


def _row_id(prompt_id: object, chat: Chat) -> RowId:
    if prompt_id is None:
        return RowId(chat_digest(chat))
    if isinstance(prompt_id, str) and prompt_id and _encodable(prompt_id):
        return RowId(prompt_id)
    raise NoRowError("`prompt_id` must be a non-empty text")


def _message(message: Any, place: int) -> Message:
    name = f"messages[{place}]"
    if not isinstance(message, Mapping):
        raise NoRowError(f"{name} must be an object with `role` and `content`")
    role, content = message.get("role"), message.get("content")
    if not isinstance(role, str) or not role:
        raise NoRowError(f"{name}.role must be a non-empty text")
    if not isinstance(content, str):
        raise NoRowError(f"{name}.content must be a text")
    if not (_encodable(role) and _encodable(content)):
        raise NoRowError(f"{name} holds a lone surrogate")
    unmeant = next((key for key in MEANINGFUL if message.get(key) is not None), None)
    if unmeant:
        raise NoRowError(f"{name}.{unmeant} is not supported: plain text turns only")
    return Message(role, content)


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
