"""A custom loss or optimizer reproduces its baseline and its reference before any full sweep.

**What.** For every path that the spec names: the stock baseline through the new path with the
treatment disabled, then the enabled implementation against the pinned reference, on the same fixed
input. Accepted when `max_abs_error <= atol + rtol * reference_max_abs`, when the cosine reaches
`min_cosine` where one is set, and when update norms follow the learning rate within `rtol`.

**Why.** A path that is wrong by a factor trains all the same, and its result is about the bug.

**Fix.** Measure both comparisons with the probes, pin every revision in the spec, and hand in the
four figures of every tolerance and one probe per learning rate, unrounded.

**Source.** Exchange contract, section 3; consistency of figures: c² ≥ 1 − ε².
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from rx_tools.checks.applicability import NOT_APPLICABLE, REQUIRED, check_applicability
from rx_tools.checks.custom_paths import late_discoveries
from rx_tools.checks.grading import (
    Check,
    Problem,
    deciding_reason,
    examine,
    findings_of,
    number,
    resolved,
    sha256,
    text,
    worst,
)
from rx_tools.checks.scaling import scaling_check
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import JsonObject, as_list, as_object, as_text, is_number
from rx_tools.model.json_path import below
from rx_tools.model.names import Gate
from rx_tools.model.record import Record
from rx_tools.model.result import Finding, Level, Result, Status
from rx_tools.model.spec import Spec
from rx_tools.numerics.tolerance import BLIND_WARNING, FIGURES, Tolerance, inconsistency

CODES: Mapping[str, str] = {
    "RX310": "a custom path appeared that the spec has no accepted preflight plan for",
    "RX311": "evidence of a path is missing, duplicated or malformed",
    "RX312": "a revision or a tolerance of the plan is unresolved",
    "RX313": "a measured error exceeds its tolerance",
    "RX314": "the reported figures cannot belong to one measurement",
    "RX315": "update norms do not follow the learning rate",
    "RX316": "the recorded revision is not the pinned one",
    "RX317": "the plan lacks a comparison that its kind of path needs",
    "RX318": "a tolerance cannot see a pure scale error: atol / reference_max_abs + rtol",
}

SECTION = "correctness_preflight"
SOURCE = "executor report; remote execution is not attested"
PASSED = "Every path reproduces its baseline and its reference within the prespecified tolerances."
LATE = "request a spec revision; no tolerance is picked after seeing errors."
NEEDS = {"optimizer": ("baseline", "reference", "update"), "loss": ("loss", "grad")}
FEATURES = {"custom_optimizer": "optimizer", "custom_loss": "loss"}


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """The correctness gate; `details` is the server's answer. Never raises."""
    applies = check_applicability(spec.raw, Gate.CORRECTNESS)
    late = late_discoveries(spec, record, planned=applies["enforce"])
    checks = [late_check(reason) for reason in late]
    if applies["enforce"]:
        checks += [*plan_checks(spec), *path_checks(spec, section_of(record.raw))]
    elif not late:
        return answer(record, Status.NOT_APPLICABLE, (), applies["status"], applies["reasons"][0])
    status = worst(check.status for check in checks)
    required = applies["status"] if applies["enforce"] else REQUIRED
    judged = answer(record, status, tuple(checks), required, deciding_reason(checks, PASSED))
    blind = tuple(blind_findings(spec, section_of(record.raw))) if applies["enforce"] else ()
    return replace(judged, reasons=(*judged.reasons, *blind))


def blind_findings(spec: Spec, section: JsonObject) -> Iterator[Finding]:
    """For every tolerance with figures, what it cannot see; a warning above 5 %."""
    paths = map(as_object, as_list(section.get("paths")))
    recorded = {as_text(path.get("id")): path for path in paths}
    for index, plan in enumerate(plans_of(spec)):
        errors = as_object(recorded.get(as_text(plan.get("id")), {}).get("errors"))
        for name, tolerance in as_object(plan.get("tolerances")).items():
            top = as_object(errors.get(name)).get("reference_max_abs")
            limits = limits_of(as_object(tolerance))
            if limits is None or not is_number(top) or not top > 0:
                continue
            blind = limits.blind_scale_error(float(top))
            level = Level.WARNING if blind > BLIND_WARNING else Level.NOTE
            place = below("$", SECTION, "paths", index, "tolerances", name)
            message = f"{name} cannot see a pure scale error of {100 * blind:.3g} %."
            yield Finding("RX318", level, message, place, document="spec")


