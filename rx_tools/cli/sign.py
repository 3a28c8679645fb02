"""`rx sign`: attest a bundle's root digest."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from rx_tools import __version__
from rx_tools.cli.console import emit, say
from rx_tools.cli.options import Debug, Quiet
from rx_tools.errors import ExitCode, IntegrityError
from rx_tools.evidence.attested import ENVELOPE, SSH_SIGNATURE, STATEMENT, beside, found_in
from rx_tools.evidence.publish import place
from rx_tools.evidence.verify import verify


def command(
    bundle: Annotated[Path, typer.Argument(help="A bundle: a directory or a zip file.")],
    *,
    key: Annotated[Path, typer.Option("--key", help="Your ed25519 key: PEM or OpenSSH.")],
    ssh: Annotated[
        bool, typer.Option("--ssh", help="Let `ssh-keygen -Y` sign (agents, passphrases).")
    ] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> ExitCode:
    """Verify a bundle and sign what was found; a contradicted bundle is not signed.

    The attestation is written beside the bundle: <bundle>.dsse.json, or with --ssh
    <bundle>.statement.json and <bundle>.statement.json.sig.

    Example: rx sign small.bundle --key me.pem
    """
    from rx_tools.evidence.attestation import private_key, sign, statement
    from rx_tools.evidence.ssh_signature import ssh_sign

    verification = verify(bundle)
    if verification.exit_code is ExitCode.INTEGRITY:
        hint = f"rx verify {bundle} says what"
        raise IntegrityError("is contradicted: it is not signed", where=str(bundle), hint=hint)
    policy = {"rx_version": __version__, **found_in(verification)}
    payload = statement(verification.root_digest, verification.run_id, policy)
    files: dict[Path, Callable[[], bytes]]
    files = {beside(bundle, ENVELOPE): lambda: sign(payload, private_key(key))}
    if ssh:
        files = {
            beside(bundle, STATEMENT): lambda: payload,
            beside(bundle, SSH_SIGNATURE): lambda: ssh_sign(payload, key),
        }
    for path, content in {path: make() for path, make in files.items()}.items():
        place(path.parent, path.name, content)
        emit(str(path))
    if not quiet:
        say(f"signed root digest {verification.root_digest}")
    return ExitCode.OK
