"""APIs that are signed in to with OAuth 2."""

from headgate.features.connections.catalogue.fields import API, URL
from headgate.features.connections.kinds import Kind, KindField

_SCOPES = KindField("scopes", "Scopes", "Separated by spaces, as the provider documents them.")
_TOKEN_URL = KindField("token_url", "Token URL", "Where tokens are issued.", "url", required=True)
_REVOKE_URL = KindField(
    "revocation_url",
    "Revocation URL",
    "Where the token is revoked when the connection is deleted.",
    "url",
    advanced=True,
)
_CLIENT_ID = KindField("client_id", "Client ID", "As the provider issued it.", required=True)
_CLIENT_SECRET = KindField("client_secret", "Client secret", "Leave empty for a public client.", "secret")
_CLIENT_AUTH = KindField(
    "client_authentication",
    "Client authentication",
    "How the client ID and secret are sent to the token URL.",
    "select",
    default="client_secret_basic",
    options=("client_secret_basic", "client_secret_post"),
    advanced=True,
)
_AUDIENCE = KindField(
    "audience", "Audience", "Sent with the token request, where the provider asks for it.", advanced=True
)
_RESOURCE = KindField(
    "resource", "Resource", "URL that the tokens are for, where the provider asks for it (RFC 8707).", advanced=True
)
_ISSUER = KindField(
    "issuer", "Issuer", "The provider's own name; an answer of another issuer is refused (RFC 9207).", advanced=True
)
_OAUTH_ENDPOINTS = ("authorization_url", "device_url", "token_url", "revocation_url")

KINDS = (
    Kind(
        "oauth2_code",
        "OAuth 2: sign in",
        "You sign in at the provider in the browser. Access tokens are refreshed automatically.",
        "oauth",
        (
            URL,
            KindField("authorization_url", "Authorization URL", "Where users sign in.", "url", required=True),
            _TOKEN_URL,
            _CLIENT_ID,
            _CLIENT_SECRET,
            _SCOPES,
            _AUDIENCE,
            _RESOURCE,
            _ISSUER,
            _CLIENT_AUTH,
            KindField(
                "parameters",
                "More parameters",
                "Added to the authorization URL, such as access_type=offline&prompt=consent.",
                advanced=True,
            ),
            _REVOKE_URL,
            *API,
        ),
        adds="oauth",
        grant="authorization_code",
        probe="http",
        keywords=("google", "microsoft", "salesforce", "hubspot", "authorization code", "pkce", "sign in", "login"),
        endpoints=_OAUTH_ENDPOINTS,
    ),
    Kind(
        "oauth2_device",
        "OAuth 2: device code",
        "You enter a code at the provider, on any device. For servers that no browser can reach.",
        "oauth",
        (
            URL,
            KindField("device_url", "Device authorization URL", "Where the code is issued.", "url", required=True),
            _TOKEN_URL,
            _CLIENT_ID,
            _CLIENT_SECRET,
            _SCOPES,
            _AUDIENCE,
            _CLIENT_AUTH,
            _REVOKE_URL,
            *API,
        ),
        adds="oauth",
        grant="device_code",
        probe="http",
        keywords=("google", "microsoft", "github"),
        endpoints=_OAUTH_ENDPOINTS,
    ),
    Kind(
        "oauth2_client",
        "OAuth 2: client credentials",
        "Headgate signs in as an application, without a user.",
        "oauth",
        (
            URL,
            _TOKEN_URL,
            _CLIENT_ID,
            KindField("client_secret", "Client secret", type="secret", required=True),
            _SCOPES,
            _AUDIENCE,
            _RESOURCE,
            _CLIENT_AUTH,
            _REVOKE_URL,
            *API,
        ),
        adds="oauth",
        grant="client_credentials",
        probe="http",
        ownership="shared",
        keywords=("machine to machine", "service account", "application"),
        endpoints=_OAUTH_ENDPOINTS,
    ),
)
