"""Format of an API key: `hg_`, 8 characters shown in lists, `_`, 37 secret ones, and a checksum of 6.

Only letters and digits, so that a double click selects the key. The checksum is the CRC-32 of everything before it, in
base 62: typing errors are detected without a query, and scanners can recognise keys. It protects nothing.
"""

import hashlib
import re
import secrets
import string
import zlib

_LETTERS = string.digits + string.ascii_uppercase + string.ascii_lowercase
MARK = "hg_"
"""Prefix of every key."""
DIRECTORY_MARK = "hg_scim_"
"""Prefix of a directory's token, which otherwise has the format of a key."""
_PUBLIC, _SECRET, _CHECK = 8, 37, 6
_FORM = {mark: re.compile(mark + r"[0-9A-Za-z]{8}_[0-9A-Za-z]{43}", re.ASCII) for mark in (MARK, DIRECTORY_MARK)}
PREFIX_LENGTH = len(MARK) + _PUBLIC


def new_key(mark: str = MARK) -> str:
    """Return a new key, of 220 random bits."""
    body = f"{mark}{_random(_PUBLIC)}_{_random(_SECRET)}"
    return body + _checksum(body)


def is_key(text: str, mark: str = MARK) -> bool:
    """Return whether a text has the format of a key, including the checksum."""
    return _FORM[mark].fullmatch(text) is not None and _checksum(text[:-_CHECK]) == text[-_CHECK:]


def prefix_of(key: str, mark: str = MARK) -> str:
    """Return the part that lists, logs and the audit log show."""
    return key[: len(mark) + _PUBLIC]


def hash_of(key: str) -> str:
    """Return the stored form of a key: SHA-256, in hexadecimal."""
    return hashlib.sha256(key.encode()).hexdigest()


def _random(length: int) -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(length))


def _checksum(body: str) -> str:
    remainder, digits = zlib.crc32(body.encode()), ""
    for _ in range(_CHECK):
        remainder, digit = divmod(remainder, len(_LETTERS))
        digits = _LETTERS[digit] + digits
    return digits
