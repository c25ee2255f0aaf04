"""Checks the code that a flow's draft carries: the one way in which imported code is ever executed before a run."""

from pydantic import BaseModel, Field

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.catalog.own.check import ComponentChecker
from headgate.features.catalog.own.checked import CheckedComponent
from headgate.features.catalog.own.errors import ComponentNotMade
from headgate.features.catalog.own.schemas import ComponentCheckOut
from headgate.features.catalog.own.store import keep_component, known_components
from headgate.features.flows.service import definition_of, get_flow
from headgate.foundation.database import Database
from headgate.graph.model import Flow
from headgate.graph.own_code import own_codes


class NodeCheckOut(ComponentCheckOut):
    """What a check found about the code of one or several nodes."""

    nodes: list[str] = Field(default_factory=list, description="The nodes that carry the code.")


class FlowCheckOut(BaseModel):
    """What the checks of a flow's code found."""

    items: list[NodeCheckOut] = Field(description="One for each code that was not known before.")
    known: int = Field(description="How many codes of the draft had been checked already.")


async def check_flow_code(
    database: Database, checker: ComponentChecker, principal: Principal, flow_id: str
) -> FlowCheckOut:
    """Check every code of the draft that the tenant has not had checked; what passes is known from then on.

    It takes the database and not a session: no transaction is open while the sandbox works.
    Raises `FlowNotFound`, `PermissionMissing`, `SandboxUnavailable`.
    """
    async with database.reading() as session:
        row = await get_flow(session, principal, flow_id, permission=Permission.FLOWS_EDIT)
        flow = definition_of(row)
        codes = own_codes(flow)
        known = {one.code for one in await known_components(session, codes, tenant_id=principal.tenant_id)}
    items: list[NodeCheckOut] = []
    passed: list[CheckedComponent] = []
    for code in codes:
        if code not in known:
            try:
                made = await checker.check(principal.tenant_id, code)
            except ComponentNotMade as error:
                items.append(_of(flow, code, ComponentCheckOut.of_faults(error)))
            else:
                passed.append(made)
                items.append(_of(flow, code, ComponentCheckOut.of(made)))
    if passed:
        async with database.writing() as session:
            for made in passed:
                await keep_component(session, principal, made)
    return FlowCheckOut(items=items, known=len(known))


def _of(flow: Flow, code: str, found: ComponentCheckOut) -> NodeCheckOut:
    nodes = [node.id for node in flow.nodes if node.code == code]
    return NodeCheckOut(**found.model_dump(), nodes=nodes)
