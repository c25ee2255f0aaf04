"""Stores facts about custom code, and provides each flow with a catalog of its custom components."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.audit.recorder import record
from headgate.features.catalog.own.checked import CheckedComponent, code_hash
from headgate.features.catalog.registry import Registry
from headgate.foundation.database import Database
from headgate.foundation.lazy import lazy_module
from headgate.graph.manifest import Manifest
from headgate.graph.model import Flow
from headgate.graph.template import Catalog, Template

if TYPE_CHECKING:
    from headgate.features.catalog.own import overlay, repository
    from headgate.features.catalog.own.tables import OwnComponent
    from headgate.features.packs import repository as packs
    from headgate.features.packs.tables import PackComponent
else:
    overlay = lazy_module("headgate.features.catalog.own.overlay")
    repository = lazy_module("headgate.features.catalog.own.repository")
    packs = lazy_module("headgate.features.packs.repository")


async def keep_component(session: AsyncSession, principal: Principal, component: CheckedComponent) -> bool:
    """Store a component that passed its check; returns whether its code was new. Stored components never change."""
    manifest = component.manifest.as_json()
    is_new = await repository.add_component(
        session,
        tenant_id=principal.tenant_id,
        code_hash=component.code_hash,
        type_=component.type,
        template=component.template.model_dump(mode="json"),
        manifest=dict(manifest),
    )
    if is_new:
        audit_values = {"type": component.type, "code": component.code_hash, "manifest": manifest}
        await record(
            session,
            principal,
            "component.checked",
            id=component.code_hash,
            name=component.type,
            after=audit_values,
            payload=audit_values,
        )
    return is_new


async def known_components(session: AsyncSession, codes: Sequence[str], *, tenant_id: str) -> list[CheckedComponent]:
    """Return the tenant's checked components among these sources and those of packs, in the order of the sources.

    One query, and a second one when the tenant does not know a source.
    """
    by_hash = {code_hash(code): code for code in codes}
    rows = await repository.list_components(session, by_hash, tenant_id=tenant_id) if by_hash else ()
    facts: list[OwnComponent | PackComponent] = [*rows]
    missing = by_hash.keys() - {row.code_hash for row in rows}
    if missing:
        facts += await packs.list_pack_components(session, missing)
    components = {row.code_hash: _checked(by_hash[row.code_hash], row) for row in facts}
    return [components[key] for key in by_hash if key in components]


async def pack_components(session: AsyncSession) -> list[CheckedComponent]:
    """Return the components of the installed packs, by type; one query."""
    return [
        replace(_checked(row.code, row), pack=row.pack) for row in await packs.list_current_pack_components(session)
    ]


@dataclass(frozen=True, slots=True)
class OwnComponents:
    """The checked components of all tenants; a `registry.OwnSource`."""

    database: Database

    async def over(
        self, base: Registry, codes: Sequence[str], *, tenant_id: str, session: AsyncSession | None
    ) -> "overlay.FlowCatalog":
        """Return the registry with the checked components among these sources."""
        if session is not None:
            return overlay.FlowCatalog(base, await known_components(session, codes, tenant_id=tenant_id))
        async with self.database.reading() as reading:
            return overlay.FlowCatalog(base, await known_components(reading, codes, tenant_id=tenant_id))


async def with_packs(session: AsyncSession, base: Registry) -> "overlay.FlowCatalog":
    """Return the registry with the components of the installed packs, to read text of flows."""
    return overlay.FlowCatalog(base, await pack_components(session))


async def with_pack_code(session: AsyncSession, flow: Flow, catalog: Catalog) -> Flow:
    """Return the flow with the code of the installed packs in nodes that name their components without code.

    Spec text and templates omit it. Does not query the database when the catalog knows every type.
    """
    unknown = {node.type for node in flow.nodes if node.code is None and catalog.template(node.type) is None}
    if not unknown:
        return flow
    codes = {component.type: component.code for component in await pack_components(session)}
    nodes = (
        node.model_copy(update={"code": codes[node.type]})
        if node.code is None and node.type in unknown and node.type in codes
        else node
        for node in flow.nodes
    )
    return flow.model_copy(update={"nodes": tuple(nodes)})


def _checked(code: str, row: "OwnComponent | PackComponent") -> CheckedComponent:
    return CheckedComponent(code, Template.model_validate(row.template), _manifest(row.manifest))


def _manifest(stored: dict[str, Any]) -> Manifest:
    return Manifest(tuple(stored["imports"]), tuple(stored["hosts"]), files=bool(stored["files"]))
