"""Freezing, publishing, comparing and restoring versions."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sqlalchemy.ext.asyncio import AsyncSession

from headgate import __version__
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.flows import called, repository
from headgate.features.flows.errors import FlowNotFound, StaleRevision, VersionNotFound
from headgate.features.flows.history import get_version, no_version
from headgate.features.flows.live import announce_change, announce_draft
from headgate.features.flows.service import (
    definition_of,
    draft_as_recorded,
    get_flow,
    record_change,
    write_draft,
)
from headgate.features.flows.summaries import Wanted
from headgate.features.flows.tables import FlowRow, FlowVersionRow, VersionEdgeRow, VersionStepRow
from headgate.foundation.database import Database, now
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.foundation.lazy import lazy_module
from headgate.graph.canonical import checksum, logic_checksum
from headgate.graph.diff import FlowDiff, diff_flows
from headgate.graph.issues import Issue, raise_if_any
from headgate.graph.links import (
    StepDefaults,
    effective,
    empty_models,
    flow_link_issues,
    flow_references,
    link,
    link_issues,
    linked_names,
    unlink,
)
from headgate.graph.model import Flow
from headgate.graph.plan import compile_plan
from headgate.graph.validate import check_runnable

if TYPE_CHECKING:
    from headgate.features.assistants import service as assistants
    from headgate.features.catalog.own import gate
    from headgate.features.catalog.registry import Components
    from headgate.features.flows.rules import FlowRules
else:
    assistants = lazy_module("headgate.features.assistants.service")
    gate = lazy_module("headgate.features.catalog.own.gate")


@dataclass(frozen=True, slots=True)
class PinnedVersion:
    """The immutable version that a run executes."""

    flow_id: str
    version: int
    tenant_id: str


async def pin_version(
    database: Database,
    principal: Principal,
    catalog: "Components",
    flow_id: str,
    *,
    wanted: Wanted,
    rules: "FlowRules | None" = None,
) -> PinnedVersion:
    """Return the version to run; a changed draft is checked and frozen first.

    With `rules` the readiness check decides, which includes external requirements; else the language alone.

    Requires `runs.start`, and `runs.test` in addition for a draft and for a version that was never published.
    Raises `FlowNotFound`, `VersionNotFound`, `PermissionMissing`, or `FlowInvalid` when the draft cannot run.
    """
    async with database.reading() as session:
        flow = await repository.find_runnable(session, flow_id, tenant_id=principal.tenant_id)
        if flow is None or flow.deleted_at is not None:
            raise FlowNotFound(flow_id)
        principal.require_in(flow.space_id, Permission.RUNS_START, FlowNotFound(flow_id))
        released = wanted == "published"
        version = flow.published_version if released else flow.draft_version
        if isinstance(wanted, int):
            row = await repository.find_version(session, flow_id, wanted, tenant_id=principal.tenant_id)
            if row is None:
                raise no_version(flow_id, wanted)
            version, released = wanted, row.release is not None
        if not released:
            principal.require_in(flow.space_id, Permission.RUNS_TEST, FlowNotFound(flow_id))
    if version is None and released:
        raise _not_published(flow_id)
    if version is None:
        version = await _freeze_for_run(database, principal, catalog, flow_id, rules)
    return PinnedVersion(flow_id=flow_id, version=version, tenant_id=principal.tenant_id)


async def read_definition(database: Database, *, tenant_id: str, flow_id: str, version: int) -> Flow:
    """Return the content of a version as it runs. It is immutable and may be cached. Raises `VersionNotFound`."""
    async with database.reading() as session:
        row = await repository.find_version(session, flow_id, version, tenant_id=tenant_id)
        if row is None:
            raise no_version(flow_id, version)
        return effective(Flow.model_validate(row.definition))


async def draft_as_it_runs(session: AsyncSession, catalog: "Components", flow: FlowRow) -> Flow:
    """Return the draft with values of its shared assistants and the default model. Changes nothing."""
    return effective((await _linked(session, catalog, flow))[0])


async def draft_logic(session: AsyncSession, catalog: "Components", flow: FlowRow) -> str:
    """Return the `logic_checksum` that the draft's version has, or would have."""
    if flow.draft_version is not None:
        version_row = await repository.find_version(session, flow.id, flow.draft_version, tenant_id=flow.tenant_id)
        if version_row is not None:
            return version_row.logic_checksum
    return logic_checksum((await _linked(session, catalog, flow))[0])


