"""Keeps what was found out about own code, and gives each flow the catalog that knows its own components."""

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


async def keep_component(session: AsyncSession, principal: Principal, made: CheckedComponent) -> bool:
    """Write down a component that passed its check; whether its code was new here. What is known never changes."""
    manifest = made.manifest.as_json()
    is_new = await repository.add_component(
        session,
        tenant_id=principal.tenant_id,
        code_hash=made.code_hash,
        type_=made.type,
        template=made.template.model_dump(mode="json"),
        manifest=dict(manifest),
    )
    if is_new:
        told = {"type": made.type, "code": made.code_hash, "manifest": manifest}
        await record(
            session, principal, "component.checked", id=made.code_hash, name=made.type, after=told, payload=told
        )
    return is_new


async def known_components(session: AsyncSession, codes: Sequence[str], *, tenant_id: str) -> list[CheckedComponent]:
    """Those of these sources that the tenant has had checked, in their order; one query."""
    by_hash = {code_hash(code): code for code in codes}
    rows = await repository.list_components(session, by_hash, tenant_id=tenant_id) if by_hash else ()
    found = {
        row.code_hash: CheckedComponent(
            by_hash[row.code_hash], Template.model_validate(row.template), _manifest(row.manifest)
        )
        for row in rows
    }
    return [found[key] for key in by_hash if key in found]


@dataclass(frozen=True, slots=True)
class OwnComponents:
    """What the tenants of an installation have had checked; a `registry.OwnSource`."""

    database: Database

    async def over(
        self, base: Registry, codes: Sequence[str], *, tenant_id: str, session: AsyncSession | None
    ) -> "overlay.FlowCatalog":
        """The registry with those of these sources that are known beside its components."""
        if session is not None:
            return overlay.FlowCatalog(base, await known_components(session, codes, tenant_id=tenant_id))
        async with self.database.reading() as reading:
            return overlay.FlowCatalog(base, await known_components(reading, codes, tenant_id=tenant_id))


def _manifest(stored: dict[str, Any]) -> Manifest:
    return Manifest(tuple(stored["imports"]), tuple(stored["hosts"]), files=bool(stored["files"]))
