"""Which role of the decision rule an arm plays, and in which phase it runs."""

import re
from collections.abc import Sequence

from rx_tools.checks.ruling import criteria_at
from rx_tools.model.json import as_object, as_text
from rx_tools.model.spec import Arm, Spec

WORDS = re.compile(r"[A-Za-z]+")
SELECTION = "selection"


def roles_of(spec: Spec) -> tuple[str, ...]:
    """The roles that the criteria weigh, in their order."""
    weights = [as_object(criterion.get("weights")) for _, criterion in criteria_at(spec)]
    return tuple(dict.fromkeys(role for weight in weights for role in weight))


def role_of(arm: Arm, roles: Sequence[str]) -> str | None:
    """The arm's stated role, else the one role that its name contains as a word."""
    stated = as_text(arm.raw.get("role"))
    if stated in roles:
        return stated
    if arm.name in roles:
        return arm.name
    return role_in_name(arm.name or "", roles)


def role_in_name(name: str, roles: Sequence[str]) -> str | None:
    """The one role that the name contains as a word, `None` when there is none or several."""
    words = {word.lower() for word in WORDS.findall(name)}
    found = [role for role in roles if role.lower() in words]
    return found[0] if len(found) == 1 else None


def is_selection(arm: Arm) -> bool:
    """Whether the arm only searches for a setting and is not compared itself."""
    return arm.phase == SELECTION
