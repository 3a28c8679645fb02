"""Find credentials in texts: given values in every disguise, and what looks like one.

A hit says rule, place and length; never a character of what was found. Nothing is skipped for its
size or for lack of a newline. Nothing is read from the environment here: values are handed in.
"""

import base64
import json
import re
import urllib.parse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any

from rx_tools.model.secret_rules import (
    BEFORE,
    BEGIN_EARLIER,
    BEHIND,
    OTHERS,
    TOKENS,
    WORD,
    starts,
)

SHORTEST = 8
"""Shorter values of variables are no secrets: they would blank out ordinary words."""
VALUE = "environment-value"
ESCAPE = re.compile(rb"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
PERCENT = re.compile(rb"%[0-9A-Fa-f]{2}")
ROUNDS = 3
STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
NO_VALUES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class SecretHit:
    """Something that must not be published: the rule, the 1-based line, the length in bytes.

    `offset` counts bytes from the start of the line (after undoing escapes, where there are any).
    """

    rule: str
    line: int
    offset: int
    length: int

    def __str__(self) -> str:
        return f"{self.rule} at line {self.line}, byte {self.offset}, {self.length} bytes long"


def scan(data: bytes, known: Mapping[str, str] = NO_VALUES) -> list[SecretHit]:
    """Every credential in the bytes and in the strings that they encode, in order.

    `known` maps names of variables to their values.
    """
    matcher = Matcher.of(known)
    hits = set(matcher.hits(data))
    if b"\0" in data:
        hits |= set(matcher.hits(data.replace(b"\0", b"")))
    if any(matcher.found(view) for view in decoded_views(data)):
        for number, line in enumerate(data.split(b"\n"), 1):
            for view in decoded_views(line):
                hits |= set(matcher.hits(view, number))
    return sorted(hits, key=lambda hit: (hit.line, hit.offset, hit.rule))


def redact(text: str, known: Mapping[str, str] = NO_VALUES) -> str:
    """The text with every credential replaced by the name of its rule; JSON stays JSON."""
    matcher = Matcher.of(known)
    data = text.encode("utf-8", "surrogatepass")
    for start, end, rule in sorted(matcher.spans(data), reverse=True):
        data = data[:start] + f"[redacted: {rule}]".encode() + data[end:]
    if not is_clean(matcher, data):
        data = STRING.sub(lambda match: redacted_string(matcher, match[0], known), data)
        lines = data.split(b"\n")
        data = b"\n".join(line if is_clean(matcher, line) else b"[redacted line]" for line in lines)
    return data.decode("utf-8", "surrogatepass")


def redacted_string(matcher: "Matcher", literal: bytes, known: Mapping[str, str]) -> bytes:
    """A JSON string whose content hides a credential behind escapes, written again without it."""
    if is_clean(matcher, literal):
        return literal
    try:
        content = json.loads(literal)
    except ValueError:
        return literal
    return json.dumps(redact(content, known), ensure_ascii=literal.isascii()).encode()


def is_clean(matcher: "Matcher", data: bytes) -> bool:
    """Whether nothing hides behind escapes."""
    return not any(matcher.found(view) for view in decoded_views(data))


def decoded_views(data: bytes) -> Iterator[bytes]:
    """The bytes after undoing JSON, Python and URL escapes, up to three times over."""
    if not (b"\\" in data or b"%" in data) or not is_text(data):
        return
    for _ in range(ROUNDS):
        before = data
        if b"\\" in data:
            data = ESCAPE.sub(unescaped, data)
        if b"%" in data and PERCENT.search(data):
            data = urllib.parse.unquote_to_bytes(data)
        if data == before:
            return
        yield data


def is_text(data: bytes) -> bool:
    """Whether the bytes are UTF-8: what else would hold escaped strings?"""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def unescaped(escape: re.Match[bytes]) -> bytes:
    """One escape undone; a line end becomes a space, so that lines keep their numbers."""
    code = escape[1] or escape[2]
    if code:
        return chr(int(code, 16)).encode("utf-8", "replace").replace(b"\n", b" ")
    return b" " if escape[3] in b"nrtfvb\n" else escape[3]


def compiled(expression: bytes) -> Any:
    """An RE2 pattern where RE2 is installed (linear and fast), else one of `re`."""
    try:
        import re2
    except ImportError:
        return re.compile(expression)
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.max_mem = 64 << 20
    return re2.compile(expression, options)


@cache
def start_pattern() -> Any:
    """The fast pass."""
    return compiled(starts().encode())


@cache
def exact_patterns() -> dict[str, re.Pattern[bytes]]:
    """The exact rules by name."""
    tokens = {name: f"(?<![{WORD}]){rule}" for name, (_, rule) in TOKENS.items()}
    others = {name: rule for name, (_, rule) in OTHERS.items()}
    return {name: re.compile(rule.encode()) for name, rule in {**tokens, **others}.items()}


@cache
def start_names() -> tuple[re.Pattern[bytes], tuple[tuple[str, ...], ...]]:
    """An expression whose n-th group matches the n-th start, and the rules of each start."""
    rules_of: dict[str, tuple[str, ...]] = {}
    for name, (start, _) in (*TOKENS.items(), *OTHERS.items()):
        rules_of[start] = (*rules_of.get(start, ()), name)
    tokens = "|".join(f"({start})" for start, _ in TOKENS.values())
    others = "|".join(
        f"({start})" for start in dict.fromkeys(start for start, _ in OTHERS.values())
    )
    expression = f"(?:^|[^{WORD}])(?:{tokens})|{others}"
    return re.compile(expression.encode()), tuple(rules_of.values())


def around(data: bytes, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """The exact matches of a place where something may start."""
    names, rules_of = start_names()
    which = names.match(data, start, end)
    for name in rules_of[(which.lastindex or 1) - 1] if which else ():
        rule = exact_patterns()[name]
        if name in BEGIN_EARLIER:
            near = rule.finditer(data, max(0, start - BEFORE), end + BEHIND)
            match = next((m for m in near if m.start() <= start and end <= m.end()), None)
        else:
            match = rule.match(data, start) or rule.match(data, start + 1)
        if match and not PLACEHOLDER.search(match[0]):
            yield *match.span("value" if "value" in rule.groupindex else 0), name


@dataclass(frozen=True, slots=True)
class Matcher:
    """The rules, and the disguises of the known values (None where there is no value)."""

    values: Any

    @classmethod
    def of(cls, known: Mapping[str, str]) -> "Matcher":
        """A matcher for these values; the same values give the same matcher."""
        return _matcher(
            tuple(sorted({value for value in known.values() if len(value) >= SHORTEST}))
        )

    def found(self, data: bytes) -> bool:
        """Whether there is anything at all."""
        if self.values is not None and self.values.search(data):
            return True
        return next(self.rule_spans(data), None) is not None

    def hits(self, data: bytes, line: int = 0) -> Iterator[SecretHit]:
        """Every finding; `line` is the number to report when the data is one line."""
        if not self.found(data):
            return
        for start, end, rule in self.spans(data):
            begin = data.rfind(b"\n", 0, start) + 1
            number = line or data.count(b"\n", 0, start) + 1
            yield SecretHit(rule, number, start - begin, end - start)

    def spans(self, data: bytes) -> list[tuple[int, int, str]]:
        """Start, end and rule of every finding; findings do not overlap."""
        found = [(*match.span(), VALUE) for match in self.value_matches(data)]
        spans: list[tuple[int, int, str]] = []
        for start, end, rule in sorted([*found, *self.rule_spans(data)]):
            if spans and start < spans[-1][1]:
                first, last, name = spans[-1]
                spans[-1] = (first, max(last, end), name)
            else:
                spans.append((start, end, rule))
        return spans

    def value_matches(self, data: bytes) -> Iterator[Any]:
        """The places of known values."""
        return iter(()) if self.values is None else self.values.finditer(data)

    def rule_spans(self, data: bytes) -> Iterator[tuple[int, int, str]]:
        """The places where a rule fires, without placeholders."""
        for start in start_pattern().finditer(data):
            yield from around(data, *start.span())


PLACEHOLDER = re.compile(
    rb"(?i)environ|getenv|\byour[_-]|example|placeholder|redacted|\*{3}|x{6}|\.\.\.|not set"
)
"""What only stands in for a credential."""


@lru_cache(maxsize=16)
def _matcher(values: tuple[str, ...]) -> Matcher:
    disguises = sorted({form for value in values for form in forms(value)}, key=len, reverse=True)
    if not disguises:
        return Matcher(None)
    return Matcher(compiled(b"|".join(re.escape(form) for form in disguises)))


def forms(value: str) -> Iterator[bytes]:
    """The ways in which a value may be written down."""
    raw = value.encode("utf-8", "surrogatepass")
    yield raw
    yield raw[::-1]
    yield repr(raw)[2:-1].encode()
    quoted = urllib.parse.quote(value, safe="", errors="replace")
    yield quoted.encode()
    yield re.sub("%[0-9A-F]{2}", lambda match: match[0].lower(), quoted).encode()
    yield urllib.parse.quote_plus(value, errors="replace").encode()
    yield json.dumps(value)[1:-1].encode()
    yield json.dumps(json.dumps(value)[1:-1])[1:-1].encode()
    yield value.encode("utf-16-le", "surrogatepass")
    yield value.encode("utf-16-be", "surrogatepass")
    yield raw.hex().encode()
    yield raw.hex().upper().encode()
    for shift in range(3):
        yield from base64_cores(raw, shift)


def base64_cores(raw: bytes, shift: int) -> Iterator[bytes]:
    """The characters of a base64 text that depend on nothing but the value inside it."""
    encoded = base64.b64encode(b"\0" * shift + raw).rstrip(b"=")
    first = (shift * 8 + 5) // 6
    whole = (shift + len(raw)) * 8 // 6
    core = encoded[first:whole]
    if len(core) >= SHORTEST:
        yield core
        yield core.translate(bytes.maketrans(b"+/", b"-_"))
