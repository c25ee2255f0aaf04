"""HTTP routes of triggers."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.triggers import service, starts, views
from headgate.features.triggers.figures import trigger_statistics
from headgate.features.triggers.firing import Firing
from headgate.features.triggers.forms import links
from headgate.features.triggers.holidays import holidays_at, holidays_of, with_holidays
from headgate.features.triggers.hooks import service as hooks
from headgate.features.triggers.polling import dry_runs
from headgate.features.triggers.polling.poller import Poller
from headgate.features.triggers.schemas import (
    AgendaEntry,
    BackfillCancelled,
    BackfillIn,
    BackfillOut,
    CallOut,
    FiredOut,
    FiringOut,
    FormLinkOut,
    FormLinksIn,
    FormLinksMade,
    OccurrenceOut,
    OccurrenceState,
    PauseIn,
    PollDryRunOut,
    PreviewIn,
    PreviewOut,
    TriggerIn,
    TriggerMade,
    TriggerOut,
    TriggerPatch,
    TriggerState,
    TriggerStatistics,
)
from headgate.features.triggers.settings import Kind, ScheduleConfig, TriggerInput
from headgate.foundation.api import (
    Cursor,
    Limit,
    Page,
    ReadSession,
    WriteSession,
    get_database,
    page_of,
    parse_cursor,
    part,
    problems,
)
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database, microseconds, now
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.graph.json_values import PlainText

router = APIRouter(tags=["triggers"])
Rows = Annotated[Database, Depends(get_database)]
_VIEW, _RUNS = [needs(Permission.FLOWS_VIEW)], [needs(Permission.RUNS_VIEW)]
_START, _MANAGE = [needs(Permission.RUNS_START)], [needs(Permission.TRIGGERS_MANAGE)]


Box = Annotated[SecretBox, part("box")]
Fires = Annotated[Firing, part("firing")]
Polls = Annotated[Poller, part("poller")]
FOLD = "Occurrences at the same gap on one day as one entry. The soonest 50,000 of all schedules; the list ends there."
FlowId = Annotated[PlainText | None, Query(max_length=36, description="Only triggers of this flow.")]


@router.get("/triggers", summary="List triggers", responses=problems(), dependencies=_VIEW)
async def list_(
    session: ReadSession,
    caller: Caller,
    limit: Limit = 50,
    cursor: Cursor = None,
    flow_id: FlowId = None,
    kind: Kind | None = None,
    state: TriggerState | None = None,
    text: Annotated[PlainText, Query(max_length=200, description="Part of the name of the trigger or flow.")] = "",
) -> Page[TriggerOut]:
    """List the triggers of your spaces, newest first."""
    rows = await service.list_triggers(
        session,
        caller,
        flow_id=flow_id,
        kind=kind,
        state=state,
        text=text.strip(),
        limit=limit + 1,
        before=parse_cursor(cursor),
    )
    page, following = page_of(rows, limit, "id")
    return Page(items=page, next_cursor=following)


@router.post("/triggers/preview", summary="Preview a trigger", responses=problems(), dependencies=_VIEW)
async def preview(body: PreviewIn, caller: Caller, poller: Polls) -> PreviewOut:
    """Return a schedule in words with its next occurrences, and the holidays of a calendar. Nothing is stored."""
    caller.require_somewhere(Permission.FLOWS_VIEW)
    config = body.config
    if body.calendar is not None and isinstance(config, ScheduleConfig):
        days = await holidays_of(poller.context(caller), body.calendar)
        config = with_holidays(config, days)
    if body.read_calendar and isinstance(config, ScheduleConfig) and config.calendar_url:
        caller.require_somewhere(Permission.TRIGGERS_MANAGE)
        config = with_holidays(config, await holidays_at(poller.context(caller), config.calendar_url))
    return await run_in_flow_thread(views.preview, config, body.count)


@router.get("/triggers/agenda", summary="List what schedules will start", responses=problems(), dependencies=_VIEW)
async def agenda(
    session: ReadSession,
    caller: Caller,
    days: Annotated[int, Query(ge=1, le=31)] = 7,
    limit: Limit = 100,
    flow_id: FlowId = None,
    *,
    fold: Annotated[bool, Query(description=FOLD)] = False,
) -> Page[AgendaEntry]:
    """List the next occurrences of all schedules of your spaces, soonest first."""
    until = microseconds(now() + timedelta(days=days))
    return Page(items=await service.agenda(session, caller, until=until, flow_id=flow_id, limit=limit, fold=fold))


@router.post(
    "/flows/{flow_id}/triggers",
    status_code=201,
    summary="Add a trigger",
    responses=problems(403, 404, 409),
    dependencies=_MANAGE,
)
async def add(flow_id: str, body: TriggerIn, session: WriteSession, caller: Caller, box: Box) -> TriggerMade:
    """Add a trigger to a flow. Its published version runs, with the rights of the owner. The secret is shown once."""
    return await service.add_trigger(session, caller, flow_id, body, box=box)


@router.get("/triggers/{trigger_id}", summary="Read a trigger", responses=problems(404), dependencies=_VIEW)
async def read(trigger_id: str, session: ReadSession, caller: Caller) -> TriggerOut:
    """Return a trigger."""
    return await service.get_trigger(session, caller, trigger_id)


@router.patch(
    "/triggers/{trigger_id}", summary="Change a trigger", responses=problems(403, 404, 409), dependencies=_MANAGE
)
async def change(trigger_id: str, body: TriggerPatch, session: WriteSession, caller: Caller, box: Box) -> TriggerOut:
    """Change a trigger. A changed schedule counts from now."""
    return await service.change_trigger(session, caller, trigger_id, body, box=box)


@router.delete(
    "/triggers/{trigger_id}",
    status_code=204,
    summary="Remove a trigger",
    responses=problems(403, 404),
    dependencies=_MANAGE,
)
async def remove(trigger_id: str, session: WriteSession, caller: Caller) -> None:
    """Remove a trigger with its occurrences. Its runs stay."""
    await service.remove_trigger(session, caller, trigger_id)


@router.post(
    "/triggers/{trigger_id}/pause", summary="Pause a trigger", responses=problems(403, 404), dependencies=_MANAGE
)
async def pause(trigger_id: str, session: WriteSession, caller: Caller, body: PauseIn | None = None) -> TriggerOut:
    """Pause a trigger. Its runs continue. Has no effect on a paused one."""
    return await service.pause_trigger(session, caller, trigger_id, "" if body is None else body.reason)


@router.post(
    "/triggers/{trigger_id}/resume", summary="Resume a trigger", responses=problems(403, 404), dependencies=_MANAGE
)
async def resume(trigger_id: str, session: WriteSession, caller: Caller) -> TriggerOut:
    """Resume a trigger from now on. Due times of the pause are not run; a backfill runs them."""
    return await service.resume_trigger(session, caller, trigger_id)


@router.post(
    "/triggers/{trigger_id}/catch",
    summary="Catch the next call of a webhook",
    responses=problems(403, 404),
    dependencies=_MANAGE,
)
async def catch(trigger_id: str, session: WriteSession, caller: Caller) -> CallOut:
    """Show the next call at the address instead of starting a run, once within ten minutes."""
    return await hooks.begin_catching(session, caller, trigger_id)


@router.get(
    "/triggers/{trigger_id}/catch", summary="Read the caught call", responses=problems(403, 404), dependencies=_MANAGE
)
async def caught(trigger_id: str, session: ReadSession, caller: Caller, box: Box) -> CallOut:
    """Return the call that was caught, and whether it was verified."""
    return await hooks.caught_call(session, caller, trigger_id, box=box)


@router.post(
    "/triggers/{trigger_id}/fire",
    status_code=201,
    summary="Fire a trigger",
    responses=problems(404),
    dependencies=_START,
)
async def fire(trigger_id: str, caller: Caller, firing: Fires, body: TriggerInput | None = None) -> FiredOut:
    """Start the flow now, with the saved input or this one. The policies and the owner's rights apply."""
    return await starts.fire_now(firing, caller, trigger_id, body)


