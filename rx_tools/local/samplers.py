"""Samplers: fixed weights under an id, to draw from."""

from dataclasses import dataclass

from rx_tools.local.base import Weights


@dataclass(slots=True)
class Sampler:
    """What a sampling session draws from; `weights` are effective matrices."""

    sampler_id: str
    session_id: str
    base_name: str
    model_path: str | None
    weights: Weights
    inflight_of: str | None = None
    """The live model whose latest published weights this sampler follows."""
