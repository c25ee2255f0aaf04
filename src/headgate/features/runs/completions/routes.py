"""`/v1/chat/completions` and `/v1/models`: the endpoints of the OpenAI API, outside of Headgate's own API."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response

from headgate.features.access.caller import Caller, CallerAgain, needs
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.idempotency.http import Once, headers_of
from headgate.features.idempotency.keys import StartKey
from headgate.features.runs import service as runs
from headgate.features.runs.completions import service
from headgate.features.runs.completions.answering import OpenAIRoute, allow_placeholder
from headgate.features.runs.completions.schemas import ChatRequest, ErrorOut, ModelList, ModelOut
from headgate.features.runs.completions.stream import Completion, failure_of, waiting_text
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.schemas import RunStart
from headgate.features.runs.transitions import RunKey
from headgate.features.runs.views.public_output import PublicOutput
from headgate.foundation.api import ReadSession, get_database
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError
from headgate.foundation.sse import EventStream, while_allowed, with_heartbeat

RUN_HEADER = "X-Headgate-Run-Id"
LOOK_SECONDS = 0.5
"""Interval between checks for a client disconnect."""

router = APIRouter(
    prefix="/v1",
    tags=["openai"],
    route_class=OpenAIRoute,
    dependencies=[Depends(allow_placeholder)],
    responses={status: {"model": ErrorOut} for status in (400, 401, 403, 404, 409, 429, 500, 503)},
)
Rows = Annotated[Database, Depends(get_database)]
_START = [needs(Permission.RUNS_START)]


@router.get("/models", summary="List published flows as models", dependencies=_START)
async def list_models(session: ReadSession, caller: Caller) -> ModelList:
    """List the published flows that the caller may run."""
    return ModelList(data=list(await service.list_models(session, caller)))


@router.get("/models/{model:path}", summary="Read a published flow as a model", dependencies=_START)
async def read_model(model: str, session: ReadSession, caller: Caller) -> ModelOut:
    """Return a published flow by id or name."""
    published = await service.find_model(session, caller, model)
    return service.model_of(published, by_name=model != published.id)


@router.post(
    "/chat/completions",
    summary="Complete a chat with a published flow",
    response_class=Response,
    responses={200: {"content": {"application/json": {}, "text/event-stream": {}}}},
    dependencies=_START,
)
async def complete(
    body: ChatRequest, request: Request, database: Rows, caller: Caller, again: CallerAgain, once: Once
) -> Response:
    """Run the published version of the flow that `model` names, with the user's last message as its text.

    Earlier messages become the chat history. The run is cancelled when the client disconnects, unless the request
    has an `Idempotency-Key`: then the client may request its result again. A run that waits for an approval is
    answered with that, and continues after the decision.
    """
    engine: ExecutionBackend = request.app.state.engine
    text, history = service.chat_of(body.messages)
    async with database.reading() as session:
        flow_id = (await service.find_model(session, caller, body.model)).id
    start = RunStart(text=text, form_data=body.form_data, version="published")

    async def begin(key: StartKey | None) -> str:
        return (await runs.start_run(database, engine, caller, flow_id, start, history=history, once=key)).run_id

    run_id = await once.begin(begin, may_read=partial(runs.get_run, engine, caller))
    key = await runs.key_of(engine, caller, run_id)
    cancel = _canceller(engine, caller, key) if once.key is None else _do_not_cancel
    usage = body.stream_options is not None and body.stream_options.include_usage
    completion = Completion(key.run_id, body.model, usage)

    async def check() -> None:
        async with database.reading() as session:
            await service.find_model(session, await again(), flow_id)

    if body.stream:
        response: Response = EventStream(
            with_heartbeat(
                completion.chunks(
                    PublicOutput(engine, caller, key),
                    partial(runs.complete_text, engine, caller),
                    cancel,
                ),
                may_go_on=while_allowed(check),
            )
        )
    else:
        response = await _response(request, engine, caller, completion, PublicOutput(engine, caller, key), cancel)
    response.headers.update({RUN_HEADER: key.run_id, **headers_of(once)})
    return response


async def _response(
    request: Request,
    engine: ExecutionBackend,
    caller: Principal,
    completion: Completion,
    public_output: PublicOutput,
    cancel: Callable[[], Awaitable[None]],
) -> Response:
    run_task = asyncio.ensure_future(public_output.first_answer())
    try:
        while not run_task.done():
            await asyncio.wait([run_task], timeout=LOOK_SECONDS)
            if not run_task.done() and await request.is_disconnected():
                await cancel()
                return Response(status_code=499)
    finally:
        run_task.cancel()
    run = run_task.result()
    if run.status == "waiting":
        return JSONResponse(completion.response(run, waiting_text(run)))
    if run.status != "completed":
        return JSONResponse(failure_of(run), status_code=500)
    return JSONResponse(completion.response(run, await runs.complete_text(engine, caller, run)))


async def _do_not_cancel() -> None:
    """Let the run continue: the client may request its result again."""


def _canceller(engine: ExecutionBackend, caller: Principal, key: RunKey) -> Callable[[], Awaitable[None]]:
    async def cancel() -> None:
        with suppress(HeadgateError):  # a run that has ended stays as it is
            await runs.cancel_run(engine, caller, key.run_id)

    return cancel
