"""Ids that sort by time: UUID version 7 (RFC 9562) in its canonical text form."""

import re

from uuid_utils import uuid7

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)


def new_id() -> str:
    """A new id of 36 characters; later ids sort after earlier ones."""
    return str(uuid7())


def is_id(text: str) -> bool:
    """Whether a text has the form of an id; what has not is never asked of a database or made a path."""
    return _ID.fullmatch(text) is not None


def made_at(id_: str) -> int:
    """When an id was made, in milliseconds since 1970: the first 48 bits of a UUID of version 7."""
    return int(id_[:8] + id_[9:13], 16)
