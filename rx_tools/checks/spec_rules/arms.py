"""The arms of a spec are the arms that its decision rule needs.

**What.** Arm names are unique; every role that a criterion weighs has one confirmation arm for
every scheduled seed; an optimizer that is not stock AdamW is declared as custom.

**Why.** The decision needs every role at every scheduled seed: one missing cell makes the run
incomplete, however good the rest is. Two arms of one name overwrite each other's evidence. A
custom optimizer that no feature declares makes correctness required and unverified after launch.

**Fix.** Add the missing arm or take its seed from `decision_rule.seeds`. Name arms so that each
contains its role as a word (`baseline_seed0`), or state `role` on the arm. Set
`experiment_features.custom_optimizer` to true and plan its correctness path.

**Source.** Exchange contract, sections 2, 9 and 14.
"""

from collections.abc import Iterator, Mapping

from rx_tools.checks.roles import is_selection, role_of, roles_of
from rx_tools.checks.ruling import arms_at, on_spec, ruled
from rx_tools.model.evidence import Evidence
from rx_tools.model.json_path import below
from rx_tools.model.record import Record
from rx_tools.model.result import Finding, Level, Result
from rx_tools.model.spec import Spec

CODES: Mapping[str, str] = {
    "RX110": "two arms have the same name",
    "RX111": "a role has no arm, or several, for a scheduled seed",
    "RX112": "an arm's role cannot be told",
    "RX113": "a custom optimizer is used but not declared",
}

STOCK = {"adam", "adamw"}


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """Judge the spec alone."""
    return ruled([*same_names(spec), *cells(spec), *undeclared_optimizers(spec)])


def same_names(spec: Spec) -> Iterator[Finding]:
    """A finding for each arm whose name an earlier arm has."""
    seen: set[str] = set()
    for path, arm in arms_at(spec):
        if arm.name is not None and arm.name in seen:
            message = f"the arm name {arm.name!r} is taken"
            yield on_spec("RX110", Level.ERROR, message, below(path, "name"))
        seen.add(arm.name or "")


def cells(spec: Spec) -> Iterator[Finding]:
    """Every (role, scheduled seed) needs exactly one confirmation arm."""
    roles = roles_of(spec)
    if spec.decision_rule is None or not roles:
        return
    count: dict[tuple[str, int | None], int] = {}
    unclear = False
    for path, arm in arms_at(spec):
        if is_selection(arm):
            continue
        role = role_of(arm, roles)
        if role is None or arm.seed is None:
            unclear = True
            what = "role" if role is None else "seed"
            message = f"the {what} of arm {arm.name!r} cannot be told"
            hint = f"roles are {', '.join(roles)}; state `role` and `seed` on the arm"
            yield on_spec("RX112", Level.UNVERIFIED, message, path, hint)
            continue
        count[role, arm.seed] = count.get((role, arm.seed), 0) + 1
    if not unclear:
        yield from incomplete(roles, spec.decision_rule.seeds, count)


def incomplete(
    roles: tuple[str, ...], seeds: tuple[int, ...], count: Mapping[tuple[str, int | None], int]
) -> Iterator[Finding]:
    """Cells with no arm or with several, and arms at seeds that nobody scheduled."""
    for role in roles:
        for seed in seeds:
            found = count.get((role, seed), 0)
            if found != 1:
                message = f"{found or 'no'} arm{'s' * (found > 1)} for role {role!r} at seed {seed}"
                yield on_spec("RX111", Level.ERROR, message, "$.arms")
    for (role, extra), _ in count.items():
        if extra not in seeds:
            message = f"an arm of role {role!r} runs at seed {extra}, which is not scheduled"
            hint = "add the seed to decision_rule.seeds now, or drop the arm: never afterwards"
            yield on_spec("RX111", Level.ERROR, message, "$.decision_rule.seeds", hint)


def undeclared_optimizers(spec: Spec) -> Iterator[Finding]:
    """A family other than AdamW needs the feature `custom_optimizer`."""
    if spec.features.get("custom_optimizer") is not False:
        return
    for path, arm in arms_at(spec):
        if arm.optimizer is not None and arm.optimizer.strip().lower() not in STOCK:
            message = f"{arm.optimizer!r} is no stock optimizer, yet custom_optimizer is false"
            hint = "declare custom_optimizer: true and plan its correctness path"
            place = below(path, "optimizer")
            yield on_spec("RX113", Level.UNVERIFIED, message, place, hint)
