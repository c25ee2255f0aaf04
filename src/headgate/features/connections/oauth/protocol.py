"""OAuth 2 messages, built by Authlib: an extra, imported at the first authorization or refresh."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, quote_plus

from authlib.oauth2.auth import ClientAuth
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri, prepare_token_request
from authlib.oauth2.rfc7009 import prepare_revoke_token_request
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from authlib.oauth2.rfc8628 import DEVICE_CODE_GRANT_TYPE

FORM = "application/x-www-form-urlencoded"
_HEADERS = {"Content-Type": FORM, "Accept": "application/json"}
_OWN = frozenset(
    {"client_id", "response_type", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method", "uri"}
)
Message = tuple[dict[str, str], str]
"""Headers and body of a POST."""


def authorization_url(fields: Mapping[str, Any], *, redirect_uri: str, state: str, verifier: str) -> str:
    """Return the URL for the browser (RFC 6749, 4.1.1; RFC 7636, 4.3). More parameters replace none of these."""
    more = {name: value for name, value in parse_qsl(str(fields.get("parameters") or "")) if name not in _OWN}
    url: str = prepare_grant_uri(
        str(fields["authorization_url"]),
        client_id=str(fields["client_id"]),
        response_type="code",
        redirect_uri=redirect_uri,
        scope=str(fields.get("scopes") or "") or None,
        state=state,
        code_challenge=create_s256_code_challenge(verifier),
        code_challenge_method="S256",
        **{**more, **_targets(fields)},
    )
    return url


def token_message(fields: Mapping[str, Any], secret: str, grant: str, **parameters: str) -> Message:
    """Return the message to the token URL for a grant (RFC 6749, 4.1.3, 4.4.2 and 6; RFC 8628, 3.4)."""
    grant_type = DEVICE_CODE_GRANT_TYPE if grant == "device_code" else grant
    body: str = prepare_token_request(grant_type, **parameters, **_targets(fields))
    return _authenticated(fields, secret, str(fields["token_url"]), body)


def device_message(fields: Mapping[str, Any], secret: str) -> Message:
    """Return the message that asks for a device code (RFC 8628, 3.1)."""
    body = f"client_id={quote_plus(str(fields['client_id']))}"
    if fields.get("scopes"):
        body += f"&scope={quote_plus(str(fields['scopes']))}"
    if fields.get("audience"):
        body += f"&audience={quote_plus(str(fields['audience']))}"
    return _authenticated(fields, secret, str(fields["device_url"]), body)


def revocation_message(fields: Mapping[str, Any], secret: str, token: str, hint: str) -> Message:
    """Return the message that revokes a token (RFC 7009, 2.1)."""
    body, headers = prepare_revoke_token_request(token, hint, "", {**_HEADERS})
    _, headers, body = _client(fields, secret).prepare("POST", str(fields["revocation_url"]), headers, body)
    return dict(headers), body


def _targets(fields: Mapping[str, Any]) -> dict[str, str]:
    """Return the parameters that say what the token is for: an audience, or a resource (RFC 8707)."""
    return {name: str(fields[name]) for name in ("audience", "resource") if fields.get(name)}


def _authenticated(fields: Mapping[str, Any], secret: str, url: str, body: str) -> Message:
    _, headers, content = _client(fields, secret).prepare("POST", url, {**_HEADERS}, body)
    return dict(headers), content


def _client(fields: Mapping[str, Any], secret: str) -> Any:  # noqa: ANN401 - Authlib has no types
    client_id = str(fields["client_id"])
    if not secret:
        return ClientAuth(client_id, None, "none")
    if fields.get("client_authentication") == "client_secret_post":
        return ClientAuth(client_id, secret, "client_secret_post")
    # Encoded first, as RFC 6749, 2.3.1 requires; Authlib does not do that.
    return ClientAuth(quote_plus(client_id), quote_plus(secret), "client_secret_basic")
