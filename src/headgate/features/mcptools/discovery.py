"""OAuth 2.1 of an MCP server: its authorization server, and our registration there. Imported when one is authorized.

Which addresses are asked, in which order, and what their answers mean is the official library's; requests are ours,
since they must be guarded. (MCP 2025-11-25 "Authorization"; RFC 9728, RFC 8414, RFC 7591, RFC 8707.)
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import urlsplit

import httpx2
import orjson
from mcp.client.auth import OAuthRegistrationError
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    create_client_registration_request,
    create_oauth_metadata_request,
    extract_resource_metadata_from_www_auth,
    extract_scope_from_www_auth,
    get_client_metadata_scopes,
    handle_auth_metadata_response,
    handle_protected_resource_response,
    handle_registration_response,
    issuers_match,
)
from mcp.shared.auth import OAuthClientMetadata, OAuthMetadata, ProtectedResourceMetadata
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url
from mcp_types import LATEST_PROTOCOL_VERSION
from pydantic import AnyUrl, JsonValue

from headgate.features.connections.oauth.provider import MAX_BYTES, TIMEOUT_SECONDS, ProviderHttp
from headgate.features.mcptools.descriptions import clean
from headgate.features.mcptools.errors import McpNotAuthorizable, McpServerFailed
from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http.targets import shown_url
from headgate.graph.names import clipped

_HELLO = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
_METHODS = ("client_secret_post", "client_secret_basic", "none")
"""By preference: servers on the official library ask for the client ID in the body."""
_GRANTS = ["authorization_code", "refresh_token"]


@dataclass(frozen=True, slots=True)
class Client:
    """A client of an authorization server."""

    id: str
    secret: str = field(default="", repr=False)
    authentication: str = "client_secret_post"
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Authority:
    """The authorization server of an MCP server."""

    metadata: OAuthMetadata
    resource: str
    scopes: str

    def fields(self, url: str, client: Client) -> dict[str, JsonValue]:
        """Return the fields of a connection of the kind `oauth2_code`."""
        revocation = self.metadata.revocation_endpoint
        return {
            "url": url.partition("?")[0],
            "authorization_url": str(self.metadata.authorization_endpoint),
            "token_url": str(self.metadata.token_endpoint),
            "revocation_url": str(revocation) if revocation else "",
            "client_id": client.id,
            "client_authentication": client.authentication if client.secret else "client_secret_basic",
            "scopes": self.scopes,
            "resource": self.resource,
            "issuer": str(self.metadata.issuer),
        }


async def find_authority(http: ProviderHttp, url: str, *, scopes: str = "") -> Authority:
    """Return the authorization server that an MCP server names. Raises `McpNotAuthorizable`, `McpServerFailed`."""
    challenge = await _send(http, _hello(url))
    if challenge.status_code not in {401, 403}:
        raise McpNotAuthorizable(
            f"The MCP server at {shown_url(url)} asks for no authorization (it answered {challenge.status_code}).",
            remedy="Refresh it; add headers where it needs a key.",
        )
    protected = await _protected_resource(http, url, challenge)
    resource = resource_url_from_server_url(url)
    if protected is not None:
        if not check_resource_allowed(requested_resource=resource, configured_resource=str(protected.resource)):
            raise McpNotAuthorizable(
                f"The metadata of {shown_url(url)} is that of another resource: {shown_url(str(protected.resource))}.",
                remedy="Check the URL of the server.",
            )
        resource = str(protected.resource)
    metadata = await _authorization_server(http, url, protected)
    asked = scopes or get_client_metadata_scopes(extract_scope_from_www_auth(challenge), protected, metadata, _GRANTS)
    return Authority(metadata, resource, asked or "")


async def register(http: ProviderHttp, authority: Authority, *, redirect_uri: str) -> Client:
    """Register Headgate as a client (RFC 7591). Raises `McpNotAuthorizable` where the provider registers none."""
    metadata = authority.metadata
    if metadata.registration_endpoint is None:
        raise McpNotAuthorizable(
            f"The provider {shown_url(str(metadata.issuer))} does not register clients by itself.",
            remedy=f"Register one there with the redirect URI {redirect_uri}, and give its client ID.",
        )
    offered = metadata.token_endpoint_auth_methods_supported or list(_METHODS)
    ours = OAuthClientMetadata(
        client_name="Headgate",
        redirect_uris=[AnyUrl(redirect_uri)],
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        scope=authority.scopes or None,
        token_endpoint_auth_method=next((method for method in _METHODS if method in offered), "none"),
    )
    try:
        answer = await _send(http, create_client_registration_request(metadata, ours, str(metadata.issuer)))
        information = await handle_registration_response(answer)
    except OAuthRegistrationError as error:
        raise McpNotAuthorizable(
            f"The provider {shown_url(str(metadata.issuer))} refused to register Headgate as a client.",
            remedy=f"Register one there with the redirect URI {redirect_uri}, and give its client ID.",
        ) from error
    method = information.token_endpoint_auth_method or ("client_secret_basic" if information.client_secret else "none")
    if not information.client_id or method not in _METHODS:
        raise McpNotAuthorizable(
            f"The provider {shown_url(str(metadata.issuer))} registered a client that cannot be used "
            f"({clipped(str(method), 60)}).",
            remedy="Register a client there by hand, and give its client ID.",
        )
    return Client(
        information.client_id,
        (information.client_secret or "") if method != "none" else "",
        method,
        _moment(information.client_secret_expires_at),
    )


def _moment(seconds: int | None) -> datetime | None:
    """Return a time in seconds since 1970; None for 0, which means never, and for none that the calendar has."""
    try:
        return datetime.fromtimestamp(seconds, UTC) if seconds and seconds > 0 else None
    except (OverflowError, ValueError, OSError):
        return None


async def _protected_resource(
    http: ProviderHttp, url: str, challenge: httpx2.Response
) -> ProtectedResourceMetadata | None:
    for place in build_protected_resource_metadata_discovery_urls(
        extract_resource_metadata_from_www_auth(challenge), url
    ):
        answer = await _send(http, _metadata_request(place))
        if answer.status_code >= 500 or answer.status_code == 429:
            raise McpServerFailed(
                f"The metadata of the MCP server cannot be read: {shown_url(place)} answered {answer.status_code}.",
                remedy="Try again later.",
            )
        protected = await handle_protected_resource_response(answer)
        if protected is not None:
            return protected
    return None


async def _authorization_server(
    http: ProviderHttp, url: str, protected: ProtectedResourceMetadata | None
) -> OAuthMetadata:
    named = str(protected.authorization_servers[0]) if protected is not None else None
    issuer = named or "{0.scheme}://{0.netloc}".format(urlsplit(url))
    for place in build_oauth_authorization_server_metadata_discovery_urls(named, url):
        following, metadata = await handle_auth_metadata_response(await _send(http, _metadata_request(place)))
        if metadata is not None:
            _check(metadata, issuer, url)
            return metadata
        if not following:
            break
    raise McpNotAuthorizable(
        f"The authorization server of {shown_url(url)} cannot be found: {shown_url(issuer)} publishes no metadata.",
        remedy="Add an OAuth 2 connection by hand, and name it at the server.",
    )


def _check(metadata: OAuthMetadata, issuer: str, url: str) -> None:
    """Raise `McpNotAuthorizable` for another issuer, no PKCE, or addresses that are not encrypted."""
    shown = shown_url(issuer)
    if not issuers_match(str(metadata.issuer), issuer):
        raise McpNotAuthorizable(f"The metadata of {shown} name another issuer.", remedy="Check the URL of the server.")
    if "S256" not in (metadata.code_challenge_methods_supported or []):
        raise McpNotAuthorizable(
            f"The provider {shown} does not support PKCE with S256, which OAuth 2.1 requires.",
            remedy="Ask its operator; Headgate sends no authorization without it.",
        )
    endpoints = (
        metadata.authorization_endpoint,
        metadata.token_endpoint,
        metadata.registration_endpoint,
        metadata.revocation_endpoint,
    )
    if url.startswith("https:") and any(str(endpoint).startswith("http:") for endpoint in endpoints):
        raise McpNotAuthorizable(
            f"The provider {shown} takes authorizations without encryption.", remedy="Ask its operator to use https."
        )


def _hello(url: str) -> httpx2.Request:
    members = {"protocolVersion": LATEST_PROTOCOL_VERSION, "capabilities": {}}
    params = {**members, "clientInfo": {"name": "headgate", "version": "0"}}
    body = orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    return httpx2.Request("POST", url, headers=_HELLO, content=body)


def _metadata_request(url: str) -> httpx2.Request:
    """Return the request for metadata at an address that a server named. Raises `McpNotAuthorizable`."""
    try:
        return create_oauth_metadata_request(url)
    except (httpx2.InvalidURL, ValueError) as error:
        raise McpNotAuthorizable(
            f"The server names an address of its metadata that is not a URL: {clipped(clean(url), 80)}",
            remedy="Ask its operator.",
        ) from error


async def _send(http: ProviderHttp, request: httpx2.Request) -> httpx2.Response:
    """Send a request of the library through the guarded client. Raises `McpServerFailed`."""
    own = {name: value for name, value in request.headers.items() if name not in {"host", "content-length"}}
    try:
        answer = await http.request(
            request.method, str(request.url), headers=own, body=request.content or None, timeout_seconds=TIMEOUT_SECONDS
        )
    except HeadgateError as error:
        raise McpServerFailed(
            f"{shown_url(str(request.url))} cannot be asked: {error.detail}", remedy="Check the URL of the server."
        ) from error
    relevant = {name: value for name, value in answer.headers.items() if name in {"www-authenticate", "content-type"}}
    content = answer.content if len(answer.content) <= MAX_BYTES else b""
    return httpx2.Response(
        answer.status, headers=httpx2.Headers(relevant, encoding="utf-8"), content=content, request=request
    )
