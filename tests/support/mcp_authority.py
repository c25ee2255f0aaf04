"""An authorization server with an MCP server behind it, on the official library's own server side.

Discovery, dynamic registration, PKCE, resource indicators, rotation with detection of reuse. The file that `MCP_TALLY`
names gets a line for each registration, authorization, token and reuse; `MCP_LIFETIME` is that of access tokens.
"""

import os
import secrets
import time
from typing import Any

from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from mcp_types import ToolAnnotations
from pydantic import AnyHttpUrl

from tests.support.mcp_process import tally

SCOPES = ["tools"]


class Authority(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """Grants every authorization at once, as for a user who is signed in and agrees."""

    def __init__(self, lifetime: int) -> None:
        self.lifetime = lifetime
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}
        self.used: set[str] = set()

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        assert client_info.client_id
        self.clients[client_info.client_id] = client_info
        tally(f"registered {client_info.client_name} {client_info.token_endpoint_auth_method}")

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        code = secrets.token_urlsafe(24)
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or SCOPES,
            expires_at=time.time() + 60,
            client_id=client.client_id or "",
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        tally(f"authorized for {params.resource}")
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._issue(client.client_id or "", authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        if refresh_token in self.used:
            tally("reused")
            self.refresh.clear()
            self.access.clear()
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        tally("refreshed")
        self.used.add(refresh_token.token)
        del self.refresh[refresh_token.token]
        return self._issue(refresh_token.client_id, refresh_token.scopes, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        tally("revoked")
        self.access.pop(token.token, None)
        self.refresh.pop(token.token, None)

    def expire(self) -> None:
        """End every access token."""
        self.access.clear()

    def _issue(self, client_id: str, scopes: list[str], resource: str | None) -> OAuthToken:
        access, refresh = f"access-{secrets.token_urlsafe(24)}", f"refresh-{secrets.token_urlsafe(24)}"
        expires_at = int(time.time()) + self.lifetime
        self.access[access] = AccessToken(
            token=access, client_id=client_id, scopes=scopes, expires_at=expires_at, resource=resource
        )
        self.refresh[refresh] = RefreshToken(token=refresh, client_id=client_id, scopes=scopes, resource=resource)
        tally(f"issued for {resource}")
        return OAuthToken(access_token=access, refresh_token=refresh, expires_in=self.lifetime, scope=" ".join(scopes))


def authorized_server(port: int) -> MCPServer[Any]:
    """A server whose tools need a token of its authorization server."""
    origin = f"http://127.0.0.1:{port}"
    authority = Authority(int(os.environ.get("MCP_LIFETIME", "3600")))
    server: MCPServer[Any] = MCPServer(
        "guarded-service",
        log_level="CRITICAL",
        auth_server_provider=authority,
        auth=AuthSettings(
            issuer_url=AnyHttpUrl(origin),
            resource_server_url=AnyHttpUrl(f"{origin}/mcp"),
            required_scopes=SCOPES,
            validate_token_resource=True,
            client_registration_options=ClientRegistrationOptions(
                enabled=os.environ.get("MCP_MODE") != "unregistered", valid_scopes=SCOPES, default_scopes=SCOPES
            ),
            revocation_options=RevocationOptions(enabled=True),
        ),
    )

    @server.tool(
        description="Says who calls.", annotations=ToolAnnotations(read_only_hint=True), structured_output=False
    )
    async def whoami(greeting: str = "") -> str:
        tally("called")
        return f"{greeting}: a user with {' '.join(authority.access) or 'no token'}"

    @server.tool(
        description="Ends every access token.",
        annotations=ToolAnnotations(read_only_hint=True),
        structured_output=False,
    )
    async def expire() -> str:
        authority.expire()
        return "expired"

    return server
