"""Ask an Ollama server what it has: it needs no key, so only its answer says whether it is there."""

from typing import TYPE_CHECKING

from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    import httpx2
else:
    httpx2 = lazy_module("httpx2")

_PATIENCE_SECONDS = 0.5


async def pulled_models(base_url: str) -> list[str] | None:
    """Names of the models an Ollama server holds; None when no such server answers at once."""
    try:
        # A server on this machine or network: a proxy meant for the web must not see the request.
        async with httpx2.AsyncClient(timeout=_PATIENCE_SECONDS, trust_env=False) as client:
            answer = await client.get(f"{base_url.rstrip('/')}/api/tags")
            listed = answer.json()["models"]
            return [str(entry["name"]) for entry in listed]
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, KeyError, TypeError):
        return None
