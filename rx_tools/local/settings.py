"""What a start of the service is told."""

from dataclasses import dataclass
from pathlib import Path

TINY_NAME = "rx/tiny-qwen3"


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of one start. `model_names` are aliases of the one base model that is served."""

    store: Path
    key: str
    tokenizer: Path
    """A folder with `tokenizer.json` and `tokenizer_config.json`."""
    host: str = "127.0.0.1"
    port: int = 0
    model_names: tuple[str, ...] = (TINY_NAME,)
    model_folder: Path | None = None
    max_rank: int = 128
    chunk: int = 1024
    """Datums per forward_backward request; smaller values exercise the SDK's chunking."""
    idle_seconds: float = 300.0
    """A session without heartbeat for so long is evicted."""
    allowed_hosts: frozenset[str] = frozenset()
    """Names that a Host header may carry, so that no foreign page reaches a loopback service
    through the browser; empty where the service was told to listen elsewhere."""
