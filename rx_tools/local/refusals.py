"""The two ways to say no: an HTTP answer, or a failure inside a future.

A training request of a model that exists is never refused over HTTP: its sequence number would be
lost and everything behind it would wait for ever. It fails inside its future instead.
"""

from collections.abc import Mapping
from enum import StrEnum


class Category(StrEnum):
    """Whose fault a failed operation is, in the SDK's words."""

    USER = "user"
    SERVER = "server"


class HttpRefusalError(Exception):
    """Answer the HTTP request itself with `status` and a sentence."""

    def __init__(
        self, status: int, sentence: str, *, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.headers = status, sentence, dict(headers or {})


class OperationFailedError(Exception):
    """Fail inside the future; the model stays usable."""

    def __init__(self, sentence: str, category: Category = Category.USER) -> None:
        super().__init__(sentence)
        self.sentence, self.category = sentence, category
