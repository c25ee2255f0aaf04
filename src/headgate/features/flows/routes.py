"""HTTP routes of flows and versions."""

from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import Depends, Path, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import JsonValue
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.caller import Caller, CallerAgain, needs
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.catalog.own.store import with_packs
from headgate.features.catalog.pack_templates import recipe_named
from headgate.features.catalog.registry import Registry
from headgate.features.flows import history, owners, service, transfer, versions
from headgate.features.flows.from_template import create_from_template
from headgate.features.flows.live import FlowStream
from headgate.features.flows.presence import Presence
from headgate.features.flows.readiness.answer import Readiness
from headgate.features.flows.rules import FlowRules
from headgate.features.flows.schemas import (
    DiffOut,
    DraftPatch,
    ExportOut,
    FlowCreate,
    FlowCreated,
    FlowImported,
    FlowOut,
    FlowPatch,
    ImportIn,
    OwnerIn,
    PublishIn,
    RestoreIn,
    VersionOut,
)
from headgate.features.flows.summaries import FlowSummary, VersionPublished, VersionSummary
from headgate.features.flows.tables import FlowRow, FlowVersionRow
from headgate.foundation.api import (
    Limit,
    Page,
    ReadSession,
    Routes,
    WriteSession,
    get_database,
    page_of,
    part,
)
from headgate.foundation.database import Database
from headgate.foundation.errors import Invalid
from headgate.foundation.events import EventFeed
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.foundation.sse import EventStream, while_allowed, with_heartbeat
from headgate.graph.layout import arrange_unplaced
from headgate.graph.model import Flow
from headgate.graph.spec import read_spec

router = Routes(prefix="/flows", tags=["flows"])
VIEW, EDIT = needs(Permission.FLOWS_VIEW), needs(Permission.FLOWS_EDIT)


Components = Annotated[Registry, part("registry")]
Starts = Annotated[transfer.Triggers, part("trigger_transfer")]
Rules = Annotated[FlowRules, part("rules")]
Which = Annotated[int, Path(ge=1)] | Literal["draft"]


@router.post("", "Create a flow", [EDIT], status_code=201, problems=(403, 404))
async def create(
    body: FlowCreate, session: WriteSession, caller: Caller, catalog: Components, rules: Rules, triggers: Starts
) -> FlowCreated:
    """Create a flow: empty, from a definition, spec text or a template; arranged if no node has a position.

    The triggers of a text are switched off.
    """
    if sum(content is not None for content in (body.definition, body.spec, body.template)) > 1:
        raise Invalid("Give 'definition', 'spec' or 'template', not several of them.")
    if body.template is not None:
        return await _from_template(body.template, body, session, caller, rules, triggers)
    definition = body.definition or Flow()
    if body.spec is not None:
        definition = read_spec(body.spec, await with_packs(session, catalog), with_triggers=True)
    definition = arrange_unplaced(definition, catalog)
    names = {"name": body.name, "description": body.description}
    definition = definition.model_copy(update={key: value for key, value in names.items() if value is not None})
    row = await service.create_flow(session, caller, catalog, definition=definition, space_id=body.space_id)
    carried = [] if body.spec is None else transfer.triggers_in(body.spec)
    return await _created(row, (), rules, session, await triggers.imported(session, caller, row.id, carried))


async def _from_template(
    template_id: str,
    body: FlowCreate,
    session: AsyncSession,
    caller: Principal,
    rules: FlowRules,
    triggers: transfer.Triggers,
) -> FlowCreated:
    recipe, names = await recipe_named(session, template_id), {"name": body.name, "description": body.description}
    created = await create_from_template(
        session, caller, rules, recipe, triggers, space_id=body.space_id, labels=body.labels, **names
    )
    return await _created(created.flow, created.called, rules, session, created.notes)


async def _created(
    row: FlowRow, called: Sequence[FlowRow], rules: FlowRules, session: AsyncSession, notes: Sequence[str] = ()
) -> FlowCreated:
    also_created = [FlowSummary.model_validate(flow) for flow in called]
    return FlowCreated(**dict(await _out(row, rules, session)), also_created=also_created, notes=list(notes))


