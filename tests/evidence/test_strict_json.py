"""What the strict reader refuses, and where it says the fault is."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rx_tools.errors import ExitCode, RxError
from rx_tools.evidence.json_places import offset_of, places
from rx_tools.evidence.strict_json import UnreadableError, parse_document, read_document

REFUSED = [
    pytest.param(b'{"margin":0.05,"margin":0.5}', "RX002", (1, 16), "line 1, column 2", id="twice"),
    pytest.param(b'{"a":{"b":1,\n "b":2}}', "RX002", (2, 2), "$.a.b", id="twice-inside"),
    pytest.param(b'{"loss": NaN}', "RX003", (1, 10), "NaN", id="nan"),
    pytest.param(b"[1,\n-Infinity]", "RX003", (2, 1), "$[1]", id="infinity"),
    pytest.param(b'{"m": 1e400}', "RX003", (1, 7), "1e400", id="1e400"),
    pytest.param(b'{"m": -1e999}', "RX003", (1, 7), "-1e999", id="1e999"),
    pytest.param(b"[" + b"9" * 400 + b"]", "RX003", (1, 2), "9999", id="400-digits"),
    pytest.param(b"[" + b"9" * 9000 + b"]", "RX003", (1, 2), "9999", id="9000-digits"),
    pytest.param(b"[" * 20_000, "RX004", (1, 65), "64", id="20000-brackets"),
    pytest.param(b"[" * 65 + b"]" * 65, "RX004", (1, 65), "64", id="65-levels"),
    pytest.param(b'{"a":' * 70 + b"1" + b"}" * 70, "RX004", (1, 321), "64", id="70-objects"),
    pytest.param(b"\xef\xbb\xbf{}", "RX001", (1, 1), "byte-order mark", id="bom"),
    pytest.param("{}".encode("utf-16"), "RX001", (1, 1), "0xff", id="utf-16"),
    pytest.param(b'{"a":\n "\xc3\xa9\xff"}', "RX001", (2, 4), "0xff", id="invalid-utf-8"),
    pytest.param(b'{"a": "\\ud800"}', "RX006", (1, 7), "$.a", id="lone-surrogate"),
    pytest.param(b'{"\\udc00": 1}', "RX006", (1, 2), "surrogate", id="lone-surrogate-key"),
    pytest.param(b"", "RX005", (1, 1), "empty", id="empty"),
    pytest.param(b" \n", "RX005", (1, 1), "empty", id="blank"),
    pytest.param(b'{"a":1} x', "RX005", (1, 9), "Extra data", id="trailing"),
    pytest.param(b'{"a":1}{"b":2}', "RX005", (1, 8), "Extra data", id="two-documents"),
    pytest.param(b"{'a':1}", "RX005", (1, 2), "property name", id="single-quotes"),
    pytest.param(b'{"a":1,}', "RX005", (1, 8), "", id="trailing-comma"),
    pytest.param(b'{"a": 01}', "RX005", (1, 8), "", id="leading-zero"),
    pytest.param(b'["a\nb"]', "RX005", (1, 4), "control", id="raw-newline"),
]


@pytest.mark.parametrize(("data", "code", "place", "says"), REFUSED)
def test_refused_with_code_and_place(data, code, place, says):
    with pytest.raises(UnreadableError) as caught:
        parse_document(data, "doc.json")
    assert (caught.value.code, (caught.value.line, caught.value.column)) == (code, place)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_accepts_what_json_allows():
    text = '{"a": [1, -2.5e3, true, null, "\\ud83d\\ude00", "\u2028"], "é": {}}'
    assert parse_document(text.encode(), "x").value == json.loads(text)


def test_64_levels_are_accepted():
    assert parse_document(b"[" * 64 + b"]" * 64, "x").value


def test_positions_of_paths():
    document = parse_document(b'{\n "arms": [\n  {"name": "a b"},\n  {"a b": 1}]}', "x")
    assert document.position("$") == (1, 1)
    assert document.position("$.arms[0].name") == (3, 12)
    assert document.position('$.arms[1]["a b"]') == (4, 11)
    assert document.position("$.arms[1].absent.deeper") == (4, 3)
    assert document.position("$.nothing") == (1, 1)


def test_files_that_are_none(tmp_path: Path):
    for path in (tmp_path, tmp_path / "absent.json", Path("/dev/null"), Path("a\0b")):
        with pytest.raises(RxError) as caught:
            read_document(path)
        assert caught.value.exit_code is ExitCode.USAGE


def test_digest_is_that_of_the_bytes(tmp_path: Path):
    (tmp_path / "a.json").write_bytes(b'{"a" : 1}\r\n')
    expected = "8071d9d5feef061253007f0b14a97e26e113a394d304a0ad72fb5fa38dfb3a77"  # sha256sum
    assert read_document(tmp_path / "a.json").sha256 == expected


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data):
    try:
        document = parse_document(data, "x")
    except UnreadableError as error:
        assert error.line >= 1 and error.column >= 1
    else:
        assert document.value == json.loads(data)


TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def paths(value, path="$"):
    from rx_tools.model.json_path import child

    yield path, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, child(path, key))
    if isinstance(value, list):
        for index, inner in enumerate(value):
            yield from paths(inner, child(path, index))


@given(TREES)
def test_two_ways_to_find_a_place_agree(tree):
    text = json.dumps(tree, indent=1)
    expected = {place.path: place.start for place in places(text)}
    assert {path: offset_of(text, path) for path in expected} == expected
    assert offset_of(text, "$.no[7]") is None


@given(TREES)
def test_every_position_points_at_its_value(tree):
    text = json.dumps(tree, indent=1)
    document = parse_document(text.encode(), "x")
    lines = text.split("\n")
    for path, value in paths(tree):
        line, column = document.position(path)
        rest = "\n".join([lines[line - 1][column - 1 :], *lines[line:]])
        assert json.JSONDecoder().raw_decode(rest)[0] == value
