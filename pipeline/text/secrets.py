"""What must not be told: passwords and signatures in addresses. All that is printed or written goes through here.

The request itself is made with the address as it was given (`remote/http.py`); all else knows it as `without_secrets`
gives it, also keys and mirrors: the same file under a renewed signature is the same file.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

HIDDEN = "***"
_LOGIN = re.compile(r"(?<=://)(?:[^\s/?#]{0,2000}@|[^\s/?#:@]{1,200}:(?!\d{0,9}(?:[/?#]|$))\S{0,2000}@)")
"""Before the host; also a password with an unescaped slash, which no server would be asked with."""
_QUERY = re.compile(r"(?<=[?#])[^\s?#]*=[^\s?#]*")
_CLOSING = re.compile(r"[\"'.,;:)\]}>]*$")
"""Of the sentence around an address, and not of its last value."""
_SECRET = (
    "token", "signature", "secret", "password", "passwd", "passphrase", "apikey", "accesskey", "accesskeyid",
    "accessid", "credential", "credentials", "keypairid", "authkey", "authorization", "sessionid", "sharedkey", "jwt",
)  # fmt: skip
"""How names of secret values end."""
_SECRET_NAMES = frozenset(("sig", "auth", "pwd", "pass", "sas", "hmac", "bearer", "login"))
_SECRET_STARTS = ("xamz", "xgoog")
_UNSURE = frozenset(("key", "code", "k"))
"""Names both of secrets and of files: a long value without a dot or a slash is taken for a secret."""
_AZURE = frozenset(
    ("sv", "ss", "srt", "sp", "se", "st", "spr", "sip", "sr", "skoid", "sktid", "skt", "ske", "sks", "skv")
)
_RENEWED = {"sig": _AZURE, "signature": frozenset(("expires", "policy"))}
"""Values that change with a secret of this name."""


def without_secrets(text: str) -> str:
    """`text`, of whose addresses logins and secret values of queries are hidden.

    >>> without_secrets("GET https://me:pw@host/a.npy?part=1&X-Amz-Signature=0f3a: refused")
    'GET https://***@host/a.npy?part=1&X-Amz-Signature=***: refused'
    """
    if "://" in text:
        text = _LOGIN.sub(f"{HIDDEN}@", text)
    return _QUERY.sub(_hidden_values, text) if "=" in text and ("?" in text or "#" in text) else text


def in_texts(value: Any, change: Callable[[str], str] = without_secrets) -> Any:
    """JSON of any form, its texts changed; keys of tables stay.

    >>> in_texts({"url": "https://me@host/", "rows": [1, None]})
    {'url': 'https://***@host/', 'rows': [1, None]}
    """
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: in_texts(inner, change) for key, inner in value.items()}
    return [in_texts(inner, change) for inner in value] if isinstance(value, (list, tuple)) else value


def _hidden_values(query: re.Match[str]) -> str:
    closing = _CLOSING.search(query[0])
    end = closing.start() if closing else len(query[0])
    parts = re.split("([&;])", query[0][:end])
    named = [part.partition("=") for part in parts]
    names = [_plain(name) for name, _, _ in named]
    renewed = frozenset[str]().union(*(_RENEWED.get(name, ()) for name in names))
    for k, (name, equals, value) in enumerate(named):
        if equals and (_is_secret(names[k], value) or names[k] in renewed):
            parts[k] = f"{name}={HIDDEN}"
    return "".join(parts) + query[0][end:]


def _plain(name: str) -> str:
    return re.sub("[^a-z0-9]", "", unquote(name).lower())


def _is_secret(name: str, value: str) -> bool:
    if name in _UNSURE:
        return len(value) >= 16 and not re.search(r"[./]|%2f", value, re.IGNORECASE)
    if name in _SECRET_NAMES or name.startswith(_SECRET_STARTS) or name.endswith(_SECRET):
        return True
    inner = unquote(value)  # An address as a value has its own.
    return inner != value and without_secrets(inner) != inner
