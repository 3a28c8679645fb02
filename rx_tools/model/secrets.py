"""What looks like a credential in a text: keys, tokens, auth headers, URLs that bear one.

Every pattern is bounded, so that a text of any size is searched in linear time. A digest, the name
of an environment variable and a placeholder are no alarm.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

PATTERNS = {
    "a service key": re.compile(
        r"\b(?:tml-[A-Za-z0-9_-]{16,200}|sk-[A-Za-z0-9_-]{20,200}|(?:ak|as|wk|ws)-[A-Za-z0-9]{20,64}"
        r"|hf_[A-Za-z0-9]{30,64}|gh[pousr]_[A-Za-z0-9]{36,64}|github_pat_[A-Za-z0-9_]{30,100}"
        r"|AKIA[0-9A-Z]{16}|xox[abprs]-[A-Za-z0-9-]{10,80})(?![A-Za-z0-9])"
    ),
    "a private key": re.compile(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----"),
    "a signed token": re.compile(
        r"\beyJ[A-Za-z0-9_-]{10,2000}\.[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,2000}"
    ),
    "an auth header": re.compile(
        r"(?i)\bauthorization[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?:bearer|basic|token)[ \t]{1,4}"
        r"(?P<value>[A-Za-z0-9._~+/=-]{8,2000})"
    ),
    "a proxy credential": re.compile(
        r"(?i)\bmodal-(?:key|secret)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?"
        r"(?P<value>[A-Za-z0-9_-]{8,200})"
    ),
    "a credential with its name": re.compile(
        r"(?i)(?:api[_-]?key|secret|passw(?:or)?d|passphrase|(?:access|auth|proxy)[_-]?token"
        r"|token[_-]?(?:id|secret)|private[_-]?key)\\?[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\?[\"']"
        r"(?P<value>[^\"'\\\s]{8,400})\\?[\"']"
    ),
    "an environment file": re.compile(
        r"(?m)^[ \t]{0,4}(?:export[ \t]{1,4})?[A-Z0-9_]{0,40}(?:API_KEY|SECRET|TOKEN|PASSWORD)"
        r"[A-Z0-9_]{0,20}=(?P<value>[^\s\"'$<{(]{8,400})$"
    ),
    "a URL with a password": re.compile(
        r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/@:\"'<>]{1,100}:(?P<value>[^\s/@\"'<>]{1,200})@"
    ),
    "a signed URL": re.compile(
        r"(?i)[?&](?:x-amz-signature|x-amz-security-token|x-goog-signature|signature|sig"
        r"|(?:access_)?token|api_?key)=(?P<value>[^&\s\"'<>]{8,2000})"
    ),
}

NEEDLES = {
    "a service key": ("tml-", "sk-", "ak-", "as-", "wk-", "ws-", "hf_", "gh", "akia", "xox"),
    "a private key": ("private key",),
    "a signed token": ("eyj",),
    "an auth header": ("authorization",),
    "a proxy credential": ("modal-",),
    "a credential with its name": ("key", "secret", "pass", "token"),
    "an environment file": ("key", "secret", "token", "password"),
    "a URL with a password": ("@",),
    "a signed URL": ("signature=", "sig=", "token=", "key="),
}
"""Words without one of which a pattern cannot match: most texts are searched for these only."""

PLACEHOLDER = re.compile(
    r"[\[$<{*].*|(?:[A-Z][A-Z0-9]*_)+[A-Z0-9]+|(?i:x+|\.+|redacted|removed|placeholder|unresolved.*)"
)


@dataclass(frozen=True, slots=True)
class Secret:
    """A place that looks like a credential; the value itself is never kept."""

    what: str
    start: int
    end: int


def secrets_in(text: str) -> Iterator[Secret]:
    """Every place in a text that looks like a credential, kind by kind."""
    lowered = text.lower()
    for what, pattern in PATTERNS.items():
        if not any(needle in lowered for needle in NEEDLES[what]):
            continue
        for match in pattern.finditer(text):
            group = "value" if "value" in pattern.groupindex else 0
            if PLACEHOLDER.fullmatch(match[group]) is None:
                yield Secret(what, match.start(group), match.end(group))


def redacted(text: str) -> str:
    """The text with every such place replaced by `[redacted]`."""
    places = sorted((secret.start, secret.end) for secret in secrets_in(text))
    pieces, position = [], 0
    for start, end in places:
        if end > position:
            pieces += [text[position : max(start, position)], "[redacted]"]
            position = end
    return "".join([*pieces, text[position:]])
