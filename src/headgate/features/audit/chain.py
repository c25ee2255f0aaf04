"""Hash chain of a tenant's entries. Pure: what is hashed, and how an entry is linked to the previous one.

`content_digest` is the SHA-256 of the canonical JSON (RFC 8785) of every member of an entry except its number. `hash`
is the SHA-256 of three concatenated texts: the hash of the previous entry, the number in decimal, the digest.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import orjson

from headgate.foundation.database import moment

GENESIS = "0" * 64
"""Hash before the first entry."""
_TIME = "%Y-%m-%dT%H:%M:%S.%fZ"


@dataclass(frozen=True)
class Entry:
    """One change, before it has a number in the chain. The members are those of `AuditEvent`."""

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
        """Return the members in hashed and exported form; `at` as `2026-11-21T22:41:16.123456Z`."""
        return {name: getattr(self, name) for name in MEMBERS} | {"at": moment(self.at).strftime(_TIME)}

    @cached_property
    def content_digest(self) -> str:
        """Return 64 hexadecimal digits computed from every member."""
        return _digest(self.content)


MEMBERS = tuple(field.name for field in fields(Entry))
_MEMBERS = frozenset(MEMBERS)


def digest_of_content(content: Mapping[str, Any] | None) -> str | None:
    """Return the digest of an entry's members; None when they are not a valid entry."""
    if content is None or content.keys() != _MEMBERS:
        return None
    try:
        return _digest(content)
    except TypeError:
        return None


def _digest(content: Mapping[str, Any]) -> str:
    # Texts and nulls with lower-case names: sorted and without spaces, that is RFC 8785.
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()


def link(previous: str, seq: int, content_digest: str) -> str:
    """Return the hash of the entry with a number."""
    return hashlib.sha256(f"{previous}{seq}{content_digest}".encode()).hexdigest()
