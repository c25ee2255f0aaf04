"""Ids that sort by time: UUID version 7 (RFC 9562) in its canonical text form."""

import re

from uuid_utils import uuid7

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)


def new_id() -> str:
    """Return a new id of 36 characters; later ids sort after earlier ones."""
    return str(uuid7())


def is_id(text: str) -> bool:
    """Return whether a text has the form of an id; other text is never used in a query or path."""
    return _ID.fullmatch(text) is not None


def made_at(id_: str) -> int:
    """Return when an id was created, in milliseconds since 1970: the first 48 bits of a version 7 UUID."""
    return int(id_[:8] + id_[9:13], 16)


def lowest_id(milliseconds: int) -> str:
    """Return a lower bound of the ids that are created at or after a time, in milliseconds since 1970."""
    digits = f"{max(milliseconds, 0):012x}"
    return f"{digits[:8]}-{digits[8:]}-0000-0000-000000000000"
