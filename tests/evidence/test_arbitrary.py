"""Whatever a bundle holds, the verification answers: it never fails with an error of its own."""

import copy
import json
import random

import pytest

from rx_tools.errors import ExitCode
from rx_tools.evidence.archive import zip_bytes
from rx_tools.evidence.tree import open_tree
from rx_tools.evidence.verify import verify
from tests.evidence.forge import TRUE, Forge

ODD = [None, True, 0, -1, 1.5, 1e300, "", "x", [], {}, [[]], {"a": []}, "tinker://x", [1, 2]]
GOOD = zip_bytes(open_tree(TRUE).files)


def places(value, path=()):
    """The paths of everything inside a document."""
    if not isinstance(value, dict | list):
        return
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*path, key)
        yield from places(inner, (*path, key))


def disturb(draw, document):
    """One member removed, or replaced by something odd."""
    path = draw.choice(list(places(document)))
    target = document
    for step in path[:-1]:
        target = target[step]
    if draw.random() < 0.2:
        target.pop(path[-1])
    else:
        target[path[-1]] = copy.deepcopy(draw.choice(ODD))


@pytest.mark.parametrize("seed", range(30))
def test_odd_documents_are_judged(tmp_path, seed):
    draw, forge = random.Random(seed), Forge()
    update = forge.last_update
    for path in ("record.json", "plan.json", "spec.json", "run.json", "bundle.json"):
        if draw.random() < 0.5:
            document = json.loads(forge.files[path])
            disturb(draw, document)
            forge.files[path] = json.dumps(document).encode()
    forge.files[update] = forge.files["record.json"]
    disturb(draw, forge.lines[draw.randrange(len(forge.lines))])
    for line in forge.lines:
        line["files"] = line["files"] if isinstance(line.get("files"), dict) else {}
    forge.rechain().remake_manifest()
    found = verify(forge.write(tmp_path / "bundle"))
    assert found.exit_code in (ExitCode.OK, ExitCode.INTEGRITY, ExitCode.UNVERIFIED)


@pytest.mark.parametrize("seed", range(30))
def test_odd_archives_are_refused(tmp_path, seed):
    draw, data = random.Random(seed), bytearray(GOOD)
    for _ in range(draw.randint(1, 4)):
        area = draw.choice([(0, len(data)), (len(data) - 4000, len(data))])
        data[draw.randrange(*area)] ^= draw.randint(1, 255)
    (tmp_path / "bundle.zip").write_bytes(bytes(data))
    assert verify(tmp_path / "bundle.zip").exit_code is ExitCode.INTEGRITY
