"""`rx verify`: a stranger's verification of a bundle, offline."""

import json
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from rx_tools import __version__
from rx_tools.cli.console import emit
from rx_tools.cli.options import Debug, Format, FormatOption, Quiet
from rx_tools.errors import ExitCode
from rx_tools.evidence.attested import verify_attestation
from rx_tools.evidence.claim import Claim, State
from rx_tools.evidence.verify import Verification, verify

SCHEMA = "urn:rx:schema:verification:1"


def command(
    bundle: Annotated[Path, typer.Argument(help="A bundle: a directory or a zip file.")],
    *,
    root: Annotated[
        str, typer.Option("--root", help="The root digest that you expect, from elsewhere.")
    ] = "",
    key: Annotated[
        Path | None,
        typer.Option("--key", help="The public ed25519 key that must have signed the bundle."),
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="List what was verified as well.")] = False,
    format: FormatOption = Format.TEXT,
    quiet: Quiet = False,
    debug: Debug = False,
) -> ExitCode:
    """Verify a bundle without trusting it: nothing is fetched, nothing is unpacked.

    Exits 0 if everything holds, 4 if anything is contradicted, 3 if something is missing.

    Example: rx verify small.bundle --root 5f1c…
    """
    found = verify(bundle, root=root)
    if key:
        attestation = tuple(verify_attestation(bundle, key, found))
        found = replace(found, claims=(*found.claims, *attestation))
    if format is Format.JSON:
        emit(json.dumps(as_json(found), indent=2, ensure_ascii=False))
    elif not quiet:
        emit(as_text(found, every=all))
    return found.exit_code


def as_json(found: Verification) -> dict[str, object]:
    """Every claim, and how many there are of each kind."""
    return {
        "schema": SCHEMA,
        "rx_version": __version__,
        "root_digest": found.root_digest,
        "exit_code": int(found.exit_code),
        "summary": counts(found),
        "claims": [{**asdict(claim), "state": claim.state.value} for claim in found.claims],
    }


def counts(found: Verification) -> dict[str, int]:
    """State → number of claims."""
    number = Counter(claim.state for claim in found.claims)
    return {state.value: number[state] for state in State}


def as_text(found: Verification, *, every: bool) -> str:
    """What does not hold first; what holds only on request; the root digest at the end."""
    shown = [*found.of(State.CONTRADICTED), *found.of(State.OPEN)]
    if every:
        shown += found.of(State.VERIFIED)
    summary = ", ".join(f"{number} {state}" for state, number in counts(found).items())
    return "\n".join([*map(line_of, shown), f"root digest {found.root_digest or 'none'}", summary])


def line_of(claim: Claim) -> str:
    """One claim on one line."""
    return f"{claim.state:<20}{claim.subject}: {claim.message}"
