"""Freezing, publishing, comparing and restoring versions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy.ext.asyncio import AsyncSession

from headgate import __version__
from headgate.features.accounts.principal import Principal
from headgate.features.flows import repository
from headgate.features.flows.errors import FlowNotFound, StaleRevision, VersionNotFound
from headgate.features.flows.schemas import Wanted
from headgate.features.flows.service import definition_of, get_flow, write_draft
from headgate.features.flows.tables import FlowRow, FlowVersionRow, VersionEdgeRow, VersionStepRow
from headgate.foundation.database import Database, now
from headgate.graph.canonical import checksum, logic_checksum
from headgate.graph.diff import FlowDiff, diff_flows
from headgate.graph.issues import raise_if_any
from headgate.graph.model import Flow
from headgate.graph.plan import compile_plan
from headgate.graph.template import Catalog
from headgate.graph.validate import check_runnable


@dataclass(frozen=True, slots=True)
class PinnedVersion:
    """The immutable version that a run executes."""

    flow_id: str
    version: int
    tenant_id: str


async def pin_version(
    database: Database, principal: Principal, catalog: Catalog, flow_id: str, *, wanted: Wanted
) -> PinnedVersion:
    """The version to run; a draft that changed since it was last frozen is checked and frozen first.

    Raises `FlowNotFound`, `VersionNotFound`, or `FlowInvalid` when the draft cannot run.
    """
    async with database.reading() as session:
        found = await repository.find_runnable(session, flow_id, tenant_id=principal.tenant_id)
        if found is None or found[2] is not None:
            raise FlowNotFound(flow_id)
        draft, published, _ = found
        version = {"draft": draft, "published": published}.get(wanted) if isinstance(wanted, str) else wanted
        if isinstance(wanted, int):
            await get_version(session, principal, flow_id, wanted)
    if version is None and wanted == "published":
        raise VersionNotFound(f"Flow '{flow_id}' has not been published.", remedy="Publish it, or run its draft.")
    if version is None:
        async with database.writing() as session:
            version = (await freeze_draft(session, principal, catalog, flow_id)).version
    return PinnedVersion(flow_id=flow_id, version=version, tenant_id=principal.tenant_id)


async def read_definition(database: Database, *, tenant_id: str, flow_id: str, version: int) -> Flow:
    """The content of a version. It never changes, so keep it as long as you like. Raises `VersionNotFound`."""
    async with database.reading() as session:
        row = await repository.find_version(session, flow_id, version, tenant_id=tenant_id)
        if row is None:
            raise _no_version(flow_id, version)
        return Flow.model_validate(row.definition)


async def freeze_draft(session: AsyncSession, principal: Principal, catalog: Catalog, flow_id: str) -> FlowVersionRow:
    """The version with the draft's content: the one that has it already, else a new one.

    Raises `FlowInvalid` naming everything that keeps the draft from running.
    """
    flow = await get_flow(session, principal, flow_id, lock=True)
    if flow.draft_version is None:
        raise_if_any(check_runnable(definition_of(flow), catalog))
    return await keep_draft(session, principal, catalog, flow_id)


async def keep_draft(session: AsyncSession, principal: Principal, catalog: Catalog, flow_id: str) -> FlowVersionRow:
    """The version with the draft's content, whether it could run or not: call before a draft is replaced as a whole."""
    flow = await get_flow(session, principal, flow_id, lock=True)
    if flow.draft_version is not None:
        return await get_version(session, principal, flow_id, flow.draft_version)
    definition = definition_of(flow)
    content = checksum(definition)
    found = await repository.find_version_by_checksum(session, flow_id, content, tenant_id=principal.tenant_id)
    if found is None:
        found = await _add_version(session, principal, flow, definition=definition, catalog=catalog, content=content)
    flow.draft_version = found.version
    await session.flush()
    return found


async def publish_flow(
    session: AsyncSession, principal: Principal, catalog: Catalog, flow_id: str, *, notes: str = ""
) -> FlowVersionRow:
    """Make the draft's content the published version. Publishing the same content again changes nothing."""
    version = await freeze_draft(session, principal, catalog, flow_id)
    flow = await get_flow(session, principal, flow_id)
    if version.release is None:
        flow.last_release += 1
        version.release = flow.last_release
        version.released_at = now()
        version.release_notes = notes
    flow.published_version = version.version
    await session.flush()
    return version


async def list_versions(
    session: AsyncSession,
    principal: Principal,
    flow_id: str,
    *,
    released_only: bool = False,
    limit: int = 50,
    before: int | None = None,
) -> Sequence[FlowVersionRow]:
    """Versions of a flow, newest first."""
    await get_flow(session, principal, flow_id)
    return await repository.list_versions(
        session, flow_id, tenant_id=principal.tenant_id, released_only=released_only, limit=limit, before=before
    )


async def get_version(session: AsyncSession, principal: Principal, flow_id: str, version: int) -> FlowVersionRow:
    """One version. Raises `VersionNotFound`."""
    found = await repository.find_version(session, flow_id, version, tenant_id=principal.tenant_id)
    if found is None:
        raise _no_version(flow_id, version)
    return found


async def diff_versions(
    session: AsyncSession,
    principal: Principal,
    flow_id: str,
    *,
    before: int | Literal["draft"],
    after: int | Literal["draft"],
) -> FlowDiff:
    """What changed from one version (or the draft) to another."""

    async def content(which: int | Literal["draft"]) -> Flow:
        if which == "draft":
            return definition_of(await get_flow(session, principal, flow_id))
        return Flow.model_validate((await get_version(session, principal, flow_id, which)).definition)

    return diff_flows(await content(before), await content(after))


async def restore_version(
    session: AsyncSession, principal: Principal, catalog: Catalog, flow_id: str, version: int, *, revision: int
) -> FlowRow:
    """Put a version's content back into the draft, which is kept as a version first. Raises `StaleRevision`."""
    flow = await get_flow(session, principal, flow_id, lock=True)
    if flow.revision != revision:
        raise StaleRevision(sent=revision, current=flow.revision)
    await keep_draft(session, principal, catalog, flow_id)
    found = await get_version(session, principal, flow_id, version)
    write_draft(flow, Flow.model_validate(found.definition), catalog)
    flow.draft_version = version
    await session.flush()
    return flow


async def _add_version(
    session: AsyncSession, principal: Principal, flow: FlowRow, *, definition: Flow, catalog: Catalog, content: str
) -> FlowVersionRow:
    flow.last_version += 1
    version = FlowVersionRow(
        flow_id=flow.id,
        version=flow.last_version,
        tenant_id=principal.tenant_id,
        checksum=content,
        logic_checksum=logic_checksum(definition),
        definition=definition.model_dump(mode="json", exclude_defaults=True),
        headgate_version=__version__,
        created_by_user_id=principal.user_id,
        release=None,
        released_at=None,
    )
    plan = compile_plan(definition, catalog)
    steps = [
        VersionStepRow(
            flow_id=flow.id, version=version.version, step_id=step.id, step_order=step.order, type=step.node.type
        )
        for step in plan.steps
    ]
    edges = [
        VersionEdgeRow(
            flow_id=flow.id,
            version=version.version,
            parent_step_id=parent,
            child_step_id=step.id,
            parent_order=plan.step(parent).order,
            child_order=step.order,
        )
        for step in plan.steps
        for parent in step.parents
    ]
    await repository.add_version(session, version, steps, edges)
    return version


def _no_version(flow_id: str, version: int) -> VersionNotFound:
    return VersionNotFound(f"Flow '{flow_id}' has no version {version}.", remedy="List its versions.")
