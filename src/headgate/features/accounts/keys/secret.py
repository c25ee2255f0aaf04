"""The form of an API key: `hg_`, 8 characters that lists show, `_`, 37 secret ones, and a checksum of 6.

Letters and digits alone, so that a double click takes the whole. The checksum is the CRC-32 of everything before it,
in base 62: a slip of the hand is told without asking the database, and a scanner knows a key from chance. It hides
nothing.
"""

import hashlib
import re
import secrets
import string
import zlib

_LETTERS = string.digits + string.ascii_uppercase + string.ascii_lowercase
MARK = "hg_"
"""What every key begins with."""
DIRECTORY_MARK = "hg_scim_"
"""What the token of a directory begins with, which has the rest of a key's form."""
_PUBLIC, _SECRET, _CHECK = 8, 37, 6
_FORM = {mark: re.compile(mark + r"[0-9A-Za-z]{8}_[0-9A-Za-z]{43}", re.ASCII) for mark in (MARK, DIRECTORY_MARK)}
PREFIX_LENGTH = len(MARK) + _PUBLIC


def new_key(mark: str = MARK) -> str:
    """A new key, of 220 random bits."""
    body = f"{mark}{_random(_PUBLIC)}_{_random(_SECRET)}"
    return body + _checksum(body)


def is_key(text: str, mark: str = MARK) -> bool:
    """Whether a text has the form of a key, checksum included."""
    return _FORM[mark].fullmatch(text) is not None and _checksum(text[:-_CHECK]) == text[-_CHECK:]


def prefix_of(key: str, mark: str = MARK) -> str:
    """The part that lists, logs and the audit log show."""
    return key[: len(mark) + _PUBLIC]


def hash_of(key: str) -> str:
    """What is kept of a key: SHA-256, in hexadecimal."""
    return hashlib.sha256(key.encode()).hexdigest()


def _random(length: int) -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(length))


def _checksum(body: str) -> str:
    left, found = zlib.crc32(body.encode()), ""
    for _ in range(_CHECK):
        left, digit = divmod(left, len(_LETTERS))
        found = _LETTERS[digit] + found
    return found
