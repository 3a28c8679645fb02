"""The sizes of a Qwen3-shaped transformer."""

from dataclasses import dataclass
from enum import StrEnum


class Module(StrEnum):
    """The linear maps that LoRA may train, by their Hugging Face name."""

    QUERY = "self_attn.q_proj"
    KEY = "self_attn.k_proj"
    VALUE = "self_attn.v_proj"
    OUTPUT = "self_attn.o_proj"
    GATE = "mlp.gate_proj"
    UP = "mlp.up_proj"
    DOWN = "mlp.down_proj"


ATTENTION = (Module.QUERY, Module.KEY, Module.VALUE, Module.OUTPUT)
MLP = (Module.GATE, Module.UP, Module.DOWN)
UNEMBED = "lm_head"


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes; `heads` is a multiple of `kv_heads`, `head_dim` is even."""

    vocabulary: int
    hidden: int
    intermediate: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    rope_theta: float = 1_000_000.0
    norm_eps: float = 1e-6
    max_context: int = 2048

    def linear(self, module: Module) -> tuple[int, int]:
        """Rows (outputs) and columns (inputs) of one linear map."""
        inner, outer = self.heads * self.head_dim, self.kv_heads * self.head_dim
        return {
            Module.QUERY: (inner, self.hidden),
            Module.KEY: (outer, self.hidden),
            Module.VALUE: (outer, self.hidden),
            Module.OUTPUT: (self.hidden, inner),
            Module.GATE: (self.intermediate, self.hidden),
            Module.UP: (self.intermediate, self.hidden),
            Module.DOWN: (self.hidden, self.intermediate),
        }[module]


TINY = Shape(
    vocabulary=2048, hidden=64, intermediate=128, layers=2, heads=2, kv_heads=1, head_dim=32
)


def layer_name(layer: int, module: Module) -> str:
    """The name of a linear map, without `.weight`."""
    return f"model.layers.{layer}.{module}"
