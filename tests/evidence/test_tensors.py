"""Right values come from the safetensors and numpy libraries' own writers."""

import hashlib
import io
import json
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rx_tools.errors import DocumentError, UsageError
from rx_tools.evidence.tensors import (
    adapter_digest,
    compare_files,
    load_tensors,
    open_tensors,
    safetensors_bytes,
)

RANDOM = np.random.default_rng(11)
TENSORS = {
    "layer.0.lora_A": RANDOM.standard_normal((8, 300)).astype(np.float32),
    "layer.0.lora_B": RANDOM.standard_normal((300, 8)).astype(np.float16),
    "scale": np.array(2.5),
}


@pytest.fixture
def stored(tmp_path):
    safetensors.numpy.save_file(TENSORS, tmp_path / "a.safetensors")
    np.savez(tmp_path / "a.npz", **TENSORS)
    np.savez_compressed(tmp_path / "c.npz", **dict(reversed(TENSORS.items())))
    return tmp_path


@pytest.mark.parametrize("name", ["a.safetensors", "a.npz", "c.npz"])
def test_reads_what_the_libraries_wrote(stored, name):
    loaded = load_tensors(stored / name)
    assert set(loaded) == set(TENSORS)
    for key, expected in TENSORS.items():
        assert np.array_equal(loaded[key], expected)
        assert loaded[key].shape == expected.shape


def test_bfloat16_is_read_exactly(tmp_path):
    import torch
    from safetensors.torch import save_file

    values = torch.randn(7, 5, generator=torch.Generator().manual_seed(1)).to(torch.bfloat16)
    save_file({"w": values}, tmp_path / "b.safetensors")
    assert np.array_equal(load_tensors(tmp_path / "b.safetensors")["w"], values.float().numpy())


def test_the_writer_is_read_by_the_library(tmp_path):
    loaded = safetensors.numpy.load(safetensors_bytes(TENSORS))
    assert all(np.array_equal(loaded[name], TENSORS[name]) for name in TENSORS)


def test_files_of_both_kinds_compare(stored):
    errors = compare_files(stored / "a.npz", stored / "a.safetensors")
    assert errors.status == "measured"
    assert errors["max_abs_error"] == 0.0
    assert set(errors.tensors) == set(TENSORS)


def test_pieces_in_any_order(stored):
    with open_tensors(stored / "c.npz") as tensors:
        flat = TENSORS["layer.0.lora_A"].reshape(-1)
        for start, stop in [(10, 20), (0, 5), (2000, 2400), (3, 4)]:
            piece = tensors["layer.0.lora_A"].piece(start, stop)
            assert np.array_equal(piece, flat[start:stop])


def test_the_digest_is_the_documented_one(tmp_path):
    values = np.array([[1.0, 2.0]], dtype=np.float32)
    (tmp_path / "x.safetensors").write_bytes(safetensors_bytes({"b": values, "a": values}))
    body = b"\x00F32\x001,2\x00" + bytes.fromhex("0000803f00000040")
    assert (
        adapter_digest(tmp_path / "x.safetensors")
        == hashlib.sha256(b"a" + body + b"b" + body).hexdigest()
    )


def test_the_digest_does_not_depend_on_the_layout(stored, tmp_path):
    shards = tmp_path / "sharded"
    shards.mkdir()
    for index, (name, values) in enumerate(TENSORS.items()):
        safetensors.numpy.save_file({name: values}, shards / f"{index}.safetensors")
    swapped = {
        name: np.array(v, dtype=v.dtype.newbyteorder(">"), order="F") for name, v in TENSORS.items()
    }
    np.savez(tmp_path / "swapped.npz", **swapped)
    paths = [
        stored / "a.safetensors",
        stored / "a.npz",
        stored / "c.npz",
        shards,
        tmp_path / "swapped.npz",
    ]
    assert len({adapter_digest(path) for path in paths}) == 1


@pytest.mark.parametrize("change", ["value", "name", "type", "shape"])
def test_the_digest_depends_on_the_content(change, tmp_path):
    values = np.arange(6, dtype=np.float32)
    changed = {
        "value": {"a": np.nextafter(values, np.float32(9))},
        "name": {"b": values},
        "type": {"a": values.astype(np.float64)},
        "shape": {"a": values.reshape(2, 3)},
    }[change]
    for name, tensors in (("x", {"a": values}), ("y", changed)):
        (tmp_path / f"{name}.safetensors").write_bytes(safetensors_bytes(tensors))
    assert adapter_digest(tmp_path / "x.safetensors") != adapter_digest(tmp_path / "y.safetensors")


