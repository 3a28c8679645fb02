"""Ways to tamper with a ledger; each is detected, and named for what it is.

The reader knows the run and the head (count and digest of the last line) that were noted when the
ledger was whole, as a record, a bundle or a clearance note them.
"""

import hashlib
import json

import pytest

from rx_tools.evidence.ledger_reading import Fault, judge_ledger
from tests.evidence.forge import TRUE

WHOLE = (TRUE / "ledger.jsonl").read_bytes()
LINES = WHOLE.splitlines(keepends=True)
N = len(LINES)
GOOD = judge_ledger(WHOLE)
RUN = GOOD.lines[0].run
STRANGER = WHOLE.replace(RUN.encode(), b"another-run")


def canonical(body):
    return json.dumps(body, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def rechained(lines):
    """Lines with numbers and links made to fit: what a careful forger writes."""
    previous, out = "0" * 64, []
    for number, line in enumerate(lines, 1):
        raw = canonical({**json.loads(line), "seq": number, "prev": previous})
        previous = hashlib.sha256(raw[:-1]).hexdigest()
        out.append(raw)
    return b"".join(out)


def line(number, change):
    """One line (1-based) changed as bytes."""

    def tamper():
        lines = list(LINES)
        lines[number - 1] = change(lines[number - 1])
        return b"".join(lines)

    return tamper


def member(number, **changes):
    """Members of one line changed, written canonically; links are left."""
    return line(number, lambda raw: canonical(json.loads(raw) | changes))


def without(number, name):
    def drop(raw):
        body = json.loads(raw)
        del body[name]
        return canonical(body)

    return line(number, drop)


def data(number, **changes):
    def edit(raw):
        body = json.loads(raw)
        body["data"] |= changes
        return canonical(body)

    return line(number, edit)


def lines(change):
    return lambda: b"".join(change(list(LINES)))


def forged(change):
    return lambda: rechained(change(list(LINES)))


def moved(source, target):
    def change(found):
        found.insert(target - 1, found.pop(source - 1))
        return found

    return change


def edited(number, **changes):
    def change(found):
        found[number - 1] = canonical(json.loads(found[number - 1]) | changes)
        return found

    return change


def respaced(raw):
    return json.dumps(json.loads(raw), sort_keys=True).encode() + b"\n"


def unsorted(raw):
    body = json.loads(raw)
    return canonical_of(dict(reversed(body.items())))


def canonical_of(body):
    return json.dumps(body, separators=(",", ":")).encode() + b"\n"


UPDATE = next(x.seq for x in GOOD.lines if x.event == "update_acknowledged" and x.data["step"] == 5)
MIDDLE = N // 2
EARLY, LATE = "2020-01-01T00:00:00.000000Z", "2099-01-01T00:00:00.000000Z"


TAMPERINGS = {
    # cut off
    "the last line lost": (lines(lambda x: x[:-1]), Fault.TRUNCATED),
    "half of it lost": (lines(lambda x: x[:MIDDLE]), Fault.TRUNCATED),
    "all but the first line lost": (lines(lambda x: x[:1]), Fault.TRUNCATED),
    "everything lost": (lambda: b"", Fault.EMPTY),
    "only the newline lost": (lambda: WHOLE[:-1], Fault.TRUNCATED),
    "half of the last line lost": (lambda: WHOLE[:-50], Fault.TRUNCATED),
    "cut off and made to fit": (forged(lambda x: x[:-3]), Fault.TRUNCATED),
    "the beginning lost": (lines(lambda x: x[1:]), Fault.SEQUENCE),
    "the beginning lost and made to fit": (forged(lambda x: x[1:]), Fault.TRUNCATED),
    # removed
    "a line removed": (lines(lambda x: x[: MIDDLE - 1] + x[MIDDLE:]), Fault.CHAIN),
    "a line removed and renumbered": (
        lines(
            lambda x: (
                x[: MIDDLE - 1]
                + [canonical(json.loads(r) | {"seq": json.loads(r)["seq"] - 1}) for r in x[MIDDLE:]]
            )
        ),
        Fault.CHAIN,
    ),
    "a line removed and made to fit": (
        forged(lambda x: x[: MIDDLE - 1] + x[MIDDLE:]),
        Fault.TRUNCATED,
    ),
    "every gate removed": (lines(lambda x: [r for r in x if b"gate_judged" not in r]), Fault.CHAIN),
    "a line replaced by a copy of another, made to fit": (
        forged(lambda x: [*x[: MIDDLE - 1], x[MIDDLE - 2], *x[MIDDLE:]]),
        Fault.REWRITTEN,
    ),
    # added
    "a line twice": (lines(lambda x: [*x[:MIDDLE], x[MIDDLE - 1], *x[MIDDLE:]]), Fault.SEQUENCE),
    "a line twice and made to fit": (
        forged(lambda x: [*x[:MIDDLE], x[MIDDLE - 1], *x[MIDDLE:]]),
        Fault.REWRITTEN,
    ),
    "the last line twice": (lines(lambda x: [*x, x[-1]]), Fault.SEQUENCE),
    "everything twice": (lambda: WHOLE + WHOLE, Fault.SEQUENCE),
    "an invented line": (
        lines(lambda x: [*x, canonical(json.loads(x[-1]) | {"seq": N + 1})]),
        Fault.CHAIN,
    ),
    "a blank line": (lines(lambda x: [*x[:5], b"\n", *x[5:]]), Fault.FORM),
    "a comment": (lines(lambda x: [b"# ledger\n", *x]), Fault.FORM),
    "a blank line at the end": (lambda: WHOLE + b"\n", Fault.FORM),
    "binary noise between": (lines(lambda x: [*x[:5], b"\x00\xff\x80\n", *x[5:]]), Fault.FORM),
    # reordered
    "two neighbours exchanged": (lines(moved(MIDDLE, MIDDLE + 1)), Fault.CHAIN),
    "two neighbours exchanged and made to fit": (
        forged(moved(MIDDLE, MIDDLE + 1)),
        Fault.REWRITTEN,
    ),
    "the evaluator frozen later": (lines(moved(7, N)), Fault.SEQUENCE),
    "the evaluator frozen later, made to fit": (forged(moved(7, N)), Fault.CLOCK),
    "backwards": (lines(lambda x: x[::-1]), Fault.SEQUENCE),
    "backwards and made to fit": (forged(lambda x: x[::-1]), Fault.CLOCK),
    "halves exchanged": (lines(lambda x: x[MIDDLE:] + x[:MIDDLE]), Fault.SEQUENCE),
    # another run
    "another run's ledger": (lambda: STRANGER, Fault.OTHER_RUN),
    "another run's line": (
        line(MIDDLE, lambda raw: raw.replace(RUN.encode(), b"another-run")),
        Fault.OTHER_RUN,
    ),
    "another run's lines, made to fit": (
        forged(lambda x: x[:5] + STRANGER.splitlines(keepends=True)[5:10] + x[10:]),
        Fault.OTHER_RUN,
    ),
    "another run's end": (
        lines(lambda x: x[:MIDDLE] + STRANGER.splitlines(keepends=True)[MIDDLE:]),
        Fault.OTHER_RUN,
    ),
    "another run's end, made to fit": (
        forged(lambda x: x[:MIDDLE] + STRANGER.splitlines(keepends=True)[MIDDLE:]),
        Fault.OTHER_RUN,
    ),
    "another ledger of the same run": (
        forged(edited(1, time="2026-11-29T20:00:00.000000Z")),
        Fault.REWRITTEN,
    ),
    # edited
    "an edited figure": (data(UPDATE, train_nll=0.1), Fault.CHAIN),
    "an edited figure, made to fit": (
        lambda: rechained(data(UPDATE, train_nll=0.1)().splitlines(keepends=True)),
        Fault.REWRITTEN,
    ),
    "an edited figure in the last line": (data(N, verdict="supported"), Fault.REWRITTEN),
    "an edited event": (member(MIDDLE, event="run_interrupted"), Fault.CHAIN),
    "an edited time": (member(MIDDLE, time=LATE), Fault.CHAIN),
    "an edited file digest": (member(2, files={"plan.json": "0" * 64}), Fault.CHAIN),
    "a file more": (member(2, files={"a": "0" * 64}), Fault.CHAIN),
    "an edited link": (member(MIDDLE, prev="0" * 64), Fault.CHAIN),
    "a first line that follows something": (member(1, prev="1" * 64), Fault.CHAIN),
    "an edited number": (member(MIDDLE, seq=MIDDLE + 1), Fault.SEQUENCE),
    "a number of zero": (member(1, seq=0), Fault.SEQUENCE),
    "a negative number": (member(1, seq=-1), Fault.SEQUENCE),
    "one flipped bit": (
        lambda: WHOLE[:5000] + bytes([WHOLE[5000] ^ 1]) + WHOLE[5001:],
        (Fault.CHAIN, Fault.FORM, Fault.SHAPE),
    ),
    # clocks
    "a clock that ran backwards": (member(MIDDLE, time=EARLY), Fault.CLOCK),
    "a clock that ran backwards, made to fit": (forged(edited(MIDDLE, time=EARLY)), Fault.CLOCK),
    "a clock that ran ahead, made to fit": (forged(edited(MIDDLE, time=LATE)), Fault.CLOCK),
    # kinds and members
    "a missing member": (without(MIDDLE, "data"), Fault.SHAPE),
    "a missing link": (without(MIDDLE, "prev"), Fault.SHAPE),
    "an unknown member": (member(MIDDLE, note="x"), Fault.SHAPE),
    "a number as a text": (member(MIDDLE, seq=str(MIDDLE)), Fault.SHAPE),
    "a number as a boolean": (member(1, seq=True), Fault.SHAPE),
    "a number with a point": (member(MIDDLE, seq=float(MIDDLE)), Fault.SHAPE),
    "a time in another zone": (
        line(MIDDLE, lambda raw: raw.replace(b'Z"}', b'+00:00"}')),
        Fault.SHAPE,
    ),
    "a time that does not exist": (member(MIDDLE, time="2026-02-30T00:00:00.000000Z"), Fault.SHAPE),
    "a time in other digits": (
        member(MIDDLE, time="٢٠٢٦-11-29T20:10:00.000000Z"),
        Fault.SHAPE,
    ),
    "a time as a number": (member(MIDDLE, time=1796000000), Fault.SHAPE),
    "data as a list": (member(MIDDLE, data=[]), Fault.SHAPE),
    "files as a list": (member(MIDDLE, files=[]), Fault.SHAPE),
    "a file digest that is none": (member(2, files={"plan.json": "x"}), Fault.SHAPE),
    "an upper-case digest": (member(2, files={"plan.json": "AB" * 32}), Fault.SHAPE),
    "an event with a line end": (member(MIDDLE, event="run_created\n"), Fault.SHAPE),
    "no run": (member(MIDDLE, run=""), Fault.SHAPE),
    "a line that is a list": (line(MIDDLE, lambda raw: b"[]\n"), Fault.SHAPE),
    "a line that is null": (line(MIDDLE, lambda raw: b"null\n"), Fault.SHAPE),
    # bytes
    "spaces": (line(MIDDLE, respaced), Fault.FORM),
    "another order of members": (line(MIDDLE, unsorted), Fault.FORM),
    "a doubled member": (
        line(MIDDLE, lambda raw: raw.replace(b'"event":', b'"event":"x","event":', 1)),
        Fault.FORM,
    ),
    "a doubled member inside": (
        line(UPDATE, lambda raw: raw.replace(b'"step":', b'"step":0,"step":', 1)),
        Fault.FORM,
    ),
    "NaN": (line(UPDATE, lambda raw: raw.replace(b'"step":5', b'"step":NaN')), Fault.FORM),
    "an infinity": (
        line(UPDATE, lambda raw: raw.replace(b'"step":5', b'"step":1e999')),
        Fault.FORM,
    ),
    "an endless number": (
        line(UPDATE, lambda raw: raw.replace(b'"step":5', b'"step":' + b"1" * 5000)),
        Fault.FORM,
    ),
    "a number spelled otherwise": (
        line(UPDATE, lambda raw: raw.replace(b'"step":5', b'"step":5e0')),
        Fault.FORM,
    ),
    "an escaped letter": (
        line(MIDDLE, lambda raw: raw.replace(b'"event":"', b'"event":"\\u0061', 1)),
        Fault.FORM,
    ),
    "a letter that is not ASCII": (
        line(MIDDLE, lambda raw: raw.replace(b'"run":"', '"run":"ä'.encode())),
        Fault.FORM,
    ),
    "bytes that are not UTF-8": (
        line(MIDDLE, lambda raw: raw.replace(b'"run":"', b'"run":"\xff')),
        Fault.FORM,
    ),
    "a lone surrogate": (
        line(MIDDLE, lambda raw: raw.replace(b'"run":"', b'"run":"\\ud800')),
        Fault.OTHER_RUN,
    ),
    "deep nesting": (
        line(UPDATE, lambda raw: raw.replace(b'"step":5', b'"step":' + b"[" * 9000 + b"]" * 9000)),
        Fault.FORM,
    ),
    "text after a line": (line(MIDDLE, lambda raw: raw[:-1] + b" x\n"), Fault.FORM),
    "two lines in one": (line(MIDDLE, lambda raw: raw[:-1]), Fault.FORM),
    "a line broken in two": (
        line(MIDDLE, lambda raw: raw[:40] + b"\n" + raw[40:]),
        Fault.FORM,
    ),
    "carriage returns": (lambda: WHOLE.replace(b"\n", b"\r\n"), Fault.FORM),
    "other line ends": (lambda: WHOLE.replace(b"\n", b"\r"), Fault.EMPTY),
    "a byte-order mark": (lambda: b"\xef\xbb\xbf" + WHOLE, Fault.FORM),
    "another coding": (lambda: WHOLE.decode().encode("utf-16"), Fault.FORM),
    "zeros in a line": (line(MIDDLE, lambda raw: b"\0" * len(raw[:-1]) + b"\n"), Fault.FORM),
    "a line too long to be one": (
        line(UPDATE, lambda raw: raw.replace(b'"step":5', b'"step":"' + b"x" * (1 << 24) + b'"')),
        Fault.FORM,
    ),
}


@pytest.mark.parametrize("kind", TAMPERINGS)
def test_tampering_is_detected_and_named(kind):
    tamper, named = TAMPERINGS[kind]
    content = tamper()
    assert content != WHOLE
    found = judge_ledger(content, run=RUN, head=GOOD.head)
    assert {finding.fault for finding in found.damage} & set(
        named if isinstance(named, tuple) else [named]
    ), found.findings


def test_the_whole_ledger_has_no_finding_and_there_are_enough_kinds():
    assert not judge_ledger(WHOLE, run=RUN, head=GOOD.head).findings
    assert len(TAMPERINGS) >= 60


def test_any_one_changed_byte_is_detected():
    """Every 7th byte of the whole ledger, one at a time, in a short ledger of its own."""
    short = rechained(LINES[:4])
    head = judge_ledger(short).head
    for place in range(0, len(short), 7):
        changed = short[:place] + bytes([short[place] ^ 1]) + short[place + 1 :]
        assert judge_ledger(changed, run=RUN, head=head).damage, place
