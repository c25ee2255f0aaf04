"""The `Idempotency-Key` of HTTP requests, as a dependency of routes that start paid work."""

from typing import Annotated, Any

import orjson
from fastapi import Depends, Header, Request, Response

from headgate.features.access.caller import Caller
from headgate.features.idempotency.errors import KeyInvalid
from headgate.features.idempotency.keys import start_key
from headgate.features.idempotency.service import StartOnce
from headgate.foundation.api import get_database

REPLAYED = "Idempotency-Replayed"


async def _once(
    request: Request,
    response: Response,
    caller: Caller,
    idempotency_key: Annotated[
        str | None,
        Header(
            description="A random key. The same request with the same key within 24 hours returns what the first one"
            " started, with `Idempotency-Replayed: true`; a different body is refused with 409."
        ),
    ] = None,
) -> StartOnce:
    if len(request.headers.getlist("idempotency-key")) > 1:
        raise KeyInvalid("The request has two idempotency keys.", remedy="Send one.")

    def replayed() -> None:
        response.headers[REPLAYED] = "true"

    target = [request.method, request.url.path, sorted(request.query_params.multi_items())]
    if idempotency_key is None:
        return StartOnce()
    key = start_key(caller, idempotency_key, target, _content(await request.body()))
    return StartOnce(get_database(request), key, replayed)


Once = Annotated[StartOnce, Depends(_once)]
"""The idempotency key of the request, as a `StartOnce`."""


def headers_of(once: StartOnce) -> dict[str, str]:
    """Return the headers for a response that a route creates itself."""
    return {REPLAYED: "true"} if once.replayed else {}


def _content(body: bytes) -> Any:  # noqa: ANN401 - JSON
    """Return the JSON of a body, so that white space and the order of members do not matter."""
    try:
        return orjson.loads(body) if body else None
    except orjson.JSONDecodeError:
        return body.decode(errors="replace")
