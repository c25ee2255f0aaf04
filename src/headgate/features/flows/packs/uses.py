"""Which flows use the components of a pack, in their draft or their published version, of all organisations."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.catalog.own.checked import code_hash
from headgate.features.flows.tables import FlowRow, FlowVersionRow
from headgate.foundation.errors import JsonValue
from headgate.graph.names import listed

_BATCH = 200
_NAMED = 10


@dataclass(frozen=True, slots=True)
class FlowUse:
    """A flow that uses components of a pack."""

    tenant_id: str
    space_id: str
    flow_id: str
    name: str
    draft: Mapping[str, Any]
    in_draft: frozenset[str]
    """Hashes of the code in the draft; the same of the published version."""
    in_published: frozenset[str]

    def seen_by(self, principal: Principal) -> bool:
        """Return whether the caller may view the flow."""
        return self.tenant_id == principal.tenant_id and principal.may(Permission.FLOWS_VIEW, self.space_id)


async def find_uses(session: AsyncSession, hashes: Collection[str]) -> list[FlowUse]:
    """Return the flows, of every organisation, whose nodes have code with one of these hashes."""
    return [use async for use in _uses(session, frozenset(hashes))] if hashes else []


async def _uses(session: AsyncSession, hashes: frozenset[str]) -> AsyncIterator[FlowUse]:
    published = and_(FlowVersionRow.flow_id == FlowRow.id, FlowVersionRow.version == FlowRow.published_version)
    columns = (FlowRow.id, FlowRow.tenant_id, FlowRow.space_id, FlowRow.name, FlowRow.draft, FlowVersionRow.definition)
    query = select(*columns).outerjoin(FlowVersionRow, published).where(FlowRow.deleted_at.is_(None))
    query = query.order_by(FlowRow.id).limit(_BATCH)
    rows = (await session.execute(query)).all()
    while rows:
        for id_, tenant_id, space_id, name, draft, definition in rows:
            in_draft, in_published = _hashes(draft) & hashes, _hashes(definition) & hashes
            if in_draft or in_published:
                yield FlowUse(tenant_id, space_id, id_, name, draft, in_draft, in_published)
        rows = (await session.execute(query.where(FlowRow.id > rows[-1][0]))).all()


def _hashes(definition: Mapping[str, Any] | None) -> frozenset[str]:
    nodes = (definition or {}).get("nodes") or ()
    codes = (node.get("code") for node in nodes if isinstance(node, dict))
    return frozenset(code_hash(code) for code in codes if isinstance(code, str))


def named(uses: Sequence[FlowUse], principal: Principal) -> str:
    """Return a sentence part that names the caller's flows and counts those of others."""
    names = [use.name for use in uses if use.seen_by(principal)]
    parts = [f"'{name}'" for name in names[:_NAMED]]
    if len(names) > _NAMED:
        parts.append(f"{len(names) - _NAMED} more")
    if len(uses) > len(names):
        parts.append(f"{len(uses) - len(names)} of other organisations")
    return listed(parts)


def as_json(uses: Sequence[FlowUse]) -> list[JsonValue]:
    """Return the ids of flows, for an error."""
    return [use.flow_id for use in uses]
