"""Rows that one reader takes for another thing than the next one does."""

import re

import pytest

from rx_tools.errors import ExitCode
from rx_tools.evidence.claim import State
from rx_tools.evidence.verify import verify
from tests.evidence.forge import TRUE, Forge

METRICS = "evidence/metrics-treatment_lr3e-4_seed0.jsonl"
ITEMS = "evidence/items-confirmation.jsonl"


def doubled(key):
    """The key twice in the first row; the last one is the true one."""
    pair = re.compile(rb'("%s": )([^,}]+)' % key)
    return lambda data: pair.sub(rb"\g<1>0, \g<0>", data, count=1)


def joined(data):
    return data.replace(b"}\n{", b"} {", 1)


@pytest.mark.parametrize(
    ("path", "forge_rows"),
    [
        (METRICS, doubled(b"train_nll")),
        (METRICS, joined),
        (ITEMS, doubled(b"item_id")),
        (ITEMS, joined),
    ],
)
def test_a_row_that_can_be_read_in_two_ways_is_contradicted(tmp_path, path, forge_rows):
    forge, true = Forge(TRUE), Forge(TRUE).files[path]
    forge.files[path] = forge_rows(true)
    assert forge.files[path] != true
    found = verify(forge.reforge().write(tmp_path / "bundle"))
    assert found.exit_code is ExitCode.INTEGRITY
    assert path in {claim.subject for claim in found.of(State.CONTRADICTED)}
