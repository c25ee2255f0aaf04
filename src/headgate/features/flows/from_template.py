"""Flows from templates, with the flows that their steps run."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.catalog.gallery import Recipe
from headgate.features.flows import service, versions
from headgate.features.flows.called import published_flows
from headgate.features.flows.tables import FlowRow
from headgate.features.flows.transfer import Triggers
from headgate.graph.layout import arrange_unplaced

if TYPE_CHECKING:
    from headgate.features.flows.rules import FlowRules


class FromTemplate(NamedTuple):
    """A new flow, and the flows that were created and published with it."""

    flow: FlowRow
    called: tuple[FlowRow, ...]
    notes: tuple[str, ...]
    """Flows that are not published yet, and why triggers were omitted."""


async def create_from_template(
    session: AsyncSession,
    principal: Principal,
    rules: "FlowRules",
    recipe: Recipe,
    triggers: Triggers | None,
    *,
    name: str | None = None,
    description: str | None = None,
    space_id: str | None = None,
    labels: Mapping[str, str] = MappingProxyType({}),
) -> FromTemplate:
    """Create a flow from a template. Flows that its steps run and that are not published yet are created and published.

    Its triggers are added, switched off. A user who may not publish gets the flow alone; its readiness names the
    missing ones. One that is not ready is created and not published. Raises `SpaceNotFound`,
    `PermissionMissing`, `FlowInvalid` or the error of a gate; then nothing is created. `labels` are titles of nodes in
    place of its own.
    """
    space = space_id or principal.space_id
    called: list[FlowRow] = []
    notes: list[str] = []
    if principal.may(Permission.FLOWS_PUBLISH, space):
        for missing in await _missing(session, principal, recipe, space):
            row = await _create(session, principal, rules, missing, space)
            readiness = await rules.check(row.tenant_id, row.space_id, service.definition_of(row), session=session)
            if readiness.ready:
                await versions.publish_flow(session, principal, rules, row.id, notes="")
                called.append(row)
            else:
                notes.append(f"The flow '{row.name}' was created and is not published: {readiness.errors[0]}")
    flow = await _create(session, principal, rules, recipe, space, labels=labels, name=name, description=description)
    if recipe.triggers and triggers is not None:
        given = [trigger.model_dump(mode="json") for trigger in recipe.triggers]
        notes += await triggers.imported(session, principal, flow.id, given)
    return FromTemplate(flow, tuple(called), tuple(notes))


async def _missing(session: AsyncSession, principal: Principal, recipe: Recipe, space_id: str) -> list[Recipe]:
    """Return the templates of flows that its steps run and that are not published."""
    if not recipe.needs_flows:
        return []
    published = await published_flows(session, tenant_id=principal.tenant_id, space_id=space_id)
    return [called for called in recipe.called() if called.flow().name.lower() not in published.by_name]


async def _create(
    session: AsyncSession,
    principal: Principal,
    rules: "FlowRules",
    recipe: Recipe,
    space_id: str,
    *,
    labels: Mapping[str, str] = MappingProxyType({}),
    **names: str | None,
) -> FlowRow:
    definition = recipe.flow()
    nodes = tuple(node.model_copy(update={"label": labels.get(node.id, node.label)}) for node in definition.nodes)
    definition = arrange_unplaced(definition.model_copy(update={"nodes": nodes}), rules.catalog)
    definition = definition.model_copy(update={key: value for key, value in names.items() if value})
    return await service.create_flow(session, principal, rules.catalog, definition=definition, space_id=space_id)
