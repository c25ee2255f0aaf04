"""What visitors of a form send, outside of the API.

The page of a form is sandboxed without an origin, as the frame of a widget is. So it has no cookie and no rights of a
user who is signed in: only the tokens that the page received.
"""

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Request
from fastapi.responses import Response

from headgate.features.access.caller import public
from headgate.features.accounts.addresses import address_of
from headgate.features.files.upload import uploaded_file
from headgate.features.runs import service as runs
from headgate.features.runs.widget.answering import CORS, FrameRoute
from headgate.features.runs.widget.bounds import asks, counted_start, stays_open
from headgate.features.runs.widget.routes import MAX_UPLOAD_BYTES, open_to_frames, require_frame
from headgate.features.runs.widget.schemas import WidgetFile, WidgetStart
from headgate.features.triggers.errors import FormBusy, FormNotFound, NotAdmitted
from headgate.features.triggers.forms import service
from headgate.features.triggers.forms.service import FormIntake, FormPage
from headgate.features.triggers.schemas import FormReceived
from headgate.foundation.api import get_database
from headgate.foundation.database import Database


class FormRoute(FrameRoute):
    """A route whose errors the page may read."""

    for_visitors = (*FrameRoute.for_visitors, NotAdmitted, FormNotFound, FormBusy)


router = APIRouter(
    prefix="/forms", include_in_schema=False, dependencies=[Depends(open_to_frames)], route_class=FormRoute
)
_VISITORS = public("For visitors of a form; its address or a one-time link names it, and a token the visit.")
_ASKS = [_VISITORS, Depends(asks), Depends(require_frame)]
Rows = Annotated[Database, Depends(get_database)]
Visit = Annotated[str, Header(alias="x-widget-visit", max_length=2_000)]


async def _form(token: str, request: Request, database: Rows) -> FormPage:
    """Return the form, after counting the request against its limits."""
    form = await service.find_form(database, token)
    await counted_start(request, form.id)
    return form


def _intake(request: Request) -> FormIntake:
    state = request.app.state
    return FormIntake(state.firing, state.box, state.storage, state.quotas)


Form = Annotated[FormPage, Depends(_form)]
Intake = Annotated[FormIntake, Depends(_intake)]


@router.options("/{token}/{rest:path}", dependencies=[public("Lists what the page may send; changes nothing.")])
async def preflight(token: str, rest: str) -> Response:  # noqa: ARG001 - where it is asked
    """Answer a browser's preflight request."""
    allowed = {"Access-Control-Allow-Methods": "POST", "Access-Control-Max-Age": "7200"}
    allowed["Access-Control-Allow-Headers"] = "content-type, x-widget-visit"
    return Response(status_code=204, headers=CORS | allowed)


@router.post("/{token}/files", status_code=201, dependencies=[*_ASKS, Depends(stays_open, scope="request")])
async def upload(request: Request, form: Form, intake: Intake, visit: Visit = "") -> WidgetFile:
    """Store a file for a submission of this visit."""
    async with uploaded_file(request, max_bytes=MAX_UPLOAD_BYTES) as file:
        visitor = runs.digest_of(address_of(request))
        return await intake.upload(form, file, visit=visit, visitor=visitor, most=MAX_UPLOAD_BYTES)


@router.post("/{token}/submissions", status_code=201, dependencies=_ASKS)
async def submit(body: WidgetStart, request: Request, form: Form, intake: Intake, visit: Visit = "") -> FormReceived:
    """Start the run of a submission."""
    return await intake.submit(form, body, visit=visit, visitor=runs.digest_of(address_of(request)))
