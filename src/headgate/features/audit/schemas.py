"""API schemas of the audit log."""

from datetime import datetime
from typing import Any

import orjson
from pydantic import BaseModel

from headgate.features.audit.tables import AuditEvent
from headgate.features.audit.walk import Verdict
from headgate.foundation.shaped import shaped


class ActorOut(BaseModel):
    """The actor."""

    kind: str
    """`user`, `key`, `command` or `system`."""
    id: str
    """The user's id; empty for the system."""
    name: str
    key_id: str | None
    key_prefix: str | None
    address: str | None
    """The network address of the request."""


class ResourceOut(BaseModel):
    """The object, with its name at the time."""

    kind: str
    id: str
    name: str
    space_id: str | None


class AuditOut(BaseModel):
    """An entry of the audit log."""

    seq: int
    at: datetime
    action: str
    actor: ActorOut
    resource: ResourceOut
    before_digest: str | None
    """SHA-256 of the canonical JSON (RFC 8785) of the previous value; null for something new."""
    after_digest: str | None
    payload: Any
    """The request, without secrets and truncated to 2 KB."""
    content_digest: str
    hash: str

    @classmethod
    def of(cls, row: AuditEvent) -> "AuditOut":
        """Return the schema of a row."""
        return shaped(
            cls,
            row,
            actor=ActorOut(
                kind=row.actor_kind,
                id=row.actor_id,
                name=row.actor_name,
                key_id=row.key_id,
                key_prefix=row.key_prefix,
                address=row.address,
            ),
            resource=ResourceOut(
                kind=row.resource_kind, id=row.resource_id, name=row.resource_name, space_id=row.space_id
            ),
            payload=_payload(row.payload),
        )


class HeadOut(BaseModel):
    """The end of the chain: store it where the owner of the database has no access, and pass it to the next check."""

    seq: int
    """Number of entries."""
    hash: str
    """Hash of the last entry; zeros when there is none."""


class FaultOut(BaseModel):
    """A fault in the chain."""

    where: str
    what: str


class VerdictOut(BaseModel):
    """The result of a verification."""

    verified: bool
    entries: int
    seq: int
    """Number of the last entry."""
    hash: str
    faults: list[FaultOut]
    more_faults: int
    """Number of faults that are not listed."""

    @classmethod
    def of(cls, verdict: Verdict) -> "VerdictOut":
        """Return the schema of a verdict."""
        return shaped(
            cls,
            verdict,
            verified=verdict.good,
            faults=[FaultOut(where=fault.where, what=fault.what) for fault in verdict.faults],
        )


def _payload(stored: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value; for a tampered row, its text."""
    try:
        return orjson.loads(stored)
    except orjson.JSONDecodeError:
        return stored
