"""HTTP routes of runs."""

from functools import partial
from typing import Annotated, Literal

from fastapi import Depends, Header, Query, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import AwareDatetime

from headgate.features.access.caller import Caller, CallerAgain, needs
from headgate.features.access.permissions import Permission
from headgate.features.flows.organization.names import LONGEST_TAG
from headgate.features.idempotency.http import Once
from headgate.features.idempotency.keys import StartKey
from headgate.features.keyring.service import signing_keys
from headgate.features.runs import breakpoints, bulk, pausing, service
from headgate.features.runs.breakpoints import BreakpointContinue, BreakpointContinueOut
from headgate.features.runs.bulk import RunsChangeIn, RunsChangeOut
from headgate.features.runs.deliveries.schemas import DeliveryState
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.evidence.archive import as_json, as_zip
from headgate.features.runs.evidence.service import Notary, read_contents
from headgate.features.runs.preview.schemas import DryRunOut, DryRunStart
from headgate.features.runs.preview.service import DryRuns
from headgate.features.runs.run_export import COLUMNS, MEDIA_TYPES, ExportFormat, RunColumn, export_runs
from headgate.features.runs.run_filter import RunFilter, stored_time
from headgate.features.runs.schemas import (
    CancelOut,
    EvidenceOut,
    GraphOut,
    PauseOut,
    RunOut,
    RunRelationsOut,
    RunStart,
    RunState,
    RunSummary,
    StepOut,
)
from headgate.features.runs.views.client_waits import wait_or_end
from headgate.features.runs.views.graph import graph_of_draft, graph_of_run
from headgate.features.runs.views.stream import RunStream
from headgate.foundation.api import Cursor, Limit, Page, ReadSession, Routes, get_database, parse_cursor, part
from headgate.foundation.database import Database
from headgate.foundation.key_history import KeyRecord
from headgate.foundation.sse import EventStream, while_allowed, with_heartbeat

router = Routes(tags=["runs"])
Rows = Annotated[Database, Depends(get_database)]


Engine = Annotated[ExecutionBackend, part("engine")]


Evidence = Annotated[Notary, part("notary")]
_VIEW = [needs(Permission.RUNS_VIEW)]
_VIEW_FLOW = [needs(Permission.FLOWS_VIEW)]
_START = [needs(Permission.RUNS_START)]


@router.post("/flows/{flow_id}/runs", "Run a flow", _START, status_code=201, problems=(404, 409))
async def start(
    flow_id: str, body: RunStart, database: Rows, engine: Engine, caller: Caller, once: Once, response: Response
) -> RunOut:
    """Start a run of the draft, of the published version, or of any version by number.

    Responds as soon as the run is stored, or with `wait` when it is over. When it waits for an approval or an event
    meanwhile, the response is 202, with what it waits for and how it continues in `waits_for`.
    """

    async def begin(key: StartKey | None) -> str:
        return (await service.start_run(database, engine, caller, flow_id, body, once=key)).run_id

    run_id = await once.begin(begin, may_read=partial(service.get_run, engine, caller))
    if not body.wait:
        return await service.answer_of(engine, caller, run_id)
    run = await wait_or_end(engine, caller, run_id)
    if run.waits_for is not None:
        response.status_code = 202
    return run


@router.post("/flows/{flow_id}/dry-run", "Dry-run a flow", _START, problems=(404,))
async def dry_run(flow_id: str, request: Request, caller: Caller, body: DryRunStart | None = None) -> DryRunOut:
    """Report what a run would do and need, and its problems. Nothing is stored, called or sent."""
    dry_runs: DryRuns = request.app.state.dry_runs
    return await dry_runs.of_flow(caller, flow_id, body or DryRunStart())


@router.get("/flows/{flow_id}/graph", "Read a flow as a graph", _VIEW_FLOW, problems=(404,))
async def graph(
    flow_id: str,
    session: ReadSession,
    engine: Engine,
    caller: Caller,
    run_id: Annotated[str | None, Query(description="Show the version of this run, with its results.")] = None,
) -> GraphOut:
    """Return nodes and edges of the draft, or of the immutable version that a run is pinned to with its results.

    With a run it needs `runs.view` too.
    """
    if run_id is None:
        return await graph_of_draft(session, engine, caller, flow_id)
    return await graph_of_run(session, engine, caller, flow_id, run_id)


