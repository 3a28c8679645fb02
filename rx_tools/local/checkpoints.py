"""What a checkpoint is: its address, its facts, and its files."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from rx_tools.local.refusals import OperationFailedError

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
RUN = re.compile(r"[A-Za-z0-9_-]{1,64}:train:[0-9]{1,9}")

TEN_YEARS = 10 * 366 * 86_400


class Kind(StrEnum):
    """The three kinds, by the segment of their address."""

    WEIGHTS = "weights"
    SAMPLER = "sampler_weights"
    EXTERNAL = "external_weights"


LISTED_AS = {Kind.WEIGHTS: "training", Kind.SAMPLER: "sampler", Kind.EXTERNAL: "external"}


@dataclass(frozen=True, slots=True)
class Address:
    """`tinker://<run>/<kind>/<name>`."""

    run: str
    kind: Kind
    name: str

    def __str__(self) -> str:
        return f"tinker://{self.run}/{self.kind}/{self.name}"

    @property
    def checkpoint_id(self) -> str:
        """Kind and name, as the listing shows them."""
        return f"{self.kind}/{self.name}"


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a checkpoint without opening its tensors."""

    base_model: str
    rank: int
    train_attn: bool
    train_mlp: bool
    train_unembed: bool
    optimizer: Mapping[str, object]
    created: float
    """Unix time, seconds."""
    size: int = 0
    expires: float | None = None
    user_metadata: Mapping[str, str] | None = None
    folder: str = ""
    files: Mapping[str, int] = field(default_factory=dict)
    """File name → size in bytes."""

    def to_json(self) -> bytes:
        """As stored."""
        return json.dumps(asdict(self), sort_keys=True, indent=1).encode()

    @classmethod
    def from_json(cls, content: bytes) -> "Facts":
        """As read back."""
        return cls(**json.loads(content))


def checked_ttl(ttl: object) -> int | None:
    """Seconds to live: None for ever, otherwise 1 second to 10 years."""
    if ttl is None:
        return None
    if isinstance(ttl, bool) or not isinstance(ttl, int) or not 1 <= ttl <= TEN_YEARS:
        raise OperationFailedError(f"ttl_seconds {ttl!r:.40} is not from 1 to {TEN_YEARS}")
    return ttl


def parse_address(text: object) -> Address:
    """Read `tinker://<run>/<kind>/<name>`; anything else fails with the reason."""
    parts = text.removeprefix("tinker://").split("/") if isinstance(text, str) else []
    if not isinstance(text, str) or not text.startswith("tinker://") or len(parts) != 3:
        raise OperationFailedError(
            f"{text!r} is no checkpoint path; expected tinker://<run>/weights/<name>"
        )
    run, kind, name = parts
    if kind not in list(Kind) or not RUN.fullmatch(run) or not NAME.fullmatch(name):
        raise OperationFailedError(f"{text!r} is no checkpoint path of this service")
    return Address(run, Kind(kind), name)


def checked_name(name: object) -> str:
    """A name that is safe as a file name; refused otherwise."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise OperationFailedError(
            f"checkpoint name {name!r} must be 1 to 128 of A-Z a-z 0-9 _ . -, the first not . or -"
        )
    return name
