"""A real OAuth 2 provider on loopback, on Authlib's server, and an API that takes its access tokens.

Authorization code with PKCE, device code, client credentials, refresh with rotation and detection of reuse, revocation.
"""

import json
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from authlib.oauth2.rfc6749 import AuthorizationServer, OAuth2Request, grants
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload
from authlib.oauth2.rfc6750 import BearerTokenGenerator
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc8628 import DeviceAuthorizationEndpoint, DeviceCodeGrant, DeviceCredentialDict

CLIENT_ID = "studio"
CLIENT_SECRET = "client-secret-canary-51b7"
USER = "ann"


@dataclass
class Client:
    """The one client."""

    public: bool = False
    """Whether it needs no secret."""

    def get_client_id(self) -> str:
        return CLIENT_ID

    def get_default_redirect_uri(self) -> str:
        return ""

    def get_allowed_scope(self, scope: str | None) -> str:
        return scope or ""

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return urlsplit(redirect_uri).path == "/settings/connections"

    def check_client_secret(self, client_secret: str) -> bool:
        return client_secret == CLIENT_SECRET

    def check_endpoint_auth_method(self, method: str, _endpoint: str) -> bool:
        return method in {"client_secret_basic", "client_secret_post"} or (self.public and method == "none")

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, _grant_type: str) -> bool:
        return True


@dataclass
class Token:
    """An issued token."""

    access_token: str
    refresh_token: str
    scope: str
    expires_at: float
    revoked: bool = False

    def check_client(self, client: Client) -> bool:
        return client.get_client_id() == CLIENT_ID

    def get_scope(self) -> str:
        return self.scope


@dataclass
class Code:
    """A code of an authorization."""

    code: str
    redirect_uri: str
    scope: str
    code_challenge: str
    code_challenge_method: str

    def get_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_scope(self) -> str:
        return self.scope


@dataclass
class OAuthProvider:
    """The provider's state, and what it was asked."""

    origin: str = ""
    lifetime: int = 3600
    public: bool = False
    """Whether its client needs no secret."""
    refresh_seconds: float = 0.0
    """How long a refresh takes."""
    refreshable: bool = True
    """Whether it issues refresh tokens."""
    arrived: int = 0
    """Requests for a refresh, also those that are not answered yet."""
    tokens: list[Token] = field(default_factory=list)
    codes: dict[str, Code] = field(default_factory=dict)
    devices: dict[str, dict[str, Any]] = field(default_factory=dict)
    confirmed: set[str] = field(default_factory=set)
    """User codes that the user has entered."""
    refreshes: list[str] = field(default_factory=list)
    reused: list[str] = field(default_factory=list)
    """Refresh tokens that were sent a second time: every token is revoked then."""
    calls: list[str] = field(default_factory=list)
    """Access tokens that the API has accepted."""
    lock: threading.RLock = field(default_factory=threading.RLock)

    def expire(self) -> None:
        """Let every access token expire at once, without telling the client."""
        for token in self.tokens:
            token.expires_at = 0.0

    @property
    def fields(self) -> dict[str, str]:
        """Fields of a connection with this provider and its API."""
        return {
            "url": f"{self.origin}/api",
            "authorization_url": f"{self.origin}/authorize",
            "token_url": f"{self.origin}/token",
            "revocation_url": f"{self.origin}/revoke",
            "client_id": CLIENT_ID,
            "scopes": "read write",
        }


