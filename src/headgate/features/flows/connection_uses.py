"""Which flows name a connection: in their draft or their published version."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fastapi import Request
from pydantic import BaseModel, Field
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.connections.apis import service as apis
from headgate.features.connections.known import operations_of
from headgate.features.connections.service import get_connection
from headgate.features.flows import repository
from headgate.foundation.api import Page, ReadSession, Routes
from headgate.graph.connection_reference import connections_of
from headgate.graph.template import Catalog

MOST_FLOWS = 2000
"""Flows of a space that are searched."""
router = Routes(prefix="/connections", tags=["connections"])


class ConnectionUse(BaseModel):
    """A flow that names a connection."""

    flow_id: str
    flow: str = Field(description="Name of the flow.")
    nodes: list[str] = Field(description="Nodes of the draft that name it.")
    published: bool = Field(description="Whether the published version names it.")
    affected: list[str] = Field(
        default_factory=list,
        description="Operations that it calls and that its API no longer has or has changed since they were accepted.",
    )


@router.get(
    "/{connection}/flows",
    "List the flows that name a connection",
    [needs(Permission.CONNECTIONS_VIEW)],
    problems=(404,),
)
async def list_(connection: str, request: Request, session: ReadSession, caller: Caller) -> Page[ConnectionUse]:
    """List the flows of the connection's space that name it, by name."""
    return Page(items=await list_uses(session, caller, request.app.state.registry, connection))


async def list_uses(
    session: AsyncSession, principal: Principal, catalog: Catalog, id_or_name: str
) -> list[ConnectionUse]:
    """Return the flows that the caller can view and that name a connection. Raises `ConnectionNotFound`."""
    row = await get_connection(session, principal, id_or_name)
    if not principal.may(Permission.FLOWS_VIEW, row.space_id):
        return []
    named = _namer(catalog, row.name)
    changed = await apis.changed_names(session, row.id, tenant_id=principal.tenant_id)
    uses: list[ConnectionUse] = []
    flows = await repository.list_definitions(
        session, tenant_id=principal.tenant_id, space_id=row.space_id, limit=MOST_FLOWS
    )
    for flow_id, name, draft, published in flows:
        nodes = named(draft)
        in_published = bool(named(published or {}))
        if nodes or in_published:
            called = {*_operations(draft, nodes), *_operations(published or {}, named(published or {}))}
            affected = sorted(changed & called)
            uses.append(
                ConnectionUse(flow_id=flow_id, flow=name, nodes=nodes, published=in_published, affected=affected)
            )
    return uses


def _operations(definition: Mapping[str, Any], nodes: Sequence[str]) -> list[str]:
    """Return the operations that these nodes of a definition name."""
    return [
        operation
        for node in definition.get("nodes") or ()
        if isinstance(node, dict) and node.get("id") in nodes
        for operation in operations_of(node.get("params") or {})
    ]


def _namer(catalog: Catalog, connection: str) -> Callable[[Mapping[str, Any]], list[str]]:
    """Return a function from a definition to the ids of its nodes that name the connection."""

    def nodes_of(definition: Mapping[str, Any]) -> list[str]:
        return [
            str(node.get("id"))
            for node in definition.get("nodes") or ()
            if isinstance(node, dict) and connection in _names(node)
        ]

    def _names(node: Mapping[str, Any]) -> set[str]:
        params = node.get("params") or {}
        template = catalog.template(str(node.get("type") or ""), params) if connection in params.values() else None
        return set() if template is None else {reference.name for _, reference in connections_of(params, template)}

    return nodes_of