def answer(
    record: Record, status: Status, checks: tuple[Check, ...], applicability: str, reason: str
) -> Result:
    """The gate's answer in the server's shape."""
    details = {
        "status": status.value,
        "required": applicability != NOT_APPLICABLE,
        "checks": [check.entry for check in checks],
        "reason": reason,
        "evidence_source": SOURCE,
        "applicability": applicability,
        "reported_verdict": record.raw.get("verdict"),
    }
    return Result(status, findings_of(checks), details)


def section_of(raw: JsonObject) -> JsonObject:
    """The section of a record, or a bare `preflight.json` that holds nothing else."""
    section = raw.get(SECTION)
    return as_object(raw if section is None and "paths" in raw else section)


def late_check(reason: str) -> Check:
    """A custom path that was found after launch is required and unverified."""
    message = f"Custom path found after launch ({reason}): {LATE}"
    return Check(reason, (Problem(Status.UNVERIFIED, "RX310", message),))


def plan_checks(spec: Spec) -> Iterator[Check]:
    """What the spec must name before anything can be compared."""
    kinds = [path.get("kind") for path in plans_of(spec)]
    missing = [
        kind for feature, kind in FEATURES.items() if spec.features.get(feature) is True
    ] or ([] if kinds else ["custom"])
    for kind in missing:
        if kind not in kinds:
            message = f"spec.{SECTION} has no accepted {kind} path: {LATE}"
            place = f"$.{SECTION}.paths"
            problem = Problem(Status.UNVERIFIED, "RX310", message, place, "spec")
            yield Check(f"{kind} path", (problem,))


def plans_of(spec: Spec) -> list[JsonObject]:
    """The paths of the spec; what is no object reads as an empty path."""
    return [as_object(path) for path in as_list(spec.correctness.raw.get("paths"))]


@dataclass(frozen=True, slots=True)
class Pair:
    """A planned path and what was recorded for it, each with its JSON path."""

    name: str
    plan: JsonObject
    plan_at: str
    path: JsonObject
    path_at: str

    def unplanned(self, code: str, message: str, *keys: str) -> Problem:
        """Something that the spec leaves open."""
        place = below(self.plan_at, *keys)
        return Problem(Status.UNVERIFIED, code, f"{self.name}: {message}", place, "spec")


def path_checks(spec: Spec, section: JsonObject) -> Iterator[Check]:
    """The checks of every path of the plan against the evidence recorded for it."""
    if section.get("required") is not True:
        message = "The record does not report the correctness preflight as required."
        where = f"$.{SECTION}.required"
        yield Check("required", (Problem(Status.UNVERIFIED, "RX311", message, where),))
    recorded = [as_object(path) for path in as_list(section.get("paths"))]
    paths = f"$.{SECTION}.paths"
    for index, plan in enumerate(plans_of(spec)):
        name = as_text(plan.get("id")) or f"path {index + 1}"
        matches = [at for at, path in enumerate(recorded) if path.get("id") == name]
        if len(matches) != 1:
            message = f"{name}: missing or duplicate path evidence."
            yield Check(name, (Problem(Status.UNVERIFIED, "RX311", message, f"$.{SECTION}"),))
            continue
        found = recorded[matches[0]]
        yield from one_path(Pair(name, plan, below(paths, index), found, below(paths, matches[0])))


def one_path(pair: Pair) -> Iterator[Check]:
    """Provenance, every tolerance, and the learning-rate probes of one path."""
    found = [*kind_problems(pair), *revision_problems(pair), *input_problems(pair)]
    yield Check(pair.name, tuple(found), f"{pair.name}: pinned.")
    for error in as_object(pair.plan.get("tolerances")):
        label = f"{pair.name}: {error}"
        yield Check(label, tuple(error_problems(pair, error)), f"{label} is within its tolerance.")
    if pair.plan.get("lr_scaling") is not None:
        plan, probes = as_object(pair.plan["lr_scaling"]), pair.path.get("lr_scaling")
        yield scaling_check(pair.name, plan, probes, pair.path_at, pair.plan_at)


