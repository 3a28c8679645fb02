"""A live model as files, and back."""

import json
from collections.abc import Mapping

from rx_tools.local import optimizers, tensors
from rx_tools.local.lora import ALPHA, Adapter
from rx_tools.local.models import LiveModel
from rx_tools.local.optimizers import Optimizer
from rx_tools.local.refusals import Category, OperationFailedError

ADAPTER = "adapter_model.safetensors"
CONFIG = "adapter_config.json"
OPTIMIZER = "optimizer.safetensors"
PREFIX = "base_model.model."


def files_of(model: LiveModel, *, with_optimizer: bool) -> dict[str, bytes]:
    """Adapter and configuration in the PEFT layout; the optimizer's state beside them."""
    named = {f"{PREFIX}{name}": tensor for name, tensor in model.adapter.items()}
    files = {ADAPTER: tensors.pack(named), CONFIG: _peft_config(model)}
    if with_optimizer:
        note = {"type": model.optimizer.type, "step": str(model.optimizer.step)}
        note["last"] = json.dumps(model.optimizer.last, sort_keys=True)
        files[OPTIMIZER] = tensors.pack(model.optimizer.moments, note)
    return files


def read_adapter(content: bytes, like: Adapter) -> Adapter:
    """The adapter of a checkpoint; it must have the names and shapes of `like`."""
    found, _ = _unpack(content)
    adapter = {name.removeprefix(PREFIX): tensor for name, tensor in found.items()}
    if {name: t.shape for name, t in adapter.items()} != {n: t.shape for n, t in like.items()}:
        raise OperationFailedError("the checkpoint's adapter does not fit this model")
    return {name: adapter[name] for name in like}


def read_optimizer(content: bytes) -> Optimizer:
    """The optimizer as it was saved: step count, moments, and the settings of the last step."""
    moments, note = _unpack(content)
    if note.get("type") not in optimizers.KINDS:
        raise OperationFailedError("the checkpoint's optimizer is of an unknown type")
    optimizer = optimizers.fresh({"type": note["type"]})
    try:
        optimizer.step, optimizer.moments = int(note["step"]), moments
        optimizer.last = json.loads(note.get("last", "null"))
    except (KeyError, ValueError) as error:
        raise _damaged(error) from error
    return optimizer


def _unpack(content: bytes) -> tuple[Adapter, dict[str, str]]:
    try:
        return tensors.unpack(content)
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(error) from error


def _damaged(error: Exception) -> OperationFailedError:
    return OperationFailedError(f"the checkpoint is damaged: {error}", Category.SERVER)


def _peft_config(model: LiveModel) -> bytes:
    names = sorted({name.split(".lora_")[0].rpartition(".")[2] for name in model.adapter})
    config: Mapping[str, object] = {
        "base_model_name_or_path": model.base_name,
        "bias": "none",
        "fan_in_fan_out": False,
        "inference_mode": True,
        "lora_alpha": ALPHA,
        "lora_dropout": 0.0,
        "peft_type": "LORA",
        "r": model.lora.rank,
        "target_modules": names,
        "task_type": "CAUSAL_LM",
    }
    return json.dumps(config, indent=1, sort_keys=True).encode()