async def version_as_it_runs(
    session: AsyncSession,
    principal: Principal,
    flow_id: str,
    version: int | None,
    *,
    permission: Permission = Permission.FLOWS_VIEW,
) -> Flow:
    """Return the content of a version as it runs. Raises `VersionNotFound`, also when nothing is published."""
    if version is None:
        raise _not_published(flow_id)
    version_row = await get_version(session, principal, flow_id, version, permission=permission)
    return effective(Flow.model_validate(version_row.definition))


async def keep_draft(
    session: AsyncSession, principal: Principal, catalog: "Components", flow_id: str
) -> FlowVersionRow:
    """Return a version with the draft's content, even if it cannot run: call it before replacing a complete draft."""
    flow = await get_flow(session, principal, flow_id, permission=Permission.FLOWS_EDIT, lock=True)
    return await _version_of_draft(session, principal, catalog, flow)


async def publish_flow(
    session: AsyncSession, principal: Principal, rules: "FlowRules", flow_id: str, *, notes: str = ""
) -> FlowVersionRow:
    """Publish the draft's content. Publishing the published content again has no effect.

    Content that was published before becomes current as a new release, with its own number, time and notes; the audit
    log keeps the earlier publication.

    Raises `FlowInvalid` with all issues of the language and of the installation's rules, or the error of a gate; then
    nothing is changed, and no version is created.
    """
    flow = await get_flow(session, principal, flow_id, permission=Permission.FLOWS_PUBLISH, lock=True)
    (await rules.check(flow.tenant_id, flow.space_id, definition_of(flow), session=session)).require()
    version = await _freeze(session, principal, rules.catalog, flow)
    if flow.published_version != version.version:
        for gate in rules.gates():
            await gate.require(session, flow, version)
    if flow.published_version != version.version:
        flow.last_release += 1
        version.release = flow.last_release
        version.released_at = now()
        version.release_notes = notes
    before, flow.published_version = flow.published_version, version.version
    await session.flush()
    if before != version.version:
        await _record_publication(session, principal, flow, version, before)
    return version


async def content_of(session: AsyncSession, principal: Principal, flow_id: str, version: int | None) -> Flow:
    """Return the draft (`version` None), or a version in editable form: shared assistants by name."""
    if version is None:
        return definition_of(await get_flow(session, principal, flow_id))
    return unlink(Flow.model_validate((await get_version(session, principal, flow_id, version)).definition))


async def diff_versions(
    session: AsyncSession,
    principal: Principal,
    catalog: "Components",
    flow_id: str,
    *,
    before: int | Literal["draft"],
    after: int | Literal["draft"],
) -> FlowDiff:
    """Return the differences between two versions, or the draft."""

    async def content(which: int | Literal["draft"]) -> Flow:
        if which == "draft":
            return (await _linked(session, catalog, await get_flow(session, principal, flow_id)))[0]
        return Flow.model_validate((await get_version(session, principal, flow_id, which)).definition)

    return diff_flows(await content(before), await content(after))


async def restore_version(
    session: AsyncSession, principal: Principal, catalog: "Components", flow_id: str, version: int, *, revision: int
) -> FlowRow:
    """Restore a version's content as the draft, which is stored as a version first. Raises `StaleRevision`."""
    flow = await get_flow(session, principal, flow_id, permission=Permission.FLOWS_EDIT, lock=True)
    if flow.revision != revision:
        raise StaleRevision(sent=revision, current=flow.revision)
    await _version_of_draft(session, principal, catalog, flow)
    version_row = await get_version(session, principal, flow_id, version, permission=Permission.FLOWS_EDIT)
    definition, before = unlink(Flow.model_validate(version_row.definition)), draft_as_recorded(flow)
    earlier = definition_of(flow)
    await write_draft(session, flow, definition, catalog)
    if version_row.release is not None or not await _language_issues(session, principal, catalog, flow):
        _is_frozen(flow, catalog, version)
    await session.flush()
    await record_change(
        session,
        principal,
        flow,
        "flow.version_restored",
        before=before,
        after=draft_as_recorded(flow),
        payload={"version": version},
    )
    announce_draft(session, principal, flow.id, revision=flow.revision, before=earlier, after=definition)
    return flow


async def _record_publication(
    session: AsyncSession, principal: Principal, flow: FlowRow, version: FlowVersionRow, before: int | None
) -> None:
    after = {"version": version.version, "checksum": version.checksum}
    payload = after | {"release": version.release, "notes": version.release_notes}
    earlier = None if before is None else {"version": before}
    await record_change(session, principal, flow, "flow.published", before=earlier, after=after, payload=payload)
    announced = {"revision": flow.revision, "version": version.version, "release": version.release}
    announce_change(session, principal, flow.id, "published", **announced)


