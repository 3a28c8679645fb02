"""The declared features are the known ones, and agree with the contracts beside them.

**What.** Every key of `experiment_features` is one of the ten known features, every known feature
is declared with true or false, and no section opts out of a gate that a feature requires.

**Why.** Features decide which gates apply. A misspelt one declares nothing, so its gate stays
`unknown` and is enforced like a required one; a feature that is true overrides a section that says
`required: false`.

**Fix.** Spell the feature as listed by `rx schema spec`, and declare all ten.

**Source.** Exchange contract, section 2.
"""

import difflib
from collections.abc import Iterator, Mapping

from rx_tools.checks.ruling import on_spec, ruled
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import as_object
from rx_tools.model.json_path import below
from rx_tools.model.record import Record
from rx_tools.model.result import Finding, Level, Result
from rx_tools.model.spec import FEATURES, Spec

CODES: Mapping[str, str] = {
    "RX160": "a feature is not one of the known ones",
    "RX161": "a feature is not declared",
    "RX162": "a section opts out of a gate that a feature requires",
}

PLACE = "$.experiment_features"
OPT_OUTS = (
    ("custom_loss", "correctness_preflight", "required"),
    ("custom_optimizer", "correctness_preflight", "required"),
    ("paired_training_arms", "restoration_preflight", "applicable"),
    ("checkpoint_restore", "restoration_preflight", "applicable"),
    ("generated_training_data", "generation_audit", "required"),
)


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """Judge the spec alone."""
    declared = as_object(spec.raw.get("experiment_features"))
    return ruled([*unknown(declared), *undeclared(spec), *overridden(spec)])


def unknown(declared: Mapping[str, object]) -> Iterator[Finding]:
    """Names that no gate looks at."""
    for name in declared:
        if name in FEATURES:
            continue
        near = difflib.get_close_matches(name, FEATURES, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "no gate looks at it"
        message = f"{name!r} is no known feature"
        yield on_spec("RX160", Level.WARNING, message, below(PLACE, name), hint)


def undeclared(spec: Spec) -> Iterator[Finding]:
    """Features that are missing or no boolean."""
    missing = [name for name in FEATURES if name not in spec.features]
    if missing:
        message = f"not declared with true or false: {', '.join(missing)}"
        hint = "an undeclared feature skips nothing: its gate is enforced"
        yield on_spec("RX161", Level.WARNING, message, PLACE, hint)


def overridden(spec: Spec) -> Iterator[Finding]:
    """Sections that say no although a feature says yes."""
    for feature, section, flag in OPT_OUTS:
        says_no = as_object(spec.raw.get(section)).get(flag) is False
        if spec.features.get(feature) is True and says_no:
            message = f"{section}.{flag} is false, but {feature} is true: the gate is required"
            yield on_spec("RX162", Level.WARNING, message, below("$", section, flag))
