"""Echo: the server names the optimizer that it was asked for."""

from rx_tools.runner.probes.bench import Bench
from rx_tools.runner.probes.result import ProbeResult, contradicted, proven, unproven
from rx_tools.runner.service import ModelInfo, RefusedError

PROBE = "echo"
ALIASES = {"adam": "adamw", "dimuon-lite": "dimuon"}


def probe(bench: Bench) -> ProbeResult:
    """Create a model and ask the server which optimizer it has."""
    try:
        with bench.model() as model:
            info = model.info()
    except RefusedError as refusal:
        reason = f"the service refuses {bench.config.optimizer.type}: {refusal}"
        return contradicted(PROBE, reason, {"asked": bench.config.optimizer.type, "refused": True})
    return judged(bench.config.optimizer.type, info)


def judged(asked: str, info: ModelInfo) -> ProbeResult:
    """The server's answer against the type that was asked for."""
    figures = {
        "asked": asked,
        "optimizer": dict(info.optimizer) if info.optimizer is not None else None,
        "observation": dict(info.observation) if info.observation is not None else None,
    }
    named = named_types(info)
    if not named:
        return unproven(PROBE, "the server does not say which optimizer a model has", figures)
    if wrong := [name for name in named if same(name) != same(asked)]:
        return contradicted(PROBE, f"asked for {asked}, the server says {wrong[0]}", figures)
    return proven(PROBE, f"the server says {named[0]}", figures)


def named_types(info: ModelInfo) -> list[str]:
    """Every optimizer type that the server names, from its echo and its observation."""
    observed = (info.observation or {}).get("optimizer")
    sources = [info.optimizer, observed if isinstance(observed, dict) else None]
    return [str(source["type"]) for source in sources if source and "type" in source]


def same(name: str) -> str:
    """One name for all aliases."""
    lowered = name.strip().lower()
    return ALIASES.get(lowered, lowered)
