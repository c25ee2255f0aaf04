"""How the routes of widgets answer for what went wrong: in words for visitors, readable in the frame."""

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
"""Safe: nothing here looks at cookies, and each request carries a token that only the frame has."""
_FOR_VISITORS = (WidgetNotFound, WidgetRefused, InputInvalid, RateLimited, FileTooLarge, BadUpload)
"""Errors whose words are about what the visitor did. Those of others are the installation's own business."""


class FrameRoute(APIRoute):
    """A route whose errors the sandboxed frame may read, and which tell nothing of the inside."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler with its errors made fit for visitors."""
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                found: Response = await handle(request)
            except (RequestValidationError, HTTPException):
                return _told(422, "bad_request", "What was sent is not what the form takes.")
            except HeadgateError as error:
                if isinstance(error, _FOR_VISITORS):
                    return _told(error.status, error.code, f"{error.detail} {error.remedy}".strip(), error)
                if isinstance(error, NoRoomForFile):
                    return _told(error.status, error.code, "No files can be taken here just now. Try without one.")
                return _told(error.status if error.status >= 500 else 422, "failed", "It could not be started.")
            return found

        return handled


def _told(status: int, code: str, detail: str, error: HeadgateError | None = None) -> Response:
    retry = error.extra.get("retry_after_seconds") if error is not None else None
    headers = CORS | (
        {} if retry is None else {"Retry-After": str(retry), "Access-Control-Expose-Headers": "Retry-After"}
    )
    return JSONResponse({"code": code, "detail": detail}, status_code=status, headers=headers)