def kind_problems(pair: Pair) -> Iterator[Problem]:
    """An optimizer needs both updates compared, a loss its value and its full gradient."""
    words = NEEDS.get(str(pair.plan.get("kind")))
    planned = as_object(pair.plan.get("tolerances"))
    if words is None:
        yield pair.unplanned("RX317", "kind is neither optimizer nor loss in the spec.", "kind")
    for word in words or ():
        if not any(word in error for error in planned):
            message = f"the plan has no {word} tolerance; {LATE}"
            yield pair.unplanned("RX317", message, "tolerances")


def revision_problems(pair: Pair) -> Iterator[Problem]:
    """Revisions are pinned in the spec, and the recorded ones are those."""
    for key in ("baseline_revision", "reference_revision"):
        if resolved(pair.plan.get(key)) is not Status.PASSED:
            message = f"{key} is unresolved in the spec; pin it before any full sweep."
            yield pair.unplanned("RX312", message, key)
        elif isinstance(pair.path.get(key), str) and pair.path[key] != pair.plan[key]:
            message = f"{pair.name}: {key} is not the one that the spec pins."
            yield Problem(Status.FAILED, "RX316", message, below(pair.path_at, key))


def input_problems(pair: Pair) -> Iterator[Problem]:
    """What was compared, on which input, in which arithmetic."""
    revisions = ("baseline_revision", "reference_revision", "implementation_revision")
    rules = {**dict.fromkeys(revisions, resolved), "precision": text, "normalization": text}
    yield from examine(pair.path, rules, "RX311", pair.name, pair.path_at)
    fixed = {"sha256": sha256, "description": text}
    label, at = f"{pair.name}: input", below(pair.path_at, "fixed_input")
    yield from examine(as_object(pair.path.get("fixed_input")), fixed, "RX311", label, at)


def error_problems(pair: Pair, error: str) -> Iterator[Problem]:
    """One tolerance against the four figures measured for it."""
    label, place = f"{pair.name}: {error}", below(pair.path_at, "errors", error)
    errors = as_object(as_object(pair.path.get("errors")).get(error))
    problems = list(examine(errors, dict.fromkeys(FIGURES, number), "RX311", label, place))
    limits = limits_of(as_object(as_object(pair.plan.get("tolerances")).get(error)))
    if limits is None:
        message = f"atol, rtol or min_cosine of {error} is unresolved in the spec."
        problems.append(pair.unplanned("RX312", message, "tolerances", error))
    yield from problems
    if problems or limits is None:
        return
    contradiction = inconsistency(errors)
    if contradiction:
        status = Status.FAILED if "not exercised" in contradiction else Status.INVALID
        yield Problem(status, "RX314", f"{label}: {contradiction}.", place)
    elif not limits.accepts(errors):
        yield Problem(Status.FAILED, "RX313", f"{label}: {excess(errors, limits)}.", place)


def excess(errors: JsonObject, limits: Tolerance) -> str:
    """The measured figures beside what is allowed."""
    allowed = limits.limit(errors["reference_max_abs"])
    words = f"max_abs_error {errors['max_abs_error']:.6g}, allowed {allowed:.6g}"
    if limits.min_cosine is None:
        return words
    return f"{words}; cosine {errors['cosine_similarity']:.9g}, at least {limits.min_cosine:g}"


def limits_of(tolerance: JsonObject) -> Tolerance | None:
    """The tolerance of the spec, or `None` while a part of it is no usable number."""
    atol, rtol, cosine = (tolerance.get(key) for key in ("atol", "rtol", "min_cosine"))
    if not (is_number(atol) and is_number(rtol) and atol >= 0 and rtol >= 0):
        return None
    if cosine is not None and not is_number(cosine):
        return None
    return Tolerance(float(atol), float(rtol), None if cosine is None else float(cosine))