@router.post("/import", "Import a flow", [EDIT], status_code=201, problems=(403, 404))
async def import_(
    body: ImportIn, session: WriteSession, caller: Caller, catalog: Components, rules: Rules, triggers: Starts
) -> FlowImported:
    """Create a flow from spec text or exported JSON. Nothing is run; its triggers are switched off."""
    definition = await run_in_flow_thread(transfer.import_flow, body.content, await with_packs(session, catalog))
    carried = await run_in_flow_thread(transfer.triggers_in, body.content)
    row = await service.create_flow(session, caller, catalog, definition=definition, space_id=body.space_id)
    notes = await triggers.imported(session, caller, row.id, carried)
    return FlowImported(**(await _out(row, rules)).model_dump(), notes=notes)


@router.get("/{flow_id}", "Read a flow", [VIEW], problems=(404,))
async def read(flow_id: str, session: ReadSession, caller: Caller, rules: Rules) -> FlowOut:
    """A flow with its draft and the issues that prevent it from running."""
    return await _out(await service.get_flow(session, caller, flow_id), rules)


@router.patch("/{flow_id}", "Rename a flow", [EDIT], problems=(403, 404))
async def patch(flow_id: str, body: FlowPatch, session: WriteSession, caller: Caller, rules: Rules) -> FlowOut:
    """Change name or description."""
    row = await service.rename_flow(session, caller, flow_id, name=body.name, description=body.description)
    return await _out(row, rules)


@router.put("/{flow_id}/owner", "Change the owner", [EDIT], problems=(403, 404))
async def put_owner(flow_id: str, body: OwnerIn, session: WriteSession, caller: Caller) -> FlowSummary:
    """Make another member of the flow's space its owner. For the owner, and for users who manage the space."""
    return FlowSummary.model_validate(await owners.transfer_flow(session, caller, flow_id, body.user_id))


@router.patch("/{flow_id}/draft", "Save the draft", [EDIT], problems=(403, 404, 409))
async def save_draft(
    flow_id: str, body: DraftPatch, session: WriteSession, caller: Caller, catalog: Components, rules: Rules
) -> FlowOut:
    """Replace the draft. On a stale revision: 409 with the current `revision`, and nothing is overwritten."""
    row = await service.save_draft(
        session, caller, catalog, flow_id, revision=body.revision, definition=body.definition
    )
    return await _out(row, rules)


@router.delete("/{flow_id}", "Delete a flow", [EDIT], problems=(403, 404))
async def delete(flow_id: str, session: WriteSession, caller: Caller) -> None:
    """Delete a flow: it is hidden and cannot run. Versions and runs are kept as evidence."""
    await service.delete_flow(session, caller, flow_id)


@router.post("/{flow_id}/restore", "Undo a deletion", [EDIT], problems=(403, 404))
async def take_back(flow_id: str, session: WriteSession, caller: Caller, rules: Rules) -> FlowOut:
    """Restore a deleted flow. No effect on an existing one."""
    return await _out(await service.restore_flow(session, caller, flow_id), rules)


@router.get("/{flow_id}/export", "Export a flow", [VIEW], problems=(404,))
async def export(
    flow_id: str,
    session: ReadSession,
    caller: Caller,
    catalog: Components,
    triggers: Starts,
    format: Annotated[transfer.Format, Query()] = "json",  # noqa: A002 - the API's word
    version: Annotated[
        int | None, Query(ge=1, le=2**31 - 1, description=("Tests of this version instead of the draft."))
    ] = None,
) -> ExportOut:
    """The draft, or a version, as text: a readable spec or JSON with positions, with triggers; or an SVG picture."""
    flow = await versions.content_of(session, caller, flow_id, version)
    components = await catalog.for_flow(caller.tenant_id, flow, session=session)
    carried = await triggers.exported(session, caller, flow_id) if format != "svg" else []
    content = transfer.export_flow(flow, format=format, catalog=components, triggers=carried)
    return ExportOut(name=flow.name, format=format, content=content)


@router.post("/{flow_id}/publish", "Publish the draft", [needs(Permission.FLOWS_PUBLISH)], problems=(403, 404))
async def publish(
    flow_id: str,
    session: WriteSession,
    caller: Caller,
    rules: Rules,
    triggers: Starts,
    body: PublishIn | None = None,
) -> VersionPublished:
    """Freeze the draft and make it the published version. Notes say where triggers do not fit its form."""
    notes = body.notes if body is not None else ""
    version = await versions.publish_flow(session, caller, rules, flow_id, notes=notes)
    published = VersionPublished.model_validate(version)
    return published.model_copy(update={"notes": await triggers.problems(session, caller, flow_id)})


