"""Ids that sort by time: UUID version 7 (RFC 9562) in its canonical text form."""

from uuid_utils import uuid7


def new_id() -> str:
    """A new id of 36 characters; later ids sort after earlier ones."""
    return str(uuid7())