@router.post(
    "/triggers/{trigger_id}/dry-run",
    summary="Dry run of a poll",
    responses=problems(403, 404),
    dependencies=_MANAGE,
)
async def dry_run(trigger_id: str, database: Rows, caller: Caller, poller: Polls) -> PollDryRunOut:
    """Return what the next poll would start. Nothing is stored, started or marked. Only for the owner."""
    return await dry_runs.dry_run(database, poller, caller, trigger_id)


@router.get(
    "/triggers/{trigger_id}/occurrences",
    summary="List occurrences of a trigger",
    responses=problems(404),
    dependencies=_RUNS,
)
async def occurrences(
    trigger_id: str,
    session: ReadSession,
    caller: Caller,
    limit: Limit = 50,
    cursor: Cursor = None,
    status: OccurrenceState | None = None,
) -> Page[OccurrenceOut]:
    """List due times and events, newest first: the run of each, or why it started none."""
    rows = await service.list_occurrences(
        session, caller, trigger_id, status=status, limit=limit + 1, before=parse_cursor(cursor)
    )
    page, following = page_of(rows, limit, "id")
    return Page(items=page, next_cursor=following)


@router.get(
    "/triggers/{trigger_id}/statistics",
    summary="Read statistics of a trigger",
    responses=problems(404),
    dependencies=_RUNS,
)
async def statistics(
    trigger_id: str, session: ReadSession, caller: Caller, days: Annotated[int, Query(ge=1, le=90)] = 7
) -> TriggerStatistics:
    """Return how many occurrences started a run or were skipped, and why; their runs; how late they were."""
    return await trigger_statistics(session, caller, trigger_id, days=days)


