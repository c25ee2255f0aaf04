"""Ask an Ollama server what it has: it needs no key, so only its answer says whether it is there."""

from typing import TYPE_CHECKING

import orjson

from headgate.features.models.credentials import Server
from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http.outgoing import MODEL_LISTS
from headgate.foundation.lazy import lazy_module
from headgate.foundation.settings import HttpSettings

if TYPE_CHECKING:
    from headgate.foundation import guarded_http
else:
    guarded_http = lazy_module("headgate.foundation.guarded_http")

_PATIENCE_SECONDS = 0.5


async def pulled_models(server: Server) -> list[str] | None:
    """Names of the models an Ollama server holds; None when no such server answers at once."""
    settings = HttpSettings(allowed_internal_cidrs=list(server.networks or ()), timeout_seconds=_PATIENCE_SECONDS)
    http = guarded_http.GuardedHttp(MODEL_LISTS.limits(settings), pauses=())
    try:
        answer = await http.request("GET", f"{server.address.rstrip('/')}/api/tags")
        return [str(entry["name"]) for entry in orjson.loads(answer.content)["models"]]
    except (HeadgateError, ValueError, KeyError, TypeError):
        return None
    finally:
        await http.close()
