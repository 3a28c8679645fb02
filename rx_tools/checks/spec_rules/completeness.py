"""A spec states every figure that a run of it needs.

**What.** Base model, LoRA rank, steps, batch size, sequence length, data path, number of examples
and of evaluated examples are present, and every revision that a custom path is compared with is
pinned to something that can be checked out.

**Why.** The feasibility gate compares nine keys of the recorded configuration with the spec, one by
one; a key that the spec leaves out can never match. A revision that says `UNRESOLVED` blocks the
full sweep: nothing can be compared with a version that nobody named.

**Fix.** Add the missing key with its number. Replace `UNRESOLVED: …` by the commit, tag or release
that was really looked at; if it cannot be pinned, ask for a revision of the spec.

**Source.** Exchange contract, sections 1, 3 and 6.
"""

from collections.abc import Iterator, Mapping

from rx_tools.checks.ruling import objects_at, on_spec, ruled
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import as_object, as_text
from rx_tools.model.json_path import below
from rx_tools.model.record import Record
from rx_tools.model.result import Finding, Level, Result
from rx_tools.model.spec import Spec

CODES: Mapping[str, str] = {
    "RX101": "the spec leaves out a figure that a run needs",
    "RX102": "a revision of a correctness path is unresolved",
}

NEEDED = (
    ("lora_rank",),
    ("steps",),
    ("batch_size",),
    ("max_seq_len",),
    ("dataset", "hf_path"),
    ("dataset", "n_examples"),
    ("eval", "n_examples"),
    ("eval", "metric"),
)
REVISIONS = ("baseline_revision", "reference_revision")


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """Judge the spec alone."""
    return ruled([*missing_figures(spec), *unresolved_revisions(spec)])


def missing_figures(spec: Spec) -> Iterator[Finding]:
    """One finding per figure that is absent or null."""
    for keys in NEEDED:
        parent = spec.raw if len(keys) == 1 else as_object(spec.raw.get(keys[0]))
        if parent.get(keys[-1]) is not None:
            continue
        name = ".".join(keys)
        if name == "steps" and spec.arms and all(arm.steps is not None for arm in spec.arms):
            continue
        message = f"{name} is not stated"
        hint = "the feasibility gate compares it with what was measured"
        yield on_spec("RX101", Level.UNVERIFIED, message, below("$", *keys), hint)


def unresolved_revisions(spec: Spec) -> Iterator[Finding]:
    """One finding per revision that names nothing that can be checked out."""
    section = as_object(spec.raw.get("correctness_preflight"))
    for path, custom in objects_at(section.get("paths"), "$.correctness_preflight.paths"):
        for key in REVISIONS:
            if not is_unresolved(custom.get(key)):
                continue
            message = f"{key} of {as_text(custom.get('id')) or path} is unresolved"
            hint = "pin a commit before any full sweep"
            yield on_spec("RX102", Level.UNVERIFIED, message, below(path, key), hint)


def is_unresolved(revision: object) -> bool:
    """Whether a revision is absent, blank or says of itself that it is unresolved."""
    text = as_text(revision).strip().lower()
    return not text or text.startswith(("unresolved", "todo", "tbd", "unknown"))
