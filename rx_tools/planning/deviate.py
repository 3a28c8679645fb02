"""Changes that a user asks for before a run, and what each does to the hypothesis.

A deviated run judges a derived spec, exactly as a rehearsal does, and declares the change before
anything trains. Whether the original hypothesis is still tested is computed, not chosen.
"""

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rx_tools.errors import UsageError
from rx_tools.model.json import JsonObject, as_list, as_object, as_text
from rx_tools.model.names import Sha256
from rx_tools.planning.rehearsal import deviation
from rx_tools.planning.secondary import drop_secondaries, listed, secondary_evaluations

NAMES = re.compile(r"(\S+) \(\d+ items\)")


@dataclass(frozen=True, slots=True)
class Change:
    """One change: what is changed, the value that takes effect, and why."""

    name: str
    effective: str
    reason: str = "asked for before the run"


def parse_changes(texts: Sequence[str]) -> tuple[Change, ...]:
    """`model=NAME`, `steps=N`, `secondary=none`; one line for anything else."""
    changes = tuple(parse_change(text) for text in texts)
    names = [change.name for change in changes]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"{twice[0]} is changed twice", where="--deviate", hint="say it once")
    return changes


def parse_change(text: str) -> Change:
    """One `name=value`."""
    name, equals, value = text.partition("=")
    if not equals or name not in CHANGES or not value.strip():
        raise UsageError(
            f"{text!r} is no change that can be declared",
            where="--deviate",
            hint=f"{' or '.join(f'{name}=…' for name in CHANGES)}",
        )
    if name == "steps" and not (value.isdecimal() and int(value) > 0):
        raise UsageError(f"{value!r} is no number of steps", where="--deviate")
    if name == "secondary" and value != "none":
        raise UsageError(
            f"{value!r} is no choice of secondary evaluations",
            where="--deviate",
            hint="they are dropped together: secondary=none",
        )
    return Change(name, value.strip())


def change_model(spec: dict[str, Any], value: str) -> str:
    """Substitute the base model; returns the original."""
    original = as_text(spec.get("base_model"))
    spec["base_model"] = value
    spec["command"] = as_text(spec.get("command")).replace(original, value)
    for check in as_list(as_object(spec.get("activation_gate")).get("checks")):
        if as_text(as_object(check).get("metric")) == "executed_base_model":
            check["one_of"] = [value]
    return original


def change_steps(spec: dict[str, Any], value: str) -> str:
    """Shorten every confirmation arm to `value` steps; returns the original number."""
    original, steps = spec.get("steps"), int(value)
    spec["steps"] = steps
    for arm in as_list(spec.get("arms")):
        if as_object(arm).get("steps") == original:
            arm["steps"] = steps
    for check in as_list(as_object(spec.get("activation_gate")).get("checks")):
        if as_text(as_object(check).get("metric")) == "executed_steps":
            check.update({"min": steps, "max": steps})
    spec["command"] = as_text(spec.get("command")).replace(
        f"max_steps={original}", f"max_steps={steps}"
    )
    return str(original)


def change_secondary(spec: dict[str, Any], value: str) -> str:
    """Drop every secondary evaluation; returns what was dropped."""
    dropped = secondary_evaluations(spec)
    if not dropped:
        raise UsageError(
            "the spec plans no secondary evaluation", where=f"--deviate secondary={value}"
        )
    drop_secondaries(spec)
    return listed(dropped)


CHANGES: Mapping[str, tuple[str, Callable[[dict[str, Any], str], str]]] = {
    "model": ("model", change_model),
    "steps": ("steps", change_steps),
    "secondary": ("evaluator", change_secondary),
}
"""Name → the contract's field and how the spec is changed; any other change needs its own spec."""

NO_SECONDARY = Change("secondary", "none")


def deviated_spec(
    spec: JsonObject, original: Sha256, changes: Sequence[Change]
) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """The derived spec, and one declared deviation for each change."""
    derived = copy.deepcopy(dict(spec))
    derived["derived_from"] = original
    declared = []
    for change in changes:
        field, apply = CHANGES[change.name]
        before = apply(derived, change.effective)
        declared.append(deviation(field, before, change.effective, change.reason))
    return derived, declared


def still_tested(spec: JsonObject, declared: Sequence[Mapping[str, str]]) -> bool:
    """Whether the hypothesis survives: it does not when it names what was changed."""
    claim = " ".join(
        as_text(text)
        for text in (
            spec.get("hypothesis"),
            spec.get("primary_endpoint"),
            as_object(spec.get("decision_rule")).get("estimand"),
        )
    )
    return not any(names(claim, entry) for entry in declared)


def names(claim: str, entry: Mapping[str, str]) -> bool:
    """Whether a claim speaks of what a deviation changed."""
    if entry["field"] in ("objective", "endpoint"):
        return True
    original = re.escape(entry["original"])
    if entry["field"] == "steps":
        return re.search(rf"\b{original}[ -]steps?\b|\bsteps?[ _-]{original}\b", claim) is not None
    if entry["field"] == "evaluator":
        return any(found in claim.lower() for found in NAMES.findall(entry["original"].lower()))
    short = re.escape(entry["original"].rpartition("/")[2])
    return re.search(rf"\b(?:{original}|{short})\b", claim) is not None
