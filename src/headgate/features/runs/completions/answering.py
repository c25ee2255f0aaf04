"""OpenAI's error shape, and who a request is of where nobody has to sign in."""

from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from headgate.features.access.principal import LOCAL
from headgate.features.accounts.addresses import address_of
from headgate.features.accounts.identity import LocalIdentity, keys_of
from headgate.features.accounts.keys import secret
from headgate.foundation.errors import HeadgateError

_TYPES = {401: "authentication_error", 403: "permission_error", 404: "invalid_request_error", 429: "rate_limit_error"}


async def allow_placeholder(request: Request) -> None:
    """With auto-login a key that is none of ours counts as none: clients of OpenAI always send one."""
    if not isinstance(request.app.state.identity, LocalIdentity):
        return
    sent = keys_of(request)
    if sent and not any(secret.is_key(one) for one in sent):
        request.state.principal = replace(LOCAL, actor=replace(LOCAL.actor, address=address_of(request)))


class OpenAIRoute(APIRoute):
    """A route whose errors are told as OpenAI tells them."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler with its errors in that shape."""
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handle(request)
            except RequestValidationError as error:
                first = error.errors()[0]
                # Pydantic names kinds of a union in brackets: the inside of this program, and no place of the body.
                where = ".".join(str(part) for part in first["loc"][1:] if "[" not in str(part))
                message = f"{where}: {str(first['msg']).removeprefix('Value error, ')}." if where else first["msg"]
                body = error_body(400, message, code="invalid_value", param=where or None)
                return JSONResponse(body, status_code=400)
            except HTTPException as error:
                return JSONResponse(error_body(400, str(error.detail), code="invalid_body"), status_code=400)
            except HeadgateError as error:
                return refused(error)

        return handled


def refused(error: HeadgateError) -> Response:
    """The answer for an error."""
    status = 400 if error.status == 422 else error.status
    headers: dict[str, str] = {}
    if (retry := error.extra.get("retry_after_seconds")) is not None:
        headers["Retry-After"] = str(retry)
    return JSONResponse(error_body(status, str(error), code=error.code), status_code=status, headers=headers)


def error_body(status: int, message: str, *, code: str, param: str | None = None) -> dict[str, Any]:
    """An error as OpenAI's clients read it."""
    type_ = _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {"error": {"message": message, "type": type_, "param": param, "code": code}}
