"""The routes of widgets, outside of the API: a frame for anonymous visitors.

The frame is sandboxed, so its origin is `null`: it has no cookies and sends none. It is authorised by its own tokens.
Another page can embed the frame where the flow allows that, and never read its contents.
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
from headgate.features.runs.chat.schemas import FeedbackIn
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.views.public_output import PublicOutput
from headgate.features.runs.widget import service
from headgate.features.runs.widget.answering import CORS, FrameRoute
from headgate.features.runs.widget.bounds import asks, begins, rates, stays_open
from headgate.features.runs.widget.errors import WidgetRefused
from headgate.features.runs.widget.schemas import WidgetFile, WidgetRun, WidgetStart
from headgate.features.runs.widget.service import Widget, find_widget
from headgate.features.runs.widget.tokens import seal, unseal
from headgate.features.runs.widget.visitor_events import visitor_events
from headgate.foundation.api import get_database, part
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.sse import EventStream, while_allowed, with_heartbeat

MAX_UPLOAD_BYTES = 3_500_000
"""Below the largest body that the server accepts, except for the API's uploads."""


def open_to_frames(response: Response) -> None:
    """Let the sandboxed frame, whose origin is `null`, read the response."""
    response.headers.update(CORS)


router = APIRouter(prefix="/w", include_in_schema=False, dependencies=[Depends(open_to_frames)], route_class=FrameRoute)
Rows = Annotated[Database, Depends(get_database)]
VISITORS = public(
    "For visitors of an external page; the flow must be offered, and a token identifies what they started."
)
_ASKS = [VISITORS, Depends(asks)]
_HELD = Depends(stays_open, scope="request")


def require_frame(request: Request) -> None:
    """Raise `WidgetRefused` unless the requesting page is the sandboxed frame itself."""
    origin = request.headers.get("origin", "null")
    own_origin = f"{request.url.scheme}://{request.url.netloc}"
    if origin not in {"null", own_origin}:
        raise WidgetRefused


async def _offered(flow_id: str, request: Request, database: Rows) -> Widget:
    """Return the widget, if the requesting page is the frame itself."""
    require_frame(request)
    return await find_widget(database, flow_id)


Engine = Annotated[ExecutionBackend, part("engine")]
Box = Annotated[SecretBox, part("box")]
Contents = Annotated[Storage, part("storage")]
Offered = Annotated[Widget, Depends(_offered)]
Visit = Annotated[str, Header(alias="x-widget-visit", max_length=2_000)]


@router.options("/{flow_id}/{rest:path}", dependencies=[public("Lists what the frame may send; changes nothing.")])
async def preflight(flow_id: str, rest: str) -> Response:  # noqa: ARG001 - where it is asked
    """Answer a browser's preflight request."""
    allowed = {"Access-Control-Allow-Methods": "GET, POST", "Access-Control-Max-Age": "7200"}
    allowed["Access-Control-Allow-Headers"] = "content-type, idempotency-key, x-widget-visit"
    return Response(status_code=204, headers=CORS | allowed)


@router.post("/{flow_id}/files", status_code=201, dependencies=[*_ASKS, Depends(begins), _HELD])
async def upload(
    request: Request, widget: Offered, database: Rows, box: Box, contents: Contents, visit: Visit = ""
) -> WidgetFile:
    """Store a file for a run of this visit."""
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
    """Stream the result: `started`, `text`, `again`, then `done` or `failed`."""
    key = service.run_of(box, widget, token)
    visitor = widget.visitor(None)
    public_output = PublicOutput(engine, visitor, key)
    still = while_allowed(lambda: find_widget(database, widget.flow_id))
    response = EventStream(with_heartbeat(visitor_events(database, box, widget, public_output), may_go_on=still))
    response.headers.update(CORS)
    return response


@router.post("/{flow_id}/runs/{token}/stop", status_code=204, dependencies=_ASKS)
async def stop(request: Request, widget: Offered, token: str, engine: Engine, box: Box) -> Response:
    """Cancel a run that this visit started."""
    key = service.run_of(box, widget, token)
    await runs.cancel_run(engine, widget.visitor(address_of(request)), key.run_id)
    return Response(status_code=204, headers=CORS)


@router.post("/{flow_id}/runs/{token}/feedback", status_code=204, dependencies=[*_ASKS, Depends(rates)])
async def rate(
    body: FeedbackIn, request: Request, widget: Offered, token: str, database: Rows, box: Box, visit: Visit = ""
) -> Response:
    """Store what the visitor thinks of an answer, and what a correct one would be."""
    await service.rate(database, box, widget, body, run=token, visit=visit, address=address_of(request))
    return Response(status_code=204, headers=CORS)


@router.get("/{flow_id}/files/{token}", response_class=StreamingResponse, dependencies=[*_ASKS, _HELD])
async def download(widget: Offered, token: str, database: Rows, box: Box, contents: Contents) -> StreamingResponse:
    """Return a file of the result."""
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
