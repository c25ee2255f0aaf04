"""The chain of a tenant's entries. Pure: what is hashed, and how one entry is tied to the one before.

`content_digest` is the SHA-256 of the canonical JSON (RFC 8785) of every member of an entry but its place. `hash` is
the SHA-256 of three texts one after the other: the hash of the entry before, the place in decimal, the digest.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import orjson

from headgate.foundation.database import moment

GENESIS = "0" * 64
"""What stands before the first entry."""
_TIME = "%Y-%m-%dT%H:%M:%S.%fZ"


@dataclass(frozen=True)
class Entry:
    """One change, before it has a place in the chain. The members are those of `AuditEvent`."""

    tenant_id: str
    at: int
    """Microseconds since 1970 in UTC."""
    actor_kind: str
    actor_id: str
    actor_name: str
    key_id: str | None
    key_prefix: str | None
    address: str | None
    action: str
    resource_kind: str
    resource_id: str
    resource_name: str
    space_id: str | None
    before_digest: str | None
    after_digest: str | None
    payload: str

    @property
    def content(self) -> dict[str, Any]:
        """The members as they are hashed and exported; `at` as `2026-11-21T22:41:16.123456Z`."""
        return {name: getattr(self, name) for name in MEMBERS} | {"at": moment(self.at).strftime(_TIME)}

    @cached_property
    def content_digest(self) -> str:
        """64 hexadecimal digits that stand for every member."""
        return _digest(self.content)


MEMBERS = tuple(field.name for field in fields(Entry))
_MEMBERS = frozenset(MEMBERS)


def digest_of_content(content: Mapping[str, Any] | None) -> str | None:
    """The digest of an entry's members; None of what cannot be an entry."""
    if content is None or content.keys() != _MEMBERS:
        return None
    try:
        return _digest(content)
    except TypeError:
        return None


def _digest(content: Mapping[str, Any]) -> str:
    # Texts and nulls under names of small letters: sorted and without spaces, that is RFC 8785.
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()


def link(previous: str, seq: int, content_digest: str) -> str:
    """The hash of the entry at a place."""
    return hashlib.sha256(f"{previous}{seq}{content_digest}".encode()).hexdigest()
