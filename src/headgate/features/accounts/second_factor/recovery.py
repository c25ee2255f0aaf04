"""Recovery codes: 80 random bits each, stored as a hash, each used once."""

import base64
import hashlib
import re
import secrets

COUNT = 10
CODE_BYTES = 10
_GROUP = 4
_FORM = re.compile(r"[a-z2-7]{16}")


def new_codes() -> list[str]:
    """Return new codes in display form: `abcd-efgh-2345-wxyz`."""
    return [_grouped(base64.b32encode(secrets.token_bytes(CODE_BYTES)).decode().lower()) for _ in range(COUNT)]


def is_code(text: str) -> bool:
    """Return whether a normalized text has the format of a recovery code."""
    return _FORM.fullmatch(text) is not None


def normalized(typed: str) -> str:
    """Return a typed code without spaces and hyphens, in lower case."""
    return re.sub(r"[\s-]", "", typed).lower()


def hash_of(user_id: str, code: str) -> str:
    """Return the stored form of a code. SHA-256 suffices for 80 random bits."""
    return hashlib.sha256(f"headgate recovery {user_id} {normalized(code)}".encode()).hexdigest()


def _grouped(code: str) -> str:
    return "-".join(code[start : start + _GROUP] for start in range(0, len(code), _GROUP))