@router.get("/triggers/{trigger_id}/next", summary="List next occurrences", responses=problems(404), dependencies=_VIEW)
async def next_(
    trigger_id: str, session: ReadSession, caller: Caller, count: Annotated[int, Query(ge=1, le=100)] = 10
) -> Page[FiringOut]:
    """List the next occurrences of a schedule, with the nights on which clocks change. None while it is paused."""
    return Page(items=await service.next_firings(session, caller, trigger_id, count))


@router.post(
    "/triggers/{trigger_id}/backfill",
    summary="Backfill a schedule",
    responses=problems(403, 404, 409),
    dependencies=_MANAGE,
)
async def backfill(trigger_id: str, body: BackfillIn, database: Rows, caller: Caller) -> BackfillOut:
    """Run the due times of a past range that have no occurrence, so many at the same time. A dry run lists them."""
    return await starts.backfill(database, caller, trigger_id, body)


@router.delete(
    "/triggers/{trigger_id}/backfill/{backfill_id}",
    summary="Cancel a backfill",
    responses=problems(403, 404),
    dependencies=_MANAGE,
)
async def cancel_backfill(trigger_id: str, backfill_id: str, database: Rows, caller: Caller) -> BackfillCancelled:
    """Cancel what the backfill has not started. Its runs continue."""
    return BackfillCancelled(cancelled=await starts.cancel_backfill(database, caller, trigger_id, backfill_id))


@router.post(
    "/triggers/{trigger_id}/links",
    status_code=201,
    summary="Create one-time links to a form",
    responses=problems(403, 404, 409),
    dependencies=_MANAGE,
)
async def add_links(
    trigger_id: str, session: WriteSession, caller: Caller, body: FormLinksIn | None = None
) -> FormLinksMade:
    """Create links that each take one submission. Their addresses are shown once."""
    return FormLinksMade(items=await links.add_links(session, caller, trigger_id, body or FormLinksIn()))


@router.get(
    "/triggers/{trigger_id}/links",
    summary="List one-time links to a form",
    responses=problems(403, 404),
    dependencies=_MANAGE,
)
async def list_links(
    trigger_id: str, session: ReadSession, caller: Caller, limit: Limit = 50, cursor: Cursor = None
) -> Page[FormLinkOut]:
    """List links, newest first: whether each was used, and by which run. Addresses are not stored."""
    rows = await links.list_links(session, caller, trigger_id, limit=limit + 1, before=parse_cursor(cursor))
    page, following = page_of(rows, limit, "id")
    return Page(items=page, next_cursor=following)


@router.delete(
    "/triggers/{trigger_id}/links/{link_id}",
    summary="Revoke a one-time link",
    responses=problems(403, 404, 409),
    dependencies=_MANAGE,
)
async def revoke_link(trigger_id: str, link_id: str, session: WriteSession, caller: Caller) -> FormLinkOut:
    """Revoke an unused link: it shows that it is not valid."""
    return await links.revoke_link(session, caller, trigger_id, link_id)
