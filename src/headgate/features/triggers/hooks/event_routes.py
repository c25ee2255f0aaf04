"""`POST /events` for signed calls: the address of a webhook that sends events, next to the route for keys."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from headgate.features.access.caller import public
from headgate.features.triggers.errors import HookNotFound
from headgate.features.triggers.hooks import service
from headgate.features.triggers.hooks.routes import Box, Contents, Fires, answer_call
from headgate.features.triggers.settings import WebhookConfig

router = APIRouter(prefix="/events", include_in_schema=False)
_SERVICES = public("Other services send events; each call proves that it knows the secret of the webhook.")


@router.post("/{address}", dependencies=[_SERVICES])
async def send_signed(address: str, request: Request, firing: Fires, box: Box, contents: Contents) -> Response:
    """Send the event of a signed call: 202 once it is stored. A webhook that starts runs has no such address."""
    listed = await service.find_hook(firing, address[:64])
    if WebhookConfig.model_validate(listed.row.config).event is None:
        raise HookNotFound
    return await answer_call(listed, request, firing, box, contents)