def _run_filter(
    flow_id: Annotated[str | None, Query(max_length=36)] = None,
    status: RunState | None = None,
    session_id: Annotated[str | None, Query(max_length=128)] = None,
    deliveries: Annotated[DeliveryState | None, Query(description="With a delivery in this state.")] = None,
    since: Annotated[AwareDatetime | None, Query(description="Created at or after this time.")] = None,
    until: Annotated[AwareDatetime | None, Query(description="Created before this time.")] = None,
    parent_run_id: Annotated[str | None, Query(max_length=36, description="Started by a step of this run.")] = None,
    parent_step_id: Annotated[str | None, Query(max_length=200)] = None,
    version: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
    user_id: Annotated[str | None, Query(max_length=36, description="Started by this user.")] = None,
    owner_id: Annotated[str | None, Query(max_length=36, description="Runs of flows of this owner.")] = None,
    tag: Annotated[str | None, Query(max_length=LONGEST_TAG, description="Runs of flows with this tag.")] = None,
    trigger_id: Annotated[
        str | None, Query(max_length=36, description="Started by this trigger, in the last 90 days.")
    ] = None,
) -> RunFilter:
    return RunFilter(
        *(flow_id, status, session_id, stored_time(since), stored_time(until), deliveries),
        *(parent_run_id, parent_step_id, version, user_id, owner_id, tag and tag.lower()),
        trigger_id=trigger_id,
    )


Filter = Annotated[RunFilter, Depends(_run_filter)]
Search = Annotated[
    str | None,
    Query(max_length=200, description=("Words of the input, result or error; searches 20,000 runs per page.")),
]


@router.get("/flow-runs", "List runs", _VIEW)
async def list_(
    session: ReadSession,
    caller: Caller,
    run_filter: Filter,
    limit: Limit = 50,
    cursor: Cursor = None,
    search: Search = None,
    *,
    details: Annotated[bool, Query(description="Also trigger, release, owner, tags and cost of each run.")] = False,
) -> Page[RunSummary]:
    """List runs, newest first. A page of a search may be empty and have a next one with older runs."""
    items, following = await service.page_of_runs(
        session, caller, run_filter, search=search, details=details, limit=limit, before=parse_cursor(cursor)
    )
    return Page(items=items, next_cursor=following)


@router.get(
    "/flow-runs/export",
    "Export runs",
    _VIEW,
    response_class=StreamingResponse,
    responses={200: {"content": {kind: {} for kind in ("text/csv", "application/jsonl")}}},
)
async def export(
    database: Rows,
    again: CallerAgain,
    run_filter: Filter,
    search: Search = None,
    form: Annotated[ExportFormat, Query(alias="format")] = "csv",
    column: Annotated[
        list[RunColumn] | None, Query(max_length=30, description="Columns, in their order; omitted: all.")
    ] = None,
) -> StreamingResponse:
    """Export the runs of a list, newest first, as CSV or JSON Lines. Only runs that you may view are exported.

    The result of a run is truncated as in the list.
    """
    lines = export_runs(
        database, again, run_filter, form=form, search=search, columns=tuple(dict.fromkeys(column or COLUMNS))
    )
    headers = {"Content-Disposition": f'attachment; filename="runs.{form}"', "X-Content-Type-Options": "nosniff"}
    return StreamingResponse(lines, media_type=MEDIA_TYPES[form], headers=headers)


@router.get("/flow-runs/{run_id}", "Read a run", _VIEW, problems=(404,))
async def read(run_id: str, engine: Engine, caller: Caller) -> RunOut:
    """Return a run with its steps and its result."""
    return await service.get_run(engine, caller, run_id)


@router.get(
    "/flow-runs/{run_id}/text",
    "Download the text of a run's result",
    _VIEW,
    problems=(404,),
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}}},
)
async def text(run_id: str, engine: Engine, caller: Caller) -> Response:
    """Return the complete text of the result; empty when a run has none."""
    run = await service.get_run(engine, caller, run_id)
    headers = {"Content-Disposition": f'attachment; filename="{run.id}.txt"', "X-Content-Type-Options": "nosniff"}
    return Response(await service.complete_text(engine, caller, run), media_type="text/plain", headers=headers)


@router.get(
    "/flow-runs/{run_id}/events",
    "Watch a run",
    _VIEW,
    problems=(404,),
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}}},
)
async def events(
    run_id: str,
    database: Rows,
    engine: Engine,
    caller: Caller,
    again: CallerAgain,
    last_event_id: Annotated[str, Header(max_length=100)] = "",
) -> EventStream:
    """Stream the events of a run until it is over. To resume, send the last received id as `Last-Event-ID`."""
    async with database.reading() as session:
        await service.check_run(session, caller, run_id)
    stream = RunStream(engine, caller.tenant_id, run_id)

    async def check() -> None:
        async with database.reading() as session:
            await service.check_run(session, await again(), run_id)

    return EventStream(with_heartbeat(stream.events(last_event_id), may_go_on=while_allowed(check)))


