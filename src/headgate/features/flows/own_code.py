"""Checks the code of a flow's draft: the only way in which imported code is executed before a run."""

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
    """Result of checking the code of one or several nodes."""

    nodes: list[str] = Field(default_factory=list, description="The nodes that contain the code.")


class FlowCheckOut(BaseModel):
    """Results of checking a flow's code."""

    items: list[NodeCheckOut] = Field(description="One entry for each code that was not yet checked.")
    known: int = Field(description="Number of codes in the draft that were already checked.")


async def check_flow_code(
    database: Database, checker: ComponentChecker, principal: Principal, flow_id: str
) -> FlowCheckOut:
    """Check every unchecked code of the draft; code that passes is stored.

    Takes the database and not a session: no transaction is open while the sandbox runs. Raises `FlowNotFound`,
    `PermissionMissing`, `SandboxUnavailable`.
    """
    async with database.reading() as session:
        row = await get_flow(session, principal, flow_id, permission=Permission.FLOWS_EDIT)
        flow = definition_of(row)
        codes = own_codes(flow)
        known_codes = {
            component.code for component in await known_components(session, codes, tenant_id=principal.tenant_id)
        }
    items: list[NodeCheckOut] = []
    passed: list[CheckedComponent] = []
    for code in codes:
        if code not in known_codes:
            try:
                component = await checker.check(principal.tenant_id, code)
            except ComponentNotMade as error:
                items.append(_of(flow, code, ComponentCheckOut.of_faults(error)))
            else:
                passed.append(component)
                items.append(_of(flow, code, ComponentCheckOut.of(component)))
    if passed:
        async with database.writing() as session:
            for component in passed:
                await keep_component(session, principal, component)
    return FlowCheckOut(items=items, known=len(known_codes))


def _of(flow: Flow, code: str, result: ComponentCheckOut) -> NodeCheckOut:
    nodes = [node.id for node in flow.nodes if node.code == code]
    return NodeCheckOut(**result.model_dump(), nodes=nodes)
