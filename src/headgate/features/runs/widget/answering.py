"""Errors and CORS of the widget routes: messages for visitors, readable in the frame."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from headgate.features.files.errors import BadUpload, FileTooLarge, NoRoomForFile
from headgate.features.runs.errors import InputInvalid
from headgate.features.runs.widget.errors import WidgetNotFound, WidgetRefused
from headgate.foundation.errors import HeadgateError, RateLimited

CORS = {"Access-Control-Allow-Origin": "*", "Vary": "Origin"}
"""Safe: these routes use no cookies, and each request carries a token that only the frame has."""


class FrameRoute(APIRoute):
    """A route whose errors the sandboxed frame may read, without internal details."""

    for_visitors: tuple[type[HeadgateError], ...] = (
        *(WidgetNotFound, WidgetRefused, InputInvalid, RateLimited, FileTooLarge, BadUpload),
    )
    """Errors with messages for visitors. All others concern the installation and are not disclosed."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler with its errors converted for visitors."""
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                response: Response = await handle(request)
            except (RequestValidationError, HTTPException):
                return _error_event(422, "bad_request", "The form rejected the input.")
            except HeadgateError as error:
                if isinstance(error, self.for_visitors):
                    return _error_event(error.status, error.code, f"{error.detail} {error.remedy}".strip(), error)
                if isinstance(error, NoRoomForFile):
                    return _error_event(
                        error.status, error.code, "Files cannot be uploaded right now. Try without a file."
                    )
                return _error_event(
                    error.status if error.status >= 500 else 422, "failed", "The run could not be started."
                )
            return response

        return handled


def _error_event(status: int, code: str, detail: str, error: HeadgateError | None = None) -> Response:
    retry = error.extra.get("retry_after_seconds") if error is not None else None
    headers = CORS | (
        {} if retry is None else {"Retry-After": str(retry), "Access-Control-Expose-Headers": "Retry-After"}
    )
    return JSONResponse({"code": code, "detail": detail}, status_code=status, headers=headers)