@router.post("/flow-runs/{run_id}/cancel", "Cancel a run", _START, problems=(404,))
async def cancel(run_id: str, engine: Engine, caller: Caller) -> CancelOut:
    """Cancel a run. Has no effect on a run that is over."""
    return await service.cancel_run(engine, caller, run_id)


@router.post("/flow-runs/{run_id}/pause", "Pause a run", _START, problems=(404, 409))
async def pause(run_id: str, engine: Engine, caller: Caller) -> PauseOut:
    """Pause a run and the runs that its steps started.

    Running steps finish; no other step starts, and what becomes due waits. Has no effect on a paused run.
    """
    return await pausing.pause_run(engine, caller, run_id)


@router.post("/flow-runs/{run_id}/continue", "Continue a paused run", _START, problems=(404, 409))
async def continue_(run_id: str, engine: Engine, caller: Caller) -> PauseOut:
    """Continue a paused run and the paused runs that its steps started. Has no effect on a run that is not paused.

    A failed run is resumed with `/resume`.
    """
    return await pausing.continue_run(engine, caller, run_id)


@router.post(
    "/flow-runs/{run_id}/breakpoints/continue", "Continue a run from a breakpoint", _START, problems=(404, 409)
)
async def continue_from_breakpoint(
    run_id: str, database: Rows, engine: Engine, caller: Caller, body: BreakpointContinue | None = None
) -> BreakpointContinueOut:
    """Execute the steps before which the run stopped, and set where it stops next.

    Has no effect on a run that is stopped at no breakpoint.
    """
    then = (body or BreakpointContinue()).then
    return await breakpoints.continue_stopped(database, engine, caller, run_id, then)


@router.post("/flow-runs/actions", "Change several runs", _START, problems=(403, 409))
async def change_several(
    body: RunsChangeIn, database: Rows, engine: Engine, caller: Caller, once: Once
) -> RunsChangeOut:
    """Cancel, pause, continue, resume or rerun each of the runs, or redeliver its failed deliveries.

    The response has one result per run. With an `Idempotency-Key` it is stored for 24 hours.
    """

    async def change() -> RunsChangeOut:
        return RunsChangeOut(items=await bulk.change_each(database, engine, caller, body))

    return await once.perform(bulk.MOST_SECONDS, change, RunsChangeOut)


@router.get("/flow-runs/{run_id}/relations", "Runs above and below a run", _VIEW, problems=(404,))
async def relations(run_id: str, session: ReadSession, caller: Caller) -> RunRelationsOut:
    """Return the step that started the run, and how many runs its own steps started."""
    return await service.get_relations(session, caller, run_id)


@router.get(
    "/flow-runs/{run_id}/evidence",
    "Evidence of a run",
    _VIEW,
    problems=(404,),
    response_class=Response,
    responses={200: {"model": EvidenceOut, "content": {"application/zip": {}}}},
)
async def evidence(
    run_id: str,
    database: Rows,
    engine: Engine,
    notary: Evidence,
    caller: Caller,
    form: Annotated[
        Literal["json", "zip"], Query(alias="format", description="`zip` also contains the contents of the artifacts.")
    ] = "json",
) -> Response:
    """Return the run, its definition, and every step with its inputs and outputs; chained and signed.

    The document is reproducible byte by byte. `headgate evidence verify FILE` verifies it without a server.
    """
    async with database.reading() as session:
        package = await notary.package(session, caller, run_id)
    if form == "json":
        return Response(as_json(package), media_type="application/json")
    contents = await read_contents(package, engine.services.files, caller.tenant_id)
    return Response(as_zip(package, contents), media_type="application/zip")


@router.get("/evidence-keys", "List keys that sign evidence", _VIEW)
async def evidence_keys(session: ReadSession, notary: Evidence, caller: Caller) -> list[KeyRecord]:
    """Return all public keys of this installation's evidence, oldest first, with their validity."""
    caller.require_somewhere(Permission.RUNS_VIEW)
    return await signing_keys(session, notary.signer.ring)


@router.get("/flow-runs/{run_id}/steps/{step_id}", "Read a step of a run", _VIEW, problems=(404,))
async def read_step(run_id: str, step_id: str, session: ReadSession, engine: Engine, caller: Caller) -> StepOut:
    """Return one step of a run with all its data: output, prompt, tool calls, log, attempts."""
    return await service.get_step(session, engine, caller, run_id, step_id)
