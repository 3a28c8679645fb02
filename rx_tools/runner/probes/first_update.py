"""The first update of B: its spectrum and sizes tell which optimizer made it."""

from rx_tools.numerics.signature import Signature, signature_of
from rx_tools.runner.probes.bench import Bench
from rx_tools.runner.probes.echo import same
from rx_tools.runner.probes.export import MISSING, export, is_b
from rx_tools.runner.probes.result import ProbeResult, contradicted, proven, unproven
from rx_tools.runner.service import NotOfferedError

PROBE = "first_update"


def probe(bench: Bench, learning_rate: float) -> ProbeResult:
    """Export a fresh model, take one step, export it again."""
    try:
        signature = measured(bench, learning_rate)
    except NotOfferedError as refusal:
        return unproven(PROBE, MISSING, {"refusal": str(refusal)})
    return judged(signature, bench.config.optimizer.type, learning_rate)


def measured(bench: Bench, learning_rate: float) -> Signature:
    """The signature of the first update of every B."""
    with bench.model() as model:
        before = export(bench, model, "first-before")
        bench.step(model, learning_rate)
        update = before.update_to(export(bench, model, "first-after"))
    moved = {name: values for name, values in update.items() if is_b(name)}
    return signature_of(moved, learning_rate, bench.config.rank)


def judged(signature: Signature, asked: str, learning_rate: float) -> ProbeResult:
    """The signature against the optimizer that was asked for."""
    figures = {"learning_rate": learning_rate, **signature.as_dict()}
    total = len(signature.layers)
    if total == 0:
        return unproven(PROBE, "no B was updated: its gradient is zero", figures)
    shown = {
        "adamw": sum(layer.like_adamw for layer in signature.layers.values()),
        "dimuon": sum(layer.like_matrix_sign for layer in signature.layers.values()),
    }
    kind = same(asked)
    if kind not in shown:
        return unproven(PROBE, f"no signature is known of {asked}", figures)
    (other,) = set(shown) - {kind}
    if shown[kind] == total:
        return proven(PROBE, f"all {total} updates of B are those of {kind}", figures)
    if 2 * shown[other] > total:
        reason = f"{shown[other]} of {total} updates of B are those of {other}, not {kind}"
        return contradicted(PROBE, reason, figures)
    return unproven(PROBE, f"{shown[kind]} of {total} updates of B look like {kind}", figures)
