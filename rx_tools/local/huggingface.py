"""A small Qwen3 in Hugging Face layout: `config.json` and `*.safetensors`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rx_tools.errors import DocumentError
from rx_tools.local.base import EMBED, FINAL_NORM, BaseModel
from rx_tools.local.shape import UNEMBED, Module, Shape, layer_name

Array = NDArray[np.float32]
UNEMBED_WEIGHT = f"{UNEMBED}.weight"


def load(folder: Path) -> BaseModel:
    """Read a model; `DocumentError` says what in it is not supported, missing or misshapen."""
    config = _config(folder)
    shape = _shape(config, folder)
    tensors: dict[str, Array] = {}
    for path in sorted(folder.glob("*.safetensors")):
        tensors |= read_tensors(path)
    if config.get("tie_word_embeddings") and EMBED in tensors:
        tensors.setdefault(UNEMBED_WEIGHT, tensors[EMBED])
    weights = {}
    for name, size in expected(shape).items():
        if name not in tensors:
            raise DocumentError(f"{name} is missing", where=str(folder))
        if tensors[name].shape != size:
            found = tensors[name].shape
            raise DocumentError(f"{name} has shape {found}, expected {size}", where=str(folder))
        weights[name] = tensors[name]
    return BaseModel(shape, weights)


def expected(shape: Shape) -> dict[str, tuple[int, ...]]:
    """Every weight of a model of this shape, by Hugging Face name."""
    sizes: dict[str, tuple[int, ...]] = {
        EMBED: (shape.vocabulary, shape.hidden),
        FINAL_NORM: (shape.hidden,),
        UNEMBED_WEIGHT: (shape.vocabulary, shape.hidden),
    }
    for layer in range(shape.layers):
        prefix = f"model.layers.{layer}."
        sizes |= {f"{layer_name(layer, each)}.weight": shape.linear(each) for each in Module}
        for norm in ("input_layernorm", "post_attention_layernorm"):
            sizes[f"{prefix}{norm}.weight"] = (shape.hidden,)
        for norm in ("self_attn.q_norm", "self_attn.k_norm"):
            sizes[f"{prefix}{norm}.weight"] = (shape.head_dim,)
    return sizes


def read_tensors(path: Path) -> dict[str, Array]:
    """All tensors of a safetensors file as float32; F32, F16 and BF16 are understood."""
    content = np.memmap(path, np.uint8, mode="r")
    size = int.from_bytes(content[:8].tobytes(), "little")
    if not 0 < size <= len(content) - 8:
        raise DocumentError("is no safetensors file", where=str(path))
    header = json.loads(content[8 : 8 + size].tobytes())
    header.pop("__metadata__", None)
    body = content[8 + size :]
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        tensors[name] = _floats(body[begin:end], entry["dtype"], path).reshape(entry["shape"])
    return tensors


def _floats(raw: NDArray[np.uint8], dtype: str, path: Path) -> Array:
    if dtype == "BF16":
        return (raw.view("<u2").astype(np.uint32) << 16).view(np.float32)
    kind = {"F32": "<f4", "F16": "<f2"}.get(dtype)
    if kind is None:
        raise DocumentError(f"tensors of {dtype} are not supported", where=str(path))
    return raw.view(kind).astype(np.float32)


def _config(folder: Path) -> dict[str, Any]:
    path = folder / "config.json"
    if not path.is_file():
        raise DocumentError("holds no config.json", where=str(folder))
    config = json.loads(path.read_bytes())
    if not isinstance(config, dict) or config.get("model_type") != "qwen3":
        raise DocumentError("only models of type qwen3 are served", where=str(path))
    return config


def _shape(config: Mapping[str, Any], folder: Path) -> Shape:
    unsupported = {
        "rope_scaling": config.get("rope_scaling"),
        "attention_bias": config.get("attention_bias"),
        "use_sliding_window": config.get("use_sliding_window"),
        "hidden_act": config.get("hidden_act", "silu") != "silu",
        "num_experts": config.get("num_experts"),
    }
    for name, value in unsupported.items():
        if value:
            raise DocumentError(f"config: {name} is not supported", where=str(folder))
    try:
        return Shape(
            vocabulary=int(config["vocab_size"]),
            hidden=int(config["hidden_size"]),
            intermediate=int(config["intermediate_size"]),
            layers=int(config["num_hidden_layers"]),
            heads=int(config["num_attention_heads"]),
            kv_heads=int(config["num_key_value_heads"]),
            head_dim=int(config["head_dim"]),
            rope_theta=_theta(config),
            norm_eps=float(config.get("rms_norm_eps", 1e-6)),
            max_context=min(int(config.get("max_position_embeddings", 2048)), 8192),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DocumentError(
            f"config: {error} is missing or no number", where=str(folder)
        ) from error


def _theta(config: Mapping[str, Any]) -> float:
    parameters = config.get("rope_parameters") or {}
    if parameters.get("rope_type", "default") != "default":
        raise ValueError("rope_parameters")
    return float(parameters.get("rope_theta", config.get("rope_theta", 10_000.0)))
