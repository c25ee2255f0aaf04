"""What the development agent leaves in a tenant, as rows: no model is asked for it."""

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.agents.codev.tables import (
    EventRow,
    InstanceRow,
    NoticeRow,
    PatternRow,
    PatternUseRow,
    PatternWordRow,
    SessionRow,
    WriteRow,
)
from headgate.features.access.principal import Principal
from headgate.foundation.ids import new_id

INSTANCE = "the-same-server"
INTERRUPT = "the-same-interrupt"
WAITING = 4
"""Sessions that wait for an answer: one for each way to give it."""


async def add_instance(session: AsyncSession, tenant_id: str, marker: str) -> None:
    """A Flowise server of the tenant."""
    session.add(InstanceRow(tenant_id=tenant_id, id=INSTANCE, endpoint=f"https://127.0.0.1:9/{marker}"))


async def add_sessions(session: AsyncSession, principal: Principal, flow_id: str, marker: str) -> list[str]:
    """Sessions that wait for the approval of a plan, with what they told and wrote; their ids."""
    waits = {"id": INTERRUPT, "type": "plan_approval", "prompt": marker, "data": {"plan": marker}}
    ids = [new_id() for _ in range(WAITING)]
    for session_id in ids:
        session.add(
            SessionRow(
                id=session_id,
                tenant_id=principal.tenant_id,
                space_id=principal.space_id,
                user_id=principal.user_id,
                domain="headgate",
                requirement=marker,
                flow_id=flow_id,
                flow_name=marker,
                status="pending_interrupt",
                interrupt=waits,
                options={"acting": {"user_id": principal.user_id, "kind": "user"}},
                events=1,
            )
        )
        await session.flush()
        session.add(EventRow(session_id=session_id, number=1, kind="interrupt", data=waits))
        session.add(NoticeRow(id=new_id(), session_id=session_id, interrupt_id=INTERRUPT))
        written = {"id": new_id(), "call_key": f"{session_id}:1", "number": 1, "state": "refused", "summary": marker}
        session.add(
            WriteRow(
                session_id=session_id, tool="apply_edits", change=f"hg1.{marker}", answer={"error": marker}, **written
            )
        )
    return ids


async def add_pattern(session: AsyncSession, principal: Principal, session_id: str, marker: str) -> str:
    """A pattern; its id."""
    pattern_id = new_id()
    session.add(
        PatternRow(
            id=pattern_id,
            tenant_id=principal.tenant_id,
            space_id=principal.space_id,
            domain="headgate",
            name=marker,
            requirement=marker,
            definition={"name": marker, "nodes": [], "edges": []},
        )
    )
    await session.flush()
    about = {"tenant_id": principal.tenant_id, "pattern_id": pattern_id}
    session.add(PatternWordRow(**about, word="same", weight=1))
    session.add(PatternUseRow(**about, session_id=session_id))
    return pattern_id