@router.get(
    "/{flow_id}/events",
    "Watch a flow",
    [VIEW],
    problems=(404,),
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}}},
)
async def events(
    flow_id: str,
    request: Request,
    database: Annotated[Database, Depends(get_database)],
    caller: Caller,
    again: CallerAgain,
    *,
    follow: Annotated[bool, Query(description="false: only show the current state.")] = True,
) -> EventStream:
    """Server-sent events of all changes of a flow: first its state, then each change.

    A reader that reconnects receives the state again; when its `revision` is new, the reader fetches the flow.
    """
    feed: EventFeed = request.app.state.engine.feed

    async def check(principal: Principal) -> None:
        async with database.reading() as session:
            await service.get_flow(session, principal, flow_id)

    presence = Presence(request.app.state.engine.services.bus, caller, flow_id)

    async def check_again() -> None:
        await check(await again())
        presence.repeat()

    await check(caller)
    stream = FlowStream(database, feed, caller.tenant_id, flow_id)
    stream_events = presence.during(stream.events()) if follow else stream.state()
    body = with_heartbeat(stream_events, may_go_on=while_allowed(check_again))
    return EventStream(body)


@router.get("/{flow_id}/versions", "List versions", [VIEW], problems=(404,))
async def list_versions(
    flow_id: str,
    session: ReadSession,
    caller: Caller,
    limit: Limit = 50,
    cursor: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
    released: bool = False,  # noqa: FBT001, FBT002 - a query parameter
) -> Page[VersionSummary]:
    """List versions, newest first; with `released=true` only published ones."""
    rows = await history.list_versions(session, caller, flow_id, released_only=released, limit=limit + 1, before=cursor)
    page, following = page_of(rows, limit, "version")
    return Page(items=[VersionSummary.model_validate(row) for row in page], next_cursor=following)


@router.get("/{flow_id}/versions/{before}..{after}", "Compare two versions", [VIEW], problems=(404,))
async def diff(
    flow_id: str, before: Which, after: Which, session: ReadSession, caller: Caller, catalog: Components
) -> DiffOut:
    """The differences in nodes, values, edges, form and settings; positions are ignored. Each side may be `draft`."""
    difference = await versions.diff_versions(session, caller, catalog, flow_id, before=before, after=after)
    changes: dict[str, JsonValue] = difference.as_json()
    return DiffOut(before=before, after=after, identical=difference.is_empty, lines=difference.lines(), changes=changes)


@router.get("/{flow_id}/versions/{version}", "Read a version", [VIEW], problems=(404,))
async def read_version(flow_id: str, version: int, session: ReadSession, caller: Caller) -> VersionOut:
    """A version with its content."""
    return _version_out(await history.get_version(session, caller, flow_id, version))


@router.post("/{flow_id}/versions/{version}/restore", "Restore a version", [EDIT], problems=(403, 404, 409))
async def restore(
    flow_id: str,
    version: int,
    body: RestoreIn,
    session: WriteSession,
    caller: Caller,
    catalog: Components,
    rules: Rules,
) -> FlowOut:
    """Restore a version's content as the draft."""
    row = await versions.restore_version(session, caller, catalog, flow_id, version, revision=body.revision)
    return await _out(row, rules)


async def _out(row: FlowRow, rules: FlowRules, session: AsyncSession | None = None) -> FlowOut:
    """A flow with its readiness; `session` sees what its transaction has created."""
    definition = service.definition_of(row)
    readiness = Readiness(())
    if definition.nodes:
        readiness = await rules.check(row.tenant_id, row.space_id, definition, session=session)
    issues = [issue.as_json() for issue in readiness.issues]
    summary = FlowSummary.model_validate(row).model_dump()
    return FlowOut(**summary, definition=definition, issues=issues, needs=list(readiness.needs))


def _version_out(row: FlowVersionRow) -> VersionOut:
    summary = VersionSummary.model_validate(row).model_dump()
    return VersionOut(**summary, definition=Flow.model_validate(row.definition))
