"""Which gates a spec is bound by.

**What.** Answers `required`, `not_applicable` or `unknown` for a gate, from the features that the
spec declares and from the contract that it spells out for the gate.

**Why.** A feature that is true (`custom_optimizer`, say) demands its gate whatever an older
`required: false` says; a feature that nobody declared proves nothing, so the gate stays `unknown`
and is enforced like a required one. Only `false` on every covering feature opens the way past.

**Fix.** Declare every feature in `experiment_features` as true or false, and the gate's own flag.

**Source.** Exchange contract, section 2.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from rx_tools.errors import UsageError
from rx_tools.model.json import JsonObject, as_object, as_text
from rx_tools.model.names import Gate
from rx_tools.numerics.loss_eval import is_loss_metric

REQUIRED, NOT_APPLICABLE, UNKNOWN = "required", "not_applicable", "unknown"


class Contract(Enum):
    """What the spec itself says about a gate."""

    REQUIRES = "requires"
    OPTS_OUT = "opts out"
    SILENT = "silent"
    UNRESOLVED = "unresolved"


@dataclass(frozen=True, slots=True)
class Coverage:
    """The features that demand a gate, and where the spec's own contract for it stands."""

    features: tuple[str, ...]
    section: str
    flag: str = ""

    @property
    def place(self) -> str:
        """The contract's place in words, `spec.correctness_preflight.required`."""
        return f"spec.{self.section}.{self.flag}" if self.flag else f"spec.{self.section}"


COVERAGE: Mapping[Gate, Coverage] = {
    Gate.CORRECTNESS: Coverage(
        ("custom_loss", "custom_optimizer"), "correctness_preflight", "required"
    ),
    Gate.RESTORATION: Coverage(
        ("paired_training_arms", "checkpoint_restore"), "restoration_preflight", "applicable"
    ),
    Gate.ACTIVATION: Coverage((), "activation_gate", "applicable"),
    Gate.GENERATION_AUDIT: Coverage(("generated_training_data",), "generation_audit", "required"),
    Gate.DECISION: Coverage(("paired_comparison", "adaptive_selection"), "decision_rule"),
    Gate.LOSS_EVAL: Coverage(("heldout_loss",), "eval", "aggregation"),
    Gate.FEASIBILITY: Coverage((), "feasibility_required"),
}


def check_applicability(spec: object, check: str) -> dict[str, Any]:
    """Whether the gate named `check` applies to the spec, in the server's shape.

    Returns `{"check", "status", "enforce", "reasons", "features"}`, status being `required`,
    `not_applicable` or `unknown`; an undeclared feature is listed as null.

    Raises `UsageError` for a name that is none of the seven gates with conditions.
    """
    gate = gate_named(check)
    coverage = COVERAGE[gate]
    declared = as_object(as_object(spec).get("experiment_features"))
    features = {name: flag_of(declared.get(name)) for name in coverage.features}
    status, reasons = settle(coverage, features, contract_of(as_object(spec), gate))
    return {
        "check": gate.value,
        "status": status,
        "enforce": status != NOT_APPLICABLE,
        "reasons": reasons,
        "features": features,
    }


def gate_named(check: str) -> Gate:
    """The gate of that name, if conditions decide whether it applies."""
    if any(check == gate.value for gate in COVERAGE):
        return Gate(check)
    raise UsageError(
        f"no gate with conditions is named {check!r}",
        hint="one of " + ", ".join(gate.value for gate in COVERAGE),
    )


def flag_of(value: object) -> bool | None:
    """A declared boolean; anything else is unresolved."""
    return value if isinstance(value, bool) else None


def settle(
    coverage: Coverage, features: Mapping[str, bool | None], contract: Contract
) -> tuple[str, list[str]]:
    """The status and its reasons: true features first, then the contract, then doubt."""
    demanding = [name for name, value in features.items() if value is True]
    if demanding:
        return REQUIRED, [f"experiment_features: {name} is true" for name in demanding]
    if contract is Contract.REQUIRES:
        return REQUIRED, [f"{coverage.place} requires it"]
    doubts = [
        f"experiment_features: {name} is missing or unresolved"
        for name, value in features.items()
        if value is None
    ]
    if contract is Contract.UNRESOLVED:
        doubts.append(f"{coverage.place} is missing or unresolved")
    if doubts:
        return UNKNOWN, doubts
    return NOT_APPLICABLE, [opting_out(coverage, contract)]


def opting_out(coverage: Coverage, contract: Contract) -> str:
    """Why the gate does not apply, as the server says it."""
    section = f"spec.{coverage.section}"
    if contract is Contract.OPTS_OUT:
        return f"{section} opts out and no feature it covers is true"
    return f"{section} does not require it and no feature it covers is true"


def contract_of(spec: JsonObject, gate: Gate) -> Contract:
    """What the spec's own contract for the gate says."""
    coverage = COVERAGE[gate]
    section = spec.get(coverage.section)
    if gate is Gate.LOSS_EVAL:
        return loss_contract(spec)
    if gate is Gate.DECISION:
        return Contract.SILENT if section is None or section is False else Contract.REQUIRES
    if gate is Gate.FEASIBILITY:
        return read_flag(section)
    if not isinstance(section, Mapping):
        return read_flag(section)
    contract = read_flag(section.get(coverage.flag))
    if contract is Contract.SILENT and not coverage.features:
        return Contract.UNRESOLVED
    return contract


def read_flag(value: object) -> Contract:
    """A contract's boolean; a text such as `UNRESOLVED: …` decides nothing."""
    match value:
        case True:
            return Contract.REQUIRES
        case False:
            return Contract.OPTS_OUT
        case None:
            return Contract.SILENT
        case _:
            return Contract.UNRESOLVED


def loss_contract(spec: JsonObject) -> Contract:
    """A held-out loss is asked for by an aggregation or by a metric that names a loss."""
    asked = as_text(as_object(spec.get("eval")).get("aggregation")).strip()
    return Contract.REQUIRES if asked or is_loss_metric(spec) else Contract.SILENT