def _server(provider: OAuthProvider) -> AuthorizationServer:  # noqa: C901 - classes on the provider's state
    """Authlib's server on the provider's state."""

    class Server(AuthorizationServer):  # type: ignore[misc]
        def query_client(self, client_id: str) -> Client | None:
            return Client(provider.public) if client_id == CLIENT_ID else None

        def save_token(self, token: Mapping[str, Any], _request: OAuth2Request) -> None:
            refresh = str(token.get("refresh_token") or "")
            expires_at = time.time() + provider.lifetime
            provider.tokens.append(Token(token["access_token"], refresh, token.get("scope", ""), expires_at))

        def create_oauth2_request(self, request: OAuth2Request) -> OAuth2Request:
            return request

        def handle_response(self, status: int, body: Any, headers: Any) -> tuple[int, Any, Any]:
            return status, body, headers

        def send_signal(self, name: str, *args: object, **kwargs: object) -> None:
            """Nothing listens."""

    class CodeGrant(grants.AuthorizationCodeGrant):  # type: ignore[misc]
        TOKEN_ENDPOINT_AUTH_METHODS = ("client_secret_basic", "client_secret_post", "none")

        def save_authorization_code(self, code: str, request: OAuth2Request) -> None:
            data = request.payload.data
            provider.codes[code] = Code(
                code,
                data["redirect_uri"],
                data.get("scope", ""),
                data.get("code_challenge", ""),
                data.get("code_challenge_method", ""),
            )

        def query_authorization_code(self, code: str, _client: Client) -> Code | None:
            return provider.codes.get(code)

        def delete_authorization_code(self, authorization_code: Code) -> None:
            provider.codes.pop(authorization_code.code, None)

        def authenticate_user(self, _code: Code) -> str:
            return USER

    class Refresh(grants.RefreshTokenGrant):  # type: ignore[misc]
        INCLUDE_NEW_REFRESH_TOKEN = True
        TOKEN_ENDPOINT_AUTH_METHODS = ("client_secret_basic", "client_secret_post")

        def authenticate_refresh_token(self, refresh_token: str) -> Token | None:
            provider.arrived += 1
            time.sleep(provider.refresh_seconds)
            with provider.lock:
                provider.refreshes.append(refresh_token)
                token = next((one for one in provider.tokens if one.refresh_token == refresh_token), None)
                if token is not None and token.revoked:
                    provider.reused.append(refresh_token)
                    for other in provider.tokens:
                        other.revoked = True
                return None if token is None or token.revoked else token

        def authenticate_user(self, _token: Token) -> str:
            return USER

        def revoke_old_credential(self, token: Token) -> None:
            token.revoked = True

    class Device(DeviceAuthorizationEndpoint):  # type: ignore[misc]
        CLIENT_AUTH_METHODS = ("client_secret_basic",)
        INTERVAL = 1

        def get_verification_uri(self) -> str:
            return f"{provider.origin}/device"

        def save_device_credential(self, client_id: str, scope: str, data: dict[str, Any]) -> None:
            provider.devices[data["device_code"]] = {"client_id": client_id, "scope": scope, **data}

    class DeviceGrant(DeviceCodeGrant):  # type: ignore[misc]
        TOKEN_ENDPOINT_AUTH_METHODS = ("client_secret_basic",)

        def query_device_credential(self, device_code: str) -> DeviceCredentialDict | None:
            data = provider.devices.get(device_code)
            return DeviceCredentialDict({**data, "expires_at": time.time() + 60}) if data else None

        def query_user_grant(self, user_code: str) -> tuple[str, bool] | None:
            return (USER, True) if user_code in provider.confirmed else None

        def should_slow_down(self, _credential: DeviceCredentialDict) -> bool:
            return False

    class Revocation(RevocationEndpoint):  # type: ignore[misc]
        CLIENT_AUTH_METHODS = ("client_secret_basic",)

        def query_token(self, token_string: str, _hint: str) -> Token | None:
            return next((one for one in provider.tokens if token_string in {one.access_token, one.refresh_token}), None)

        def revoke_token(self, token: Token, _request: OAuth2Request) -> None:
            token.revoked = True

    server = Server()
    server.register_token_generator(
        "default",
        BearerTokenGenerator(
            lambda **_: f"access-{secrets.token_urlsafe(24)}",
            lambda **_: f"refresh-{secrets.token_urlsafe(24)}" if provider.refreshable else "",
            lambda *_: provider.lifetime,
        ),
    )
    server.register_grant(CodeGrant, [CodeChallenge(required=True)])
    server.register_grant(Refresh)
    server.register_grant(DeviceGrant)
    server.register_grant(grants.ClientCredentialsGrant)
    server.register_endpoint(Revocation)
    server.register_endpoint(Device)
    return server


@contextmanager
def oauth_provider() -> Iterator[OAuthProvider]:  # noqa: C901 - a handler on the provider's state
    """A provider that listens."""
    provider = OAuthProvider()
    server = _server(provider)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            parts = urlsplit(self.path)
            if parts.path == "/authorize":
                request = self._request(dict(parse_qsl(parts.query)))
                with provider.lock:
                    grant = server.get_consent_grant(request, USER)
                    self._answer(*server.create_authorization_response(request, grant_user=USER, grant=grant))
            elif parts.path.startswith("/api"):
                self._api()
            else:
                self._answer(404, {}, [])

        def do_POST(self) -> None:
            size = int(self.headers.get("content-length") or 0)
            request = self._request(dict(parse_qsl(self.rfile.read(size).decode())))
            if self.path == "/token":
                self._answer(*server.create_token_response(request))
            elif self.path == "/revoke":
                self._answer(*server.create_endpoint_response("revocation", request))
            elif self.path == "/device":
                self._answer(*server.create_endpoint_response("device_authorization", request))
            else:
                self._answer(404, {}, [])

        def _api(self) -> None:
            access = (self.headers.get("authorization") or "").removeprefix("Bearer ")
            with provider.lock:
                token = next((one for one in provider.tokens if one.access_token == access), None)
                if token is None or token.revoked or token.expires_at <= time.time():
                    self._answer(401, {"error": "invalid_token"}, [])
                    return
                provider.calls.append(access)
            self._answer(200, {"user": USER, "echo": access}, [("Content-Type", "application/json")])

        def _request(self, data: dict[str, str]) -> OAuth2Request:
            request = OAuth2Request(self.command, f"https://provider{self.path}", headers=self.headers)
            request.payload = BasicOAuth2Payload(data)
            request._body = data
            return request

        def _answer(self, status: int, body: Any, headers: Any) -> None:
            content = (json.dumps(body) if isinstance(body, dict) else body or "").encode()
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Log nothing."""

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.daemon_threads = True
    provider.origin = f"http://127.0.0.1:{listener.server_port}"
    thread = threading.Thread(target=listener.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        listener.shutdown()
        thread.join()
        listener.server_close()