def file_of(header, body=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + body


def entry(dtype="F32", shape=(2,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


HOSTILE = {
    "nothing": b"",
    "short": b"\x01\x02",
    "endless header": file_of(b"{}", length=2**63),
    "header behind the end": file_of(b"{}", length=100),
    "no object": file_of([]),
    "broken JSON": file_of(b"{'a"),
    "deep": file_of(b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}"),
    "the same name twice": file_of(
        b'{"a":%b,"a":%b}' % ((json.dumps(entry()).encode(),) * 2), bytes(8)
    ),
    "unknown type": file_of({"a": entry("Q7")}, bytes(8)),
    "unhashable type": file_of({"a": entry(["F32"])}, bytes(8)),
    "negative shape": file_of({"a": entry(shape=(-2,))}, bytes(8)),
    "boolean shape": file_of({"a": entry(shape=(True, 2))}, bytes(8)),
    "wrong size": file_of({"a": entry(shape=(3,))}, bytes(8)),
    "overflowing shape": file_of({"a": entry(shape=(2**40, 2**40, 0), offsets=(0, 8))}, bytes(8)),
    "reversed offsets": file_of({"a": entry(offsets=(8, 0))}, bytes(8)),
    "behind the end": file_of({"a": entry(offsets=(0, 8))}, bytes(4)),
    "trailing bytes": file_of({"a": entry()}, bytes(9)),
    "overlap": file_of({"a": entry(), "b": entry(offsets=(4, 12))}, bytes(12)),
    "hole": file_of({"a": entry(), "b": entry(offsets=(12, 20))}, bytes(20)),
    "extra key": file_of({"a": {**entry(), "x": 1}}, bytes(8)),
    "entry is a list": file_of({"a": [1]}, bytes(8)),
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_safetensors_file_is_refused_in_one_line(content, tmp_path):
    path = tmp_path / "evil.safetensors"
    path.write_bytes(content)
    with pytest.raises(DocumentError) as refused:
        load_tensors(path)
    assert "\n" not in str(refused.value)
    assert "evil.safetensors" in str(refused.value)


def npy_bytes(header, body):
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + body


HOSTILE_MEMBERS = {
    "pickle": npy_bytes("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", b"cos\nsystem\n"),
    "larger than its bytes": npy_bytes(
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}", bytes(8)
    ),
    "negative": npy_bytes("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", b""),
    "record type": npy_bytes(
        "{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (1,)}", bytes(8)
    ),
    "call": npy_bytes("__import__('os').abort()", b""),
    "text": b"hello",
    "complex": npy_bytes("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", bytes(8)),
}


@pytest.mark.parametrize("content", HOSTILE_MEMBERS.values(), ids=HOSTILE_MEMBERS)
def test_a_hostile_member_is_refused_in_one_line(content, tmp_path):
    path = tmp_path / "evil.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", content)
    with pytest.raises(DocumentError) as refused:
        load_tensors(path)
    assert "\n" not in str(refused.value)


def test_a_damaged_archive_is_refused(tmp_path):
    buffer = io.BytesIO()
    np.savez(buffer, a=np.arange(1000.0))
    data = bytearray(buffer.getvalue())
    data[3000] ^= 0xFF
    (tmp_path / "x.npz").write_bytes(data)
    with pytest.raises(DocumentError, match="damaged"):
        load_tensors(tmp_path / "x.npz")
    (tmp_path / "y.npz").write_bytes(data[:4000])
    with pytest.raises(DocumentError, match=r"not an \.npz archive"):
        load_tensors(tmp_path / "y.npz")


def test_types_that_are_not_floating_have_no_parity(tmp_path):
    safetensors.numpy.save_file({"m": np.ones(3, bool)}, tmp_path / "m.safetensors")
    np.savez(tmp_path / "m.npz", m=np.ones(3, bool))
    assert adapter_digest(tmp_path / "m.npz") == adapter_digest(tmp_path / "m.safetensors")
    for name in ("m.npz", "m.safetensors"):
        with pytest.raises(DocumentError, match="BOOL, not a floating type"):
            compare_files(tmp_path / name, tmp_path / name)


def test_other_files_and_empty_folders_are_usage_errors(tmp_path):
    (tmp_path / "w.bin").write_bytes(b"x")
    with pytest.raises(UsageError):
        load_tensors(tmp_path / "w.bin")
    with pytest.raises(UsageError):
        adapter_digest(tmp_path)
    with pytest.raises(FileNotFoundError):
        load_tensors(tmp_path / "absent.safetensors")


def sound(kind):
    if kind == "safetensors":
        return safetensors_bytes({"a": np.arange(6.0), "b": np.ones((2, 2), np.float32)})
    buffer = io.BytesIO()
    np.savez(buffer, a=np.arange(6.0), b=np.ones((2, 2), np.float32))
    return buffer.getvalue()


@settings(max_examples=150, deadline=None)
@given(
    kind=st.sampled_from(["safetensors", "npz"]),
    changes=st.lists(st.tuples(st.integers(0, 700), st.integers(0, 255)), min_size=1, max_size=4),
    cut=st.integers(0, 700) | st.none(),
)
@example(kind="npz", changes=[(436, 64)], cut=None)
def test_damage_anywhere_is_refused_in_one_line_or_harmless(tmp_path_factory, kind, changes, cut):
    data = bytearray(sound(kind))
    for place, value in changes:
        data[place % len(data)] = value
    path = tmp_path_factory.mktemp("damaged") / f"x.{kind}"
    path.write_bytes(data[:cut])
    try:
        load_tensors(path)
    except DocumentError as refused:
        assert "\n" not in str(refused)


MEASURE = """
import sys
from pathlib import Path
from rx_tools.evidence.tensors import compare_files
errors = compare_files(Path(sys.argv[1]), Path(sys.argv[2]))
assert abs(errors["relative_l2_error"] - 0.5) < 1e-12, errors.as_dict()
status = Path("/proc/self/status").read_text()
print(int(status.split("VmHWM:")[1].split()[0]) // 1024)
"""


def test_large_files_are_never_held_in_memory(tmp_path):
    """Two files of 256 MiB; the interpreter with numpy takes about 40 MiB."""
    count = 64 * 2**20
    block = np.random.default_rng(1).standard_normal(2**20).astype(np.float32)
    for name, factor in (("a", np.float32(0.5)), ("r", np.float32(1))):
        header = {"w": entry(shape=(count,), offsets=(0, 4 * count))}
        with (tmp_path / f"{name}.safetensors").open("wb") as out:
            out.write(file_of(header))
            for _ in range(count // block.size):
                out.write((block * factor).tobytes())
    command = [
        sys.executable,
        "-c",
        MEASURE,
        tmp_path / "a.safetensors",
        tmp_path / "r.safetensors",
    ]
    peak = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(peak.stdout) < 150
