"""The public address of webhooks, outside of the API: other services call it, without an account.

A call is verified with the secret of its trigger before anything of it is parsed.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from headgate.features.access.caller import public
from headgate.features.accounts.ports import Scope
from headgate.features.triggers.errors import HookRefused, TriggerChanged, TriggerPaused
from headgate.features.triggers.firing import Firing
from headgate.features.triggers.hooks import service
from headgate.features.triggers.hooks.answers import result_of, stream_of
from headgate.features.triggers.hooks.bodies import Body, Upload, fields_of, parse_body
from headgate.features.triggers.hooks.service import Received
from headgate.features.triggers.hooks.signatures import Call
from headgate.features.triggers.occurrences import Fired
from headgate.features.triggers.repository import Listed
from headgate.features.triggers.settings import CallEvent, CallResponse, WebhookConfig
from headgate.features.triggers.uploads import UploadStore
from headgate.foundation.api import part
from headgate.foundation.crypto import SecretBox
from headgate.foundation.errors import Invalid, TooLarge, Unavailable

MOST_FILES = 20
router = APIRouter(prefix="/hooks", include_in_schema=False)
_SERVICES = public("Other services call it; each call proves that it knows the secret of the trigger.")


def _storage(request: Request) -> UploadStore:
    return UploadStore(request.app.state.storage, request.app.state.quotas)


Fires = Annotated[Firing, part("firing")]
Box = Annotated[SecretBox, part("box")]
Contents = Annotated[UploadStore, Depends(_storage)]


@router.post("/{address}", dependencies=[_SERVICES])
@router.put("/{address}", dependencies=[_SERVICES])
async def receive(address: str, request: Request, firing: Fires, box: Box, contents: Contents) -> Response:
    """Receive a call: 202 once it is stored with its run, or the result of the run, or its text as it comes."""
    listed = await service.find_hook(firing, address[:64])
    return await answer_call(listed, request, firing, box, contents)


async def answer_call(
    listed: Listed, request: Request, firing: Firing, box: SecretBox, contents: UploadStore
) -> Response:
    """Verify a call of a webhook, and start its run or send its event."""
    config = WebhookConfig.model_validate(listed.row.config)
    await request.app.state.throttle.allow(Scope.TRIGGER, listed.row.id, limit=config.calls_per_minute)
    call = Call(_headers(request), await _content(request, config.max_bytes), service.now_seconds())
    refusal = _refusal(listed, config, call, box)
    if refusal is not None:
        await service.catch_call(
            firing, listed, Received(request.method, call, _query(request), Body("")), refusal=refusal.detail, box=box
        )
        raise refusal
    received = await _received(request, call)
    if (challenge := service.challenge_of(config, received.body)) is not None:
        return PlainTextResponse(challenge)
    if await service.catch_call(firing, listed, received, refusal="", box=box):
        return JSONResponse({"status": "caught"}, 202)
    if not listed.row.enabled:
        raise _Paused("")  # the reason is for users
    if config.event is not None:
        return JSONResponse(await _sent(firing, listed, config, config.event, received, box), 202)
    try:
        fired = await service.fire_call(firing, contents, listed, config, received)
    except TriggerChanged as error:
        raise Unavailable("The webhook was changed meanwhile.", remedy="Call again.", retry_after_seconds=1) from error
    answer: Response | None = None
    if config.answer == "result" and fired.run_id is not None:
        answer = await result_of(firing, listed, config.response or CallResponse(), fired.run_id)
    elif config.answer == "stream" and fired.run_id is not None:
        as_events = "text/event-stream" in call.headers.get("accept", "").lower()
        answer = await stream_of(firing, listed, fired.run_id, as_events=as_events)
    return answer or JSONResponse(_summary(fired), 202)


async def _sent(
    firing: Firing, listed: Listed, config: WebhookConfig, event: CallEvent, received: Received, box: SecretBox
) -> dict[str, Any]:
    sent = await service.send_call(firing, listed, config, event, received, box=box)
    return {"status": "sent", "event": sent.id, "deliveries": sent.deliveries, "duplicate": sent.duplicate}


class _Paused(TriggerPaused):
    """The sender shall deliver the call again later."""

    status = 503


def _refusal(listed: Listed, config: WebhookConfig, call: Call, box: SecretBox) -> HookRefused | None:
    try:
        service.check(listed, config, call, box)
    except HookRefused as error:
        return error
    return None


async def _content(request: Request, most: int) -> bytes:
    content = bytearray()
    async for piece in request.stream():
        content += piece
        if len(content) > most:
            raise TooLarge(f"The body is larger than {most:,} bytes.", remedy="Send less, or raise the limit.")
    return bytes(content)


async def _received(request: Request, call: Call) -> Received:
    media_type = call.headers.get("content-type", "")
    if not media_type.lower().startswith("multipart/form-data"):
        return Received(request.method, call, _query(request), parse_body(media_type, call.body))

    async def replayed() -> Mapping[str, Any]:
        return {"type": "http.request", "body": call.body, "more_body": False}

    fields: list[tuple[str, str]] = []
    uploads: list[Upload] = []
    try:
        async with Request(request.scope, replayed).form(max_files=MOST_FILES, max_fields=1_000) as form:  # type: ignore[arg-type]
            for name, value in form.multi_items():
                if isinstance(value, UploadFile):
                    uploads.append(Upload(value.filename or name, value.content_type or "", await value.read()))
                else:
                    fields.append((name, value))
    except HTTPException as error:
        raise Invalid(f"The form is not valid: {error.detail}", remedy="Send multipart/form-data.") from error
    return Received(request.method, call, _query(request), Body(fields_of(fields)), tuple(uploads))


def _summary(fired: Fired) -> dict[str, Any]:
    return {
        "occurrence": fired.occurrence_id,
        "status": fired.status,
        "reason": fired.reason,
        "run_id": fired.run_id,
        "duplicate": fired.duplicate,
    }


def _headers(request: Request) -> dict[str, str]:
    return {name.lower(): value for name, value in request.headers.items()}


def _query(request: Request) -> dict[str, str]:
    return dict(request.query_params)
