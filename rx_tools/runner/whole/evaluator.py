"""The evaluator's identity, built from what really scores, and frozen before anything is scored."""

import hashlib
from dataclasses import asdict
from importlib.resources import files
from typing import Any

from rx_tools.checks.evaluator_id import evaluator_id
from rx_tools.model.names import Sha256
from rx_tools.runner.data.prepared import ItemKind
from rx_tools.runner.whole.clearance import events
from rx_tools.runner.whole.workbench import Workbench

SOURCES = (
    ("rx_tools.runner.arms", ("scoring.py",)),
    ("rx_tools.runner.data", ("rendering.py",)),
    ("rx_tools.numerics", ("loss_eval.py",)),
)
"""The modules that turn a checkpoint's log-probabilities into a score."""


def code_sha256() -> Sha256:
    """Digest of the sources that score: name, NUL, bytes, NUL of each."""
    digest = hashlib.sha256()
    for package, names in SOURCES:
        for name in names:
            content = files(package).joinpath(name).read_bytes()
            digest.update(f"{package}/{name}".encode() + b"\0" + content + b"\0")
    return Sha256(digest.hexdigest())


def renderer(bench: Workbench) -> str:
    """Which renderer really rendered: name, implementation, version, tokenizer."""
    used = asdict(bench.data.renderer.provenance)
    return ", ".join(f"{key}={value}" for key, value in used.items())


def provenance(bench: Workbench, items: ItemKind) -> dict[str, Any]:
    """What the evaluator's id is the hash of; `items` is `confirmation` or `search`."""
    evaluation = bench.plan.evaluation
    return {
        "code_sha256": code_sha256(),
        "prompt_template": (
            f"{renderer(bench)}; max_length={evaluation.max_length}; "
            f"train_on_what={evaluation.train_on_what}"
        ),
        "decoding": dict(evaluation.decoding),
        "parser": f"rx_tools.numerics.loss_eval {evaluation.aggregation}",
        "items": {"ids": list(bench.data.items(items))},
    }


def freeze_evaluator(bench: Workbench, items: ItemKind) -> str:
    """Announce the evaluator once; a changed one is a new announcement, and scores anew."""
    made = provenance(bench, items)
    identity = evaluator_id(made)
    known = events(bench.ledger.lines, "evaluator_frozen")
    if identity not in {data["evaluator_id"] for data in known}:
        data = {"items": items, "evaluator_id": identity, "provenance": made}
        bench.ledger.append("evaluator_frozen", data)
    return identity
