"""The routes of widgets, outside of the API: a frame for people whom nobody knows.

The frame is sandboxed, so its origin is `null`: it has no cookies and sends none. What it may do it says with tokens of
its own; another page can load the frame where the flow allows that, and never read what is in it.
"""

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Request
from fastapi.responses import Response, StreamingResponse

from headgate.features.access.caller import public
from headgate.features.accounts.addresses import address_of
from headgate.features.files import service as files
from headgate.features.files.names import attachment
from headgate.features.files.storage import Storage
from headgate.features.files.upload import pieces, uploaded_file
from headgate.features.runs import service as runs
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.views.speaking import Speech
from headgate.features.runs.widget import service
from headgate.features.runs.widget.answering import CORS, FrameRoute
from headgate.features.runs.widget.bounds import asks, begins, stays_open
from headgate.features.runs.widget.errors import WidgetRefused
from headgate.features.runs.widget.schemas import WidgetFile, WidgetRun, WidgetStart
from headgate.features.runs.widget.service import Widget, find_widget
from headgate.features.runs.widget.telling import told_to_visitors
from headgate.features.runs.widget.tokens import seal, unseal
from headgate.foundation.api import get_database
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.sse import EventStream, while_allowed, with_heartbeat

MAX_UPLOAD_BYTES = 3_500_000
"""Less than the largest body that the server takes anywhere but at the API's uploads."""


def open_to_frames(response: Response) -> None:
    """Let the sandboxed frame, whose origin is `null`, read the answer."""
    response.headers.update(CORS)


router = APIRouter(prefix="/w", include_in_schema=False, dependencies=[Depends(open_to_frames)], route_class=FrameRoute)
Rows = Annotated[Database, Depends(get_database)]
VISITORS = public("Visitors of an outside page; the flow must be offered, and a token says what they started.")
_ASKS = [VISITORS, Depends(asks)]
_HELD = Depends(stays_open, scope="request")


def _engine(request: Request) -> ExecutionBackend:
    found: ExecutionBackend = request.app.state.engine
    return found


def _box(request: Request) -> SecretBox:
    found: SecretBox = request.app.state.box
    return found


def _storage(request: Request) -> Storage:
    found: Storage = request.app.state.storage
    return found


async def _offered(flow_id: str, request: Request, database: Rows) -> Widget:
    """The widget, where the page that asks is the frame itself."""
    origin = request.headers.get("origin", "null")
    own = f"{request.url.scheme}://{request.url.netloc}"
    if origin not in {"null", own}:
        raise WidgetRefused
    return await find_widget(database, flow_id)


Engine = Annotated[ExecutionBackend, Depends(_engine)]
Box = Annotated[SecretBox, Depends(_box)]
Contents = Annotated[Storage, Depends(_storage)]
Offered = Annotated[Widget, Depends(_offered)]
Visit = Annotated[str, Header(alias="x-widget-visit", max_length=2_000)]


@router.options("/{flow_id}/{rest:path}", dependencies=[public("Says what the frame may send; nothing is done.")])
async def preflight(flow_id: str, rest: str) -> Response:  # noqa: ARG001 - where it is asked
    """What browsers ask before the frame sends something."""
    allowed = {"Access-Control-Allow-Methods": "GET, POST", "Access-Control-Max-Age": "7200"}
    allowed["Access-Control-Allow-Headers"] = "content-type, idempotency-key, x-widget-visit"
    return Response(status_code=204, headers=CORS | allowed)


@router.post("/{flow_id}/files", status_code=201, dependencies=[*_ASKS, Depends(begins), _HELD])
async def upload(
    request: Request, widget: Offered, database: Rows, box: Box, contents: Contents, visit: Visit = ""
) -> WidgetFile:
    """Take a file for a run of this visit."""
    visitor = unseal(box, "visit", visit, flow=widget.flow_id)["visitor"]
    async with uploaded_file(request, max_bytes=MAX_UPLOAD_BYTES) as file:
        row = await files.store_upload(
            database,
            contents,
            widget.visitor(address_of(request)),
            name=file.filename or "",
            content=pieces(file),
            media_type=file.content_type or "",
            max_bytes=MAX_UPLOAD_BYTES,
            limits=request.app.state.quotas,
            visitor=runs.visitor_of(widget.visitor(address_of(request))),
        )
    token = seal(box, "upload", file=row.id, flow=widget.flow_id, visitor=visitor)
    return WidgetFile(token=token, name=row.name, size=row.size_bytes)


@router.post("/{flow_id}/runs", status_code=201, dependencies=[*_ASKS, Depends(begins)])
async def start(
    body: WidgetStart,
    request: Request,
    widget: Offered,
    database: Rows,
    engine: Engine,
    box: Box,
    visit: Visit = "",
    idempotency_key: Annotated[str | None, Header()] = None,
) -> WidgetRun:
    """Run the published version; the same request with the same idempotency key starts one run."""
    token = await service.start(
        database, engine, box, widget, body, visit=visit, address=address_of(request), key=idempotency_key
    )
    return WidgetRun(run=token)


@router.get("/{flow_id}/runs/{token}/events", response_class=StreamingResponse, dependencies=[*_ASKS, _HELD])
async def events(widget: Offered, token: str, database: Rows, engine: Engine, box: Box) -> EventStream:
    """The result as it comes: `started`, `text`, `again`, then `done` or `failed`."""
    key = service.run_of(box, widget, token)
    visitor = widget.visitor(None)
    speech = Speech(engine, visitor, key)
    still = while_allowed(lambda: find_widget(database, widget.flow_id))
    answer = EventStream(with_heartbeat(told_to_visitors(database, box, widget, speech), may_go_on=still))
    answer.headers.update(CORS)
    return answer


@router.post("/{flow_id}/runs/{token}/stop", status_code=204, dependencies=_ASKS)
async def stop(request: Request, widget: Offered, token: str, engine: Engine, box: Box) -> Response:
    """End a run that this visit started."""
    key = service.run_of(box, widget, token)
    await runs.cancel_run(engine, widget.visitor(address_of(request)), key.run_id)
    return Response(status_code=204, headers=CORS)


@router.get("/{flow_id}/files/{token}", response_class=StreamingResponse, dependencies=[*_ASKS, _HELD])
async def download(widget: Offered, token: str, database: Rows, box: Box, contents: Contents) -> StreamingResponse:
    """A file of the result."""
    file_id = unseal(box, "file", token, flow=widget.flow_id)["file"]
    async with database.reading() as session:
        row = await files.get_file_system(session, tenant_id=widget.tenant_id, file_id=file_id)
    headers = {
        "Content-Disposition": attachment(row.name),
        "Content-Length": str(row.size_bytes),
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Cache-Control": "private, no-store",
    }
    return StreamingResponse(await files.open_file(contents, row), media_type=row.media_type, headers=CORS | headers)
