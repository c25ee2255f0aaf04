"""Stores facts about custom code, and provides each flow with a catalog of its custom components."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.audit.recorder import record
from headgate.features.catalog.own.checked import CheckedComponent, code_hash
from headgate.features.catalog.registry import Registry
from headgate.foundation.database import Database
from headgate.foundation.lazy import lazy_module
from headgate.graph.manifest import Manifest
from headgate.graph.template import Template

if TYPE_CHECKING:
    from headgate.features.catalog.own import overlay, repository
else:
    overlay = lazy_module("headgate.features.catalog.own.overlay")
    repository = lazy_module("headgate.features.catalog.own.repository")


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
    """Return the tenant's checked components among these sources, in their order; one query."""
    by_hash = {code_hash(code): code for code in codes}
    rows = await repository.list_components(session, by_hash, tenant_id=tenant_id) if by_hash else ()
    components = {
        row.code_hash: CheckedComponent(
            by_hash[row.code_hash], Template.model_validate(row.template), _manifest(row.manifest)
        )
        for row in rows
    }
    return [components[key] for key in by_hash if key in components]


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


def _manifest(stored: dict[str, Any]) -> Manifest:
    return Manifest(tuple(stored["imports"]), tuple(stored["hosts"]), files=bool(stored["files"]))
