"""What credentials look like: rules that need no entropy, and raise no alarm on a digest.

Each rule is a pair: how it starts (short, for one fast pass over everything), and the exact
expression that is then tried around each start. Starts keep to the common subset of `re` and RE2.
"""

WORD = "A-Za-z0-9_-"
VALUE = "A-Za-z0-9._~+/=-"

TOKENS = {
    "aws-access-key": ("A(?:KIA|SIA|BIA|CCA)", r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}"),
    "github-token": (
        "gh[pousr]_|github_pat_",
        r"(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{22,})",
    ),
    "gitlab-token": ("glpat-", rf"glpat-[{WORD}]{{20,}}"),
    "slack-token": ("xox[abeoprs]-|xapp-", r"x(?:ox[abeoprs]|app)-[A-Za-z0-9-]{10,}"),
    "stripe-key": ("[sr]k_(?:live|test)_", r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    "sk-key": ("sk-", rf"sk-(?=[{WORD}]*[0-9])[{WORD}]{{20,}}"),
    "google-api-key": ("AIza", rf"AIza[{WORD}]{{35}}"),
    "google-oauth": (r"ya29\.|GOCSPX-", rf"(?:ya29\.|GOCSPX-)[{WORD}]{{20,}}"),
    "huggingface-token": ("hf_", r"hf_[A-Za-z0-9]{30,}"),
    "tinker-key": ("tml-", rf"tml-[{WORD}]{{16,}}"),
    "modal-token": ("[aw][ks]-", r"[aw][ks]-[A-Za-z0-9]{20,}"),
    "wandb-key": ("wandb_v", r"wandb_v[0-9]_\w{20,}"),
    "pypi-token": ("pypi-AgE", rf"pypi-AgE[{WORD}]{{40,}}"),
    "npm-token": ("npm_", r"npm_[A-Za-z0-9]{36,}"),
    "sendgrid-key": (r"SG\.", rf"SG\.[{WORD}]{{16,}}\.[{WORD}]{{20,}}"),
    "twilio-key": ("SK[0-9a-f]", r"SK[0-9a-f]{32}"),
    "databricks-token": ("dapi", r"dapi[0-9a-f]{32}"),
    "digitalocean-token": ("do[opr]_v1_", r"do[opr]_v1_[0-9a-f]{64}"),
    "docker-token": ("dckr_pat_", rf"dckr_pat_[{WORD}]{{20,}}"),
    "replicate-token": ("r8_", r"r8_[A-Za-z0-9]{30,}"),
    "groq-key": ("gsk_", r"gsk_[A-Za-z0-9]{30,}"),
    "age-key": ("AGE-SECRET-KEY-", r"AGE-SECRET-KEY-1[A-Z0-9]{20,}"),
    "jwt": ("eyJ", rf"eyJ[{WORD}]{{10,}}\.eyJ[{WORD}]{{10,}}\.[{WORD}]{{8,}}"),
    "bearer": (
        r"(?i:bearer|basic)\s",
        rf"(?i:bearer|basic)\s+(?=[{VALUE}]*[0-9=])[{VALUE}]{{16,}}",
    ),
}
"""Rules that fire only where none of `WORD` stands before: never inside base64url or a name."""

MEMBER = (
    r"(?i:api_?key|api-key|secret|access_?key|passw(?:or)?d|passphrase|access_?token|auth_?token"
    r"|refresh_?token|private_?key|bearer_?token|(?<![A-Za-z])token)"
)
LOOSE_MEMBER = MEMBER.replace("(?<![A-Za-z])", "")
HEADER = r"(?i:authorization|x-api-key|x-auth-token|modal-key|modal-secret|set-cookie)"
QUOTE = r"(?:\\{0,4}[\"'])"
"""A quotation mark, also one inside quoted JSON."""
QUERY = (
    r"(?i:x-amz-signature|x-amz-credential|x-amz-security-token|x-goog-signature"
    r"|x-goog-credential|signature|sig|awsaccesskeyid|access_token|api_?key|token|auth|password"
    r"|client_secret)="
)

AUTHORITY = r"://[^\s/@\"'<>?#]*@"

OTHERS = {
    "private-key": ("-----BEGIN ", r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY"),
    "url-password": (
        AUTHORITY,
        r"[A-Za-z][A-Za-z0-9+.-]{1,20}://(?P<value>[^\s/:@\"'<>?#]{0,100}:[^\s/@\"'<>?#]{1,200})@",
    ),
    "url-user": (AUTHORITY, r"(?i:https?|ftp)://(?P<value>(?!\[)[^\s/:@\"'<>?#]{1,200})@"),
    "signed-url": (f"[?&;]{QUERY}", rf"[?&;]{QUERY}(?P<value>(?!\[)[^\s&\"'<>]{{6,}})"),
    "credential-header": (
        rf"{HEADER}{QUOTE}?\s*[:=]",
        rf"{HEADER}{QUOTE}?\s*[:=]\s*{QUOTE}?(?:[A-Za-z]{{3,10}} )?"
        rf"(?P<value>(?=[{VALUE}]*[0-9])[{VALUE}]{{8,}})",
    ),
    "credential-member": (
        rf"{LOOSE_MEMBER}{QUOTE}?\]?\s*[:=]\s*{QUOTE}",
        rf"{MEMBER}{QUOTE}?\]?\s*[:=]\s*{QUOTE}(?P<value>(?![$<{{%\[])[^\s\"'\\]{{6,}}){QUOTE}",
    ),
    "environment-line": (
        r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)(?:_ID|_SECRET)?=",
        r"(?m:^|(?<=[;\s]))(?:export )?[A-Z][A-Z0-9_]{0,60}(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)"
        r"(?:_ID|_SECRET)?=[\"']?(?P<value>(?!\[)[^\s\"'$<>(){}]{6,})",
    ),
    "azure-key": (
        "(?i:accountkey|sharedaccesskey)=",
        r"(?i:accountkey|sharedaccesskey)=[A-Za-z0-9+/=]{20,}",
    ),
}

BEGIN_EARLIER = frozenset({"url-password", "url-user", "environment-line"})
"""Rules whose match begins before their start does."""
BEFORE, BEHIND = 130, 330
"""How far around their start those are looked for, in bytes."""


def starts() -> str:
    """All starts as one alternation."""
    tokens = "|".join(start for start, _ in TOKENS.values())
    others = "|".join(dict.fromkeys(start for start, _ in OTHERS.values()))
    return f"(?:^|[^{WORD}])(?:{tokens})|{others}"
