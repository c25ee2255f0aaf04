"""Recovery codes: 80 random bits each, kept as a hash, each used once."""

import base64
import hashlib
import re
import secrets

COUNT = 10
CODE_BYTES = 10
_GROUP = 4
_FORM = re.compile(r"[a-z2-7]{16}")


def new_codes() -> list[str]:
    """New codes as they are shown: `abcd-efgh-2345-wxyz`."""
    return [_grouped(base64.b32encode(secrets.token_bytes(CODE_BYTES)).decode().lower()) for _ in range(COUNT)]


def is_code(plain: str) -> bool:
    """Whether a normalized text has the form of a recovery code."""
    return _FORM.fullmatch(plain) is not None


def normalized(typed: str) -> str:
    """A typed code without spaces and hyphens, in lower case."""
    return re.sub(r"[\s-]", "", typed).lower()


def hash_of(user_id: str, code: str) -> str:
    """What is kept of a code. SHA-256 is enough: nobody guesses 80 bits."""
    return hashlib.sha256(f"headgate recovery {user_id} {normalized(code)}".encode()).hexdigest()


def _grouped(code: str) -> str:
    return "-".join(code[at : at + _GROUP] for at in range(0, len(code), _GROUP))
