"""`rx validate` against `check-jsonschema`, as whole processes on the same files.

Claims: one spec takes at most 1.0 times as long, 1,000 specs in one call at most 0.3 times; yet
every rule is judged besides the schema.
"""

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from rx_tools.schemas.library import all_schemas, schema_id

ROOT = Path(__file__).parents[1]
SPEC = ROOT / "tests/fixtures/exp_9574bbb76e.spec.json"
RX = [sys.executable, "-m", "rx_tools", "validate"]
OTHER = [sys.executable, "-m", "check_jsonschema", "--schemafile"]


def self_contained(path: Path) -> Path:
    """The spec's schema with the ones that it refers to, in one file."""
    schemas = {name: dict(body) for name, body in all_schemas().items()}
    draft = schemas[schema_id("spec")]["$schema"]
    body = {"$schema": draft, "$defs": schemas, "$ref": schema_id("spec")}
    path.write_text(json.dumps(body))
    return path


def seconds(command: list[str]) -> float:
    """Wall time of one process that must succeed."""
    start = time.perf_counter()
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    if done.returncode != 0:
        raise SystemExit(f"{command[:4]}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return time.perf_counter() - start


def compare(name: str, ours: list[str], theirs: list[str], rounds: int, limit: float) -> None:
    """Print the ratio of medians; the two take turns, so that load hits both."""
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(rounds)]
    mine, other = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = mine / other
    verdict = "holds" if ratio <= limit else "DOES NOT HOLD"
    print(
        f"{name}: rx {mine:.3f} s, check-jsonschema {other:.3f} s, "
        f"ratio {ratio:.2f} (claim <= {limit:.1f}: {verdict})"
    )


def main() -> None:
    with TemporaryDirectory() as folder:
        schema = str(self_contained(Path(folder) / "spec.schema.json"))
        many = []
        for number in range(1000):
            path = Path(folder) / f"spec-{number:04}.json"
            path.write_bytes(SPEC.read_bytes())
            many.append(str(path))
        compare("one spec", [*RX, str(SPEC)], [*OTHER, schema, str(SPEC)], 11, 1.0)
        compare("1,000 specs", [*RX, *many], [*OTHER, schema, *many], 3, 0.3)


if __name__ == "__main__":
    main()
