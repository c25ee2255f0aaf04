"""The record of a session from its events, also as signed evidence."""

from collections.abc import Sequence
from typing import Any

from headgate.agents.codev.sessions import repository
from headgate.agents.codev.tables import EventRow, SessionRow
from headgate.features.access.principal import Principal
from headgate.features.runs.evidence.archive import as_json
from headgate.features.runs.evidence.masking import Mask
from headgate.features.runs.evidence.record import make_record
from headgate.features.runs.evidence.service import Notary
from headgate.foundation.database import Database

_AT_ONCE = 500
_WITHOUT = frozenset({"usage"})
"""Kinds of events that are not part of the record."""


async def read_events(database: Database, session_id: str) -> Sequence[EventRow]:
    """All events of a session, in order."""
    events: list[EventRow] = []
    while True:
        after = events[-1].number if events else 0
        async with database.reading() as session:
            page = await repository.read_events(session, session_id, after=after, limit=_AT_ONCE)
        events += page
        if len(page) < _AT_ONCE:
            return [event for event in events if event.kind not in _WITHOUT]


async def evidence_of(database: Database, notary: Notary, principal: Principal, row: SessionRow) -> bytes:
    """Return the record, masked, chained and signed. It is reproducible byte by byte."""
    events = await read_events(database, row.id)
    async with database.reading() as session:
        mask = Mask(await notary.secret_values(session, principal, row.space_id), {})
    entries = [
        {"number": event.number, "kind": event.kind, "at": event.at.isoformat(), "data": mask.content(event.data)}
        for event in events
    ]
    return as_json(make_record(notary.signer.signer(), mask.content(_subject(row)), entries))


def _subject(row: SessionRow) -> dict[str, Any]:
    """Return the subject from the session's row."""
    options = ("test_trials", "max_iterations", "token_budget", "skip_clarification", "repairs_approved")
    return {
        "kind": "session",
        "id": row.id,
        "tenant_id": row.tenant_id,
        "space_id": row.space_id,
        "started_by": row.options.get("started_by") or {"user_id": row.user_id},
        "domain": row.domain,
        "instance_id": row.instance_id,
        "requirement": row.requirement,
        "model": row.model,
        "flow_id": row.flow_id,
        "flow_name": row.flow_name,
        "status": row.status,
        "stop_reason": row.stop_reason,
        "options": {name: row.options.get(name) for name in options},
        "input_tokens": row.input_tokens,
        "output_tokens": row.output_tokens,
        "created_at": row.created_at.isoformat(),
    }
