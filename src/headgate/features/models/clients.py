"""HTTP clients for providers' libraries: each uses the guarded transport, never the library's own.

A library that takes a client gets one; one that takes arguments for its client gets the transport among them; of one
that takes neither, the client is replaced once the model is made. Imported when the first model is made.
"""

from http.cookiejar import DefaultCookiePolicy
from typing import TYPE_CHECKING, Any, TypeVar

import httpx2

from headgate.features.models.providers import Provider
from headgate.foundation.guarded_http.transport import SharedTransport
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    import anthropic
    import httpx
    import ibm_watsonx_ai  # type: ignore[import-not-found,unused-ignore]
    from langchain_core.language_models import BaseChatModel

    from headgate.foundation.guarded_http import classic
else:
    anthropic = lazy_module("anthropic")
    httpx = lazy_module("httpx")
    ibm_watsonx_ai = lazy_module("ibm_watsonx_ai")
    classic = lazy_module("headgate.foundation.guarded_http.classic")

_Client = TypeVar("_Client", httpx2.AsyncClient, httpx2.Client)
_PLAIN: dict[str, Any] = {"trust_env": False, "follow_redirects": False}
"""No proxy, certificate or password of the environment; a redirect is an answer like any other."""
_WATSONX = ("url", "api_key", "username")
"""Arguments that belong to the client when one is passed."""


def client_arguments(
    provider: Provider, arguments: dict[str, Any], transport: SharedTransport | None
) -> dict[str, Any]:
    """Return the constructor arguments that make the library's client use the transport."""
    if transport is None:
        return arguments
    match provider.client:
        case "httpx2":
            return arguments | {"http_client": blocking_client(transport), "http_async_client": client(transport)}
        case "httpx":
            return arguments | {
                "http_client": httpx.Client(**classic_arguments(transport)),
                "http_async_client": httpx.AsyncClient(**classic_arguments(transport)),
            }
        case "client_kwargs" | "client_args" as name:
            return arguments | {name: {**arguments.get(name, {}), **classic_arguments(transport)}}
        case "watsonx":
            return _with_watsonx_client(arguments, transport)
        case _:
            return arguments


def replace_clients(provider: Provider, model: "BaseChatModel", transport: SharedTransport | None) -> None:
    """Replace the clients of a created model by guarded ones, when its library does not accept them as arguments."""
    if provider.client == "anthropic" and transport is not None:
        given: dict[str, Any] = model._client_params  # type: ignore[attr-defined] # noqa: SLF001 - the library's only way
        model.__dict__["_client"] = anthropic.Client(**given, http_client=blocking_client(transport))
        model.__dict__["_async_client"] = anthropic.AsyncClient(**given, http_client=client(transport))


def client(transport: SharedTransport) -> httpx2.AsyncClient:
    """Return a client on the transport that keeps no cookies; closing it leaves the transport open."""
    return _without_cookies(httpx2.AsyncClient(transport=transport, timeout=None, **_PLAIN))


def blocking_client(transport: SharedTransport) -> httpx2.Client:
    """Return the same for a thread that blocks."""
    return _without_cookies(httpx2.Client(transport=transport, timeout=None, **_PLAIN))


def _without_cookies(made: _Client) -> _Client:
    made.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    return made


def classic_arguments(transport: SharedTransport) -> dict[str, Any]:
    """Return the arguments with which a client of the library `httpx` uses the transport."""
    return {"transport": classic.ClassicTransport(transport), **_PLAIN}


def _with_watsonx_client(arguments: dict[str, Any], transport: SharedTransport) -> dict[str, Any]:
    """Return the arguments with an API client; the library's own construction would request a token from IBM."""
    named = {name: arguments[name] for name in _WATSONX if name in arguments}
    if "api_key" in named:
        named["api_key"] = named["api_key"].get_secret_value()
    made = ibm_watsonx_ai.APIClient(
        credentials=ibm_watsonx_ai.Credentials(**named),
        project_id=arguments.get("project_id"),
        httpx_client=httpx.Client(**classic_arguments(transport)),
        async_httpx_client=httpx.AsyncClient(**classic_arguments(transport)),
    )
    return {name: value for name, value in arguments.items() if name not in _WATSONX} | {"watsonx_client": made}
