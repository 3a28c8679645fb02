"""The command runs what the spec plans.

**What.** Figures that the command spells out (`max_steps=60`, `lora_rank=32`, `batch_size=32`,
`max_length=2048`, `model_name=…`) and the values that its shell loops go through (seeds, learning
rates) are those of the spec and its arms.

**Why.** Executors copy the command. A command of 100 steps under a spec of 60 runs another
experiment: a deviation to declare before training, and the activation gate refuses it.

**Fix.** Correct the command, or the figure in the spec, before the spec is saved.

**Source.** Exchange contract, sections 5 and 12.
"""

import re
from collections.abc import Iterator, Mapping

from rx_tools.checks.ruling import on_spec, ruled
from rx_tools.model.evidence import Evidence
from rx_tools.model.record import Record
from rx_tools.model.result import Finding, Level, Result, Status
from rx_tools.model.spec import Spec

CODES: Mapping[str, str] = {
    "RX180": "the command spells out a figure that is not the spec's",
    "RX181": "the command's loops do not go through the spec's seeds or rates",
}

ASSIGNED = re.compile(r"\b([A-Za-z_]+)\s?=\s?['\"]?([A-Za-z0-9_./+-]+)")
LOOP = re.compile(r"\bfor ([A-Za-z_]+) in ([0-9eE.+ -]+);")
NAMES = {
    "max_steps": "steps",
    "lora_rank": "lora_rank",
    "rank": "lora_rank",
    "batch_size": "batch_size",
    "BS": "batch_size",
    "max_length": "max_seq_len",
    "MAXLEN": "max_seq_len",
    "model_name": "base_model",
    "base_model": "base_model",
    "MODEL": "base_model",
}
PLACE = "$.command"


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """Judge the spec alone; not applicable without a command."""
    if not spec.command:
        return Result(Status.NOT_APPLICABLE)
    return ruled([*spelled_out(spec, spec.command), *loops(spec, spec.command)])


def spelled_out(spec: Spec, command: str) -> Iterator[Finding]:
    """Figures behind a known name, each reported once."""
    steps = {spec.steps, *(arm.steps for arm in spec.arms)} - {None}
    planned: Mapping[str, set[object]] = {
        "steps": set(steps),
        "lora_rank": {spec.lora_rank},
        "batch_size": {spec.batch_size},
        "max_seq_len": {spec.max_seq_len},
        "base_model": {spec.base_model},
    }
    for name, literal in dict.fromkeys(ASSIGNED.findall(command)):
        key = NAMES.get(name)
        if key is None or planned[key] <= {None}:
            continue
        value = figure(literal, key)
        if value is None or value in planned[key]:
            continue
        expected = " or ".join(sorted(str(item) for item in planned[key]))
        message = f"the command has {name}={literal}, the spec {key} {expected}"
        yield on_spec("RX180", Level.ERROR, message, PLACE)


def figure(literal: str, key: str) -> object:
    """The value that a literal spells out, `None` if it is a variable."""
    if key == "base_model":
        return literal if "/" in literal else None
    return int(literal) if literal.isascii() and literal.isdigit() else None


def loops(spec: Spec, command: str) -> Iterator[Finding]:
    """Shell loops over numbers whose variable becomes a seed or a learning rate."""
    seeds = {float(arm.seed) for arm in spec.arms if arm.seed is not None}
    rates = {arm.lr for arm in spec.arms if arm.lr is not None}
    for variable, literals in LOOP.findall(command):
        values = numbers(literals)
        for option, planned in (("seed", seeds), ("learning_rate", rates), ("lr", rates)):
            used = re.search(rf"\b{option}=\$\{{?{variable}\b", command)
            if used and values is not None and planned and values != planned:
                shown = ", ".join(f"{value:g}" for value in sorted(values))
                wanted = ", ".join(f"{value:g}" for value in sorted(planned))
                message = f"the command loops {option} over {shown}; the arms have {wanted}"
                yield on_spec("RX181", Level.ERROR, message, PLACE)


def numbers(literals: str) -> set[float] | None:
    """The numbers of a loop, `None` if one of its words is none."""
    try:
        return {float(word) for word in literals.split()}
    except ValueError:
        return None
