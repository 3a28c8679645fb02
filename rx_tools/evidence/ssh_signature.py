"""Signatures by `ssh-keygen -Y`, for those who have nothing but an SSH key."""

import subprocess
import tempfile
from pathlib import Path

from rx_tools.errors import IntegrityError, UsageError

NAMESPACE = "rx-bundle"
SIGNER = "signer"


def ssh_sign(payload: bytes, key: Path) -> bytes:
    """An armored signature over the statement; the key may be in an agent or have a passphrase."""
    command = ["ssh-keygen", "-Y", "sign", "-n", NAMESPACE, "-f", str(key)]
    done = run(command, payload)
    if done.returncode == 0:
        return done.stdout
    raise UsageError(f"ssh-keygen did not sign: {last_line(done.stderr)}", where=str(key))


def ssh_check(payload: bytes, signature: Path, public: str, where: str = "") -> None:
    """Raise `IntegrityError` unless the holder of `public` (a `.pub` line) signed the payload."""
    kind, value = [*public.split(), "", ""][:2]
    with tempfile.TemporaryDirectory() as folder:
        allowed = Path(folder, "allowed_signers")
        allowed.write_text(f'{SIGNER} namespaces="{NAMESPACE}" {kind} {value}\n')
        command = ["ssh-keygen", "-Y", "verify", "-n", NAMESPACE, "-I", SIGNER]
        done = run([*command, "-f", str(allowed), "-s", str(signature)], payload)
    if done.returncode != 0:
        reason = last_line(done.stderr) or last_line(done.stdout)
        raise IntegrityError(f"no signature of this key holds ({reason})", where=where)


def run(command: list[str], payload: bytes) -> subprocess.CompletedProcess[bytes]:
    """Run ssh-keygen, which must be installed."""
    try:
        return subprocess.run(command, input=payload, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise UsageError("ssh-keygen is not installed") from error


def last_line(output: bytes) -> str:
    """The last thing that a program said."""
    lines = output.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""
