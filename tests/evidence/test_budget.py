"""The caps of the contract, told with the arithmetic before they hurt."""

import pytest

from rx_tools.errors import DocumentError
from rx_tools.evidence.budget import MIB, Budget, budget_of, require_room
from rx_tools.evidence.publish import publish


def test_each_cap_is_refused_with_its_arithmetic():
    at_cap = require_room(Budget(63, 30 * MIB), {"a": 10 * MIB})
    assert (at_cap.files_left, at_cap.bytes_left) == (0, 0)
    with pytest.raises(DocumentError, match=r"a has 10\.01 MiB, the cap of one file is 10\.00"):
        require_room(Budget(0, 0), {"a": 10 * MIB + 1})
    with pytest.raises(DocumentError, match=r"60 \+ 5 evidence files are more than 64"):
        require_room(Budget(60, 0), dict.fromkeys("abcde", 1))
    with pytest.raises(DocumentError, match=r"35\.00 \+ 5\.01 MiB of evidence are more than 40"):
        require_room(Budget(1, 35 * MIB), {"a": 5 * MIB + 1})


def test_publishing_refuses_what_breaks_a_cap(tmp_path):
    folder = tmp_path / "evidence"
    folder.mkdir()
    publish(folder, "a", b"x" * 10 * MIB)
    with pytest.raises(DocumentError, match="the cap of one file"):
        publish(folder, "b", iter([b"x" * 10 * MIB, b"x"]))
    for number in range(63):
        publish(folder, f"n{number}", b"")
    assert str(budget_of(folder)) == "64 of 64 files, 10.00 of 40.00 MiB"
    with pytest.raises(DocumentError, match=r"64 \+ 1 evidence files"):
        publish(folder, "one-more", b"")
    assert publish(folder, "n5", b"").size == 0
    assert budget_of(folder).files == 64
