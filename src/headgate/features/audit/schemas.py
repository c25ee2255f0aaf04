"""What the audit log's routes answer."""

from datetime import datetime
from typing import Any

import orjson
from pydantic import BaseModel

from headgate.features.audit.tables import AuditEvent
from headgate.features.audit.walk import Verdict


class ActorOut(BaseModel):
    """Who did it."""

    kind: str
    """`user`, `key`, `command` or `system`."""
    id: str
    """The user's id; empty for the system."""
    name: str
    key_id: str | None
    key_prefix: str | None
    address: str | None
    """The network address that the request came from."""


class ResourceOut(BaseModel):
    """What it was done to, as it was called then."""

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
    """SHA-256 of the canonical JSON (RFC 8785) of what was there before; null for something new."""
    after_digest: str | None
    payload: Any
    """What was asked for, without secrets and cut to 2 KB."""
    content_digest: str
    hash: str

    @classmethod
    def of(cls, row: AuditEvent) -> "AuditOut":
        """The answer for a row."""
        return cls(
            seq=row.seq,
            at=row.at,
            action=row.action,
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
            before_digest=row.before_digest,
            after_digest=row.after_digest,
            payload=_payload(row.payload),
            content_digest=row.content_digest,
            hash=row.hash,
        )


class HeadOut(BaseModel):
    """The end of the chain: keep it where the owner of the database cannot reach, and give it to the next check."""

    seq: int
    """How many entries there are."""
    hash: str
    """The hash of the last; zeros when there is none."""


class FaultOut(BaseModel):
    """Something that does not hold."""

    where: str
    what: str


class VerdictOut(BaseModel):
    """What checking the chain came to."""

    verified: bool
    entries: int
    seq: int
    """The place of the last entry."""
    hash: str
    faults: list[FaultOut]
    more_faults: int
    """Faults beyond those listed."""

    @classmethod
    def of(cls, verdict: Verdict) -> "VerdictOut":
        """The answer for a verdict."""
        return cls(
            verified=verdict.good,
            entries=verdict.entries,
            seq=verdict.seq,
            hash=verdict.hash,
            faults=[FaultOut(where=fault.where, what=fault.what) for fault in verdict.faults],
            more_faults=verdict.more_faults,
        )


def _payload(stored: str) -> Any:  # noqa: ANN401 - any JSON value
    """The value; where somebody wrote into the row, the text that is there."""
    try:
        return orjson.loads(stored)
    except orjson.JSONDecodeError:
        return stored