async def _freeze_for_run(
    database: Database, principal: Principal, catalog: "Components", flow_id: str, rules: "FlowRules | None"
) -> int:
    async with database.writing() as session:
        flow = await get_flow(session, principal, flow_id, permission=Permission.RUNS_TEST, lock=True)
        if flow.draft_version is None:
            definition = definition_of(flow)
            await run_in_flow_thread(gate.refuse_unsafe, definition)
            if rules is not None:
                (await rules.check(flow.tenant_id, flow.space_id, definition, session=session)).require()
        return (await _freeze(session, principal, catalog, flow)).version


async def _freeze(session: AsyncSession, principal: Principal, catalog: "Components", flow: FlowRow) -> FlowVersionRow:
    """Return a version with the draft's content. Raises `FlowInvalid` with everything that prevents it from running."""
    if flow.draft_version is None:
        raise_if_any(await _language_issues(session, principal, catalog, flow))
    version = await _version_of_draft(session, principal, catalog, flow)
    _is_frozen(flow, catalog, version.version)
    await session.flush()
    return version


async def _language_issues(
    session: AsyncSession, principal: Principal, catalog: "Components", flow: FlowRow
) -> list[Issue]:
    """Return what prevents the draft from being compiled, regardless of external requirements.

    Flows that its steps run must be published, and the caller must be allowed to run them.
    """
    definition = definition_of(flow)
    catalog = await catalog.for_flow(flow.tenant_id, definition, session=session)
    defaults = await _defaults(session, flow, definition, catalog)
    places, links = flow_references(definition, catalog), called.runnable(principal, defaults.flows)
    return [
        *link_issues(definition, catalog, defaults.assistants),
        *flow_link_issues(definition, catalog, links),
        *await called.recursion_issues(session, flow.id, places, links, tenant_id=flow.tenant_id),
        *check_runnable(effective(link(definition, catalog, defaults)), catalog),
    ]


def _is_frozen(flow: FlowRow, catalog: "Components", version: int) -> None:
    """Return whether the draft is this version, and can run: until it changes, it is not checked again.

    Shared assistants and the default model may change while the draft does not: a draft that uses one is compared each
    time.
    """
    draft = definition_of(flow)
    varies = linked_names(draft, catalog) or empty_models(draft, catalog) or flow_references(draft, catalog)
    flow.draft_version = None if varies else version


async def _version_of_draft(
    session: AsyncSession, principal: Principal, catalog: "Components", flow: FlowRow
) -> FlowVersionRow:
    """Return a version with the draft's content: the existing one, else a new one."""
    if flow.draft_version is not None:
        version = await repository.find_version(session, flow.id, flow.draft_version, tenant_id=principal.tenant_id)
        if version is not None:
            return version
    definition, catalog = await _linked(session, catalog, flow)
    content = checksum(definition)
    version = await repository.find_version_by_checksum(session, flow.id, content, tenant_id=principal.tenant_id)
    if version is None:
        version = await _add_version(session, principal, flow, definition=definition, catalog=catalog, content=content)
        change = {"version": version.version, "checksum": content}
        await record_change(session, principal, flow, "flow.version_made", after=change, payload=change)
    await session.flush()
    return version


async def _linked(session: AsyncSession, catalog: "Components", flow: FlowRow) -> "tuple[Flow, Components]":
    """Return the draft in its frozen form, and its components."""
    draft = definition_of(flow)
    components = await catalog.for_flow(flow.tenant_id, draft, session=session)
    return link(draft, components, await _defaults(session, flow, draft, components)), components


async def _defaults(session: AsyncSession, flow: FlowRow, definition: Flow, catalog: "Components") -> StepDefaults:
    """Return the defaults of the flow's space; values that no step uses are not read.

    Only assistants of its own space are available.
    """
    names = set(linked_names(definition, catalog).values())
    shared = await assistants.shared_by_name(session, names, tenant_id=flow.tenant_id, space_id=flow.space_id)
    references = list(dict.fromkeys(flow_references(definition, catalog).values()))
    flows = await called.resolve(session, references, tenant_id=flow.tenant_id, space_id=flow.space_id)
    if not empty_models(definition, catalog):
        return StepDefaults(shared, flows=flows)
    model = await catalog.step_model(session, tenant_id=flow.tenant_id, space_id=flow.space_id)
    return StepDefaults(shared, model, flows)


async def _add_version(
    session: AsyncSession, principal: Principal, flow: FlowRow, *, definition: Flow, catalog: "Components", content: str
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
    plan = compile_plan(effective(definition), catalog)
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


def _not_published(flow_id: str) -> VersionNotFound:
    return VersionNotFound(f"Flow '{flow_id}' has not been published.", remedy="Publish it, or run its draft.")
