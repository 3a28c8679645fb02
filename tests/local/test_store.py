"""The store: whole or not at all, whatever happens to the disk."""

import json
import resource
import signal
from dataclasses import replace

import pytest

from rx_tools.local import tensors
from rx_tools.local.archive import read_adapter, read_optimizer
from rx_tools.local.checkpoints import Address, Facts, Kind, parse_address
from rx_tools.local.refusals import OperationFailedError
from rx_tools.local.store import Store

RUN = "abc:train:0"
FACTS = Facts("m", 4, True, True, True, {"type": "adamw"}, created=1.0)


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path)
    opened.add_run(RUN, {"created": 1.0})
    yield opened
    opened.close()


def address(name: str) -> Address:
    return Address(RUN, Kind.WEIGHTS, name)


def test_addresses_read_as_they_print():
    assert parse_address(str(address("a.b-c"))) == address("a.b-c")
    for wrong in ("", "tinker://", "tinker://x/weights/a", "tinker://abc:train:0/other/a", None, 3,
                  "tinker://abc:train:0/weights/..", "tinker://../weights/a"):  # fmt: skip
        with pytest.raises(OperationFailedError):
            parse_address(wrong)


def test_a_full_disk_leaves_what_was_there_and_a_sentence(store, tmp_path):
    store.save(address("one"), FACTS, {"f": b"old"})
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        for name, overwrite in (("two", False), ("one", True)):
            with pytest.raises(OperationFailedError, match="could not be written"):
                store.save(address(name), FACTS, {"f": bytes(5000)}, overwrite=overwrite)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert [str(each) for each, _ in store.checkpoints(RUN)] == [str(address("one"))]
    assert store.path(address("one"), "f").read_bytes() == b"old"
    assert len(list((tmp_path / "runs" / "abc.train.0" / "weights").iterdir())) == 2


def test_what_a_kill_left_behind_is_cleared_at_the_next_start(store, tmp_path):
    store.save(address("kept"), FACTS, {"f": b"kept"})
    store.save(address("old"), replace(FACTS, expires=2.0), {"f": b"expired"})
    folder = tmp_path / "runs" / "abc.train.0" / "weights"
    (folder / "torn.0123").mkdir()
    (folder / "torn.0123" / "f").write_bytes(b"half")
    (folder / ".torn.json.77.00").write_bytes(b"half")
    store.close()
    again = Store(tmp_path)
    names = {path.name.partition(".")[0] for path in folder.iterdir()}
    assert names == {"kept"}
    assert again.path(address("kept"), "f").read_bytes() == b"kept"
    again.close()


def test_damaged_files_fail_with_a_sentence():
    adapter = {"x.lora_A.weight": tensors.np.ones((2, 3), "f4")}
    whole = tensors.pack({f"base_model.model.{name}": each for name, each in adapter.items()})
    assert read_adapter(whole, adapter)["x.lora_A.weight"].sum() == 6
    header = json.dumps({"a": {"dtype": "F32", "shape": [9], "data_offsets": [0, 99]}}).encode()
    torn = len(header).to_bytes(8, "little") + header
    for damaged in (b"", whole[:10], whole[:-5], torn, b"\xff" * 40, bytes(16)):
        with pytest.raises(OperationFailedError, match=r"damaged|does not fit"):
            read_adapter(damaged, adapter)
        with pytest.raises(OperationFailedError, match=r"damaged|unknown type"):
            read_optimizer(damaged)


def test_packed_tensors_are_safetensors():
    from safetensors.numpy import load

    values = {"b": tensors.np.arange(6, dtype="f4").reshape(2, 3), "a": tensors.np.zeros(0, "f4")}
    packed = tensors.pack(values, {"k": "v"})
    theirs, (ours, note) = load(packed), tensors.unpack(packed)
    assert note == {"k": "v"}
    for name, value in values.items():
        assert (theirs[name] == value).all() and (ours[name] == value).all()
