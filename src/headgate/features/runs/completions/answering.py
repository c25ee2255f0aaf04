"""OpenAI's error format, and authentication where sign-in is not required."""

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
    """With auto-login, treat an unknown key as no key: OpenAI clients always send one."""
    if not isinstance(request.app.state.identity, LocalIdentity):
        return
    keys = keys_of(request)
    if keys and not any(secret.is_key(key) for key in keys):
        request.state.principal = replace(LOCAL, actor=replace(LOCAL.actor, address=address_of(request)))


class OpenAIRoute(APIRoute):
    """A route that reports errors in OpenAI's format."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler with its errors converted to that format."""
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handle(request)
            except RequestValidationError as error:
                first = error.errors()[0]
                # Pydantic puts the kinds of a union in brackets: an internal detail, not a location in the body.
                location = ".".join(str(part) for part in first["loc"][1:] if "[" not in str(part))
                message = (
                    f"{location}: {str(first['msg']).removeprefix('Value error, ')}." if location else first["msg"]
                )
                body = error_body(400, message, code="invalid_value", param=location or None)
                return JSONResponse(body, status_code=400)
            except HTTPException as error:
                return JSONResponse(error_body(400, str(error.detail), code="invalid_body"), status_code=400)
            except HeadgateError as error:
                return refused(error)

        return handled


def refused(error: HeadgateError) -> Response:
    """Return the response for an error."""
    status = 400 if error.status == 422 else error.status
    headers: dict[str, str] = {}
    if (retry := error.extra.get("retry_after_seconds")) is not None:
        headers["Retry-After"] = str(retry)
    return JSONResponse(error_body(status, str(error), code=error.code), status_code=status, headers=headers)


def error_body(status: int, message: str, *, code: str, param: str | None = None) -> dict[str, Any]:
    """Return an error in the format that OpenAI clients read."""
    type_ = _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {"error": {"message": message, "type": type_, "param": param, "code": code}}
