"""The derived spec of a rehearsal: the same plan on the embedded model and the built-in chats."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rx_tools.model.json import JsonObject, as_list, as_object, as_text
from rx_tools.model.names import Sha256
from rx_tools.planning.derive import resolved


@dataclass(frozen=True, slots=True)
class Stage:
    """What a rehearsal puts in place of the real model, data and revisions.

    `dataset` names the built-in chats, `revision` the embedded service's own revision.
    """

    model: str
    dataset: str
    revision: str


ANSWERS: Mapping[str, Any] = {"evaluation.renderer": "qwen3_5"}
"""What a rehearsal answers for itself: on the embedded model no choice of renderer is wrong."""


def derived_spec(spec: JsonObject, original: Sha256, stage: Stage) -> dict[str, Any]:
    """A copy with the stage's model, data and revisions; the same for the same input."""
    derived = copy.deepcopy(dict(spec))
    derived["derived_from"] = original
    derived["base_model"] = stage.model
    named = as_text(spec.get("base_model"))
    if named and as_text(spec.get("command")):
        derived["command"] = as_text(spec.get("command")).replace(named, stage.model)
    effective = as_object(as_object(derived.get("feasibility")).get("effective_config"))
    if effective.get("base_model") == spec.get("base_model") and effective:
        derived["feasibility"]["effective_config"]["base_model"] = stage.model
    dataset = dict(as_object(derived.get("dataset")))
    derived["dataset"] = dataset | {"name": "built-in chats", "hf_path": stage.dataset}
    for check in as_list(as_object(derived.get("activation_gate")).get("checks")):
        if as_text(as_object(check).get("metric")) == "executed_base_model":
            check["one_of"] = [stage.model]
    for path in as_list(as_object(derived.get("correctness_preflight")).get("paths")):
        for key in ("baseline_revision", "reference_revision"):
            path[key] = resolved(path.get(key)) or stage.revision
    return derived


def deviations(spec: JsonObject, stage: Stage) -> list[dict[str, str]]:
    """The two deviations that every rehearsal declares before it trains."""
    reason = "rehearsal: the whole plan on the embedded service before the real run"
    dataset = as_text(as_object(spec.get("dataset")).get("hf_path"))
    return [
        deviation("model", as_text(spec.get("base_model")), stage.model, reason),
        deviation("dataset", dataset, stage.dataset, reason),
    ]


def deviation(field: str, original: str, effective: str, reason: str) -> dict[str, str]:
    """One entry of the record's `deviations`."""
    return {"field": field, "original": original, "effective": effective, "reason": reason}
