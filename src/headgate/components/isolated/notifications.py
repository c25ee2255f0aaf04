"""A library of notification services, executed without a network: its requests are sent by the caller.

The library is run again from the start with the answers that are known so far, until it makes no further request.
"""

import base64
import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pydantic import JsonValue

from headgate.components.isolated.results import Arguments, isolated
from headgate.sdk import ComponentError

_OWN_HEADERS = frozenset({"accept-encoding", "connection", "content-length", "host", "transfer-encoding"})


class _Pending(BaseException):
    """The library makes a request whose answer is not known yet; no handler of the library catches it."""

    def __init__(self, request: dict[str, JsonValue]) -> None:
        super().__init__()
        self.request = request


@isolated
def notification(arguments: Arguments) -> JsonValue:
    """Notify a service: `{"address", "title", "body", "answers"}`.

    Returns `{"request": {"method", "url", "headers", "body" (base64)}}` for the next request, or `{"sent": bool}`.
    """
    logging.getLogger("apprise").disabled = True  # it logs addresses, which contain keys
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of modules that only some of its services use
        return _notified(arguments)


def _notified(arguments: Arguments) -> dict[str, JsonValue]:
    import apprise  # noqa: PLC0415 - an optional library

    with _answered(arguments["answers"]):
        service = apprise.Apprise.instantiate(arguments["address"], suppress_exceptions=True)
        if service is None:
            raise ComponentError(
                "Notify: the address of the connection is not one of a supported service.",
                remedy="Write it as the service's documentation says, such as ntfy://topic.",
                field="service",
            )
        messages = apprise.Apprise()
        messages.add(service)
        try:
            sent = messages.notify(
                body=arguments["body"], title=arguments["title"], body_format=apprise.NotifyFormat.MARKDOWN
            )
        except _Pending as pending:
            return {"request": pending.request}
    return {"sent": bool(sent) and bool(arguments["answers"])}


@contextmanager
def _answered(answers: Sequence[Mapping[str, Any]]) -> Iterator[None]:
    """Answer the library's requests, in order, instead of sending them."""
    import requests  # noqa: PLC0415
    from requests.adapters import HTTPAdapter  # noqa: PLC0415

    remaining = iter(answers)

    def send(_adapter: HTTPAdapter, request: Any, **_: Any) -> Any:  # noqa: ANN401 - as the library declares it
        answer = next(remaining, None)
        if answer is None:
            raise _Pending(_described(request))
        response = requests.Response()
        response.status_code = answer["status"]
        response.headers.update(answer["headers"])
        response.url, response.request = request.url, request
        response._content = base64.b64decode(answer["content"])  # noqa: SLF001 - it is not read from a connection
        response._content_consumed = True  # noqa: SLF001 - services that limit an answer read it in parts
        return response

    original = HTTPAdapter.send
    HTTPAdapter.send = send  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        HTTPAdapter.send = original  # type: ignore[method-assign]


def _described(request: Any) -> dict[str, JsonValue]:  # noqa: ANN401
    body = request.body or b""
    content = body.encode() if isinstance(body, str) else bytes(body)
    headers: dict[str, JsonValue] = {
        str(name): str(value) for name, value in request.headers.items() if name.lower() not in _OWN_HEADERS
    }
    return {
        "method": str(request.method),
        "url": str(request.url),
        "headers": headers,
        "body": base64.b64encode(content).decode(),
    }
