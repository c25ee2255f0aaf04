"""Errors of connections. No message contains the value of a secret.

NotFound
├── ConnectionNotFound
├── ApiNotDescribed         the connection has no description of its API
└── OperationNotFound       the description has no such operation
Conflict
└── ConnectionNameTaken
Invalid
├── AmbiguousConnection     several spaces have a connection with that name
├── BadConnection           an invalid name, field or secret
├── ConnectionUnusable      it must be authorized again, or has expired
├── VaultRefused            the operator does not allow the reference
└── AuthorizationLost       an authorization that was not started here, is used up or too old
Unavailable
└── OAuthMissing            the package is not installed
UpstreamFailed
├── ProviderFailed          the OAuth provider cannot be reached or refuses
└── VaultFailed             the vault cannot be reached or has no such value
"""

from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from headgate.foundation.errors import Conflict, Invalid, NotFound, Unavailable, UpstreamFailed
from headgate.graph.names import clipped, did_you_mean, listed


class ConnectionNotFound(NotFound):
    """The caller can view no connection with that name or id; for a run, there is none that it may use."""

    code = "connection_not_found"

    def __init__(self, name: str, candidates: Iterable[str] = ()) -> None:
        names = sorted(set(candidates))
        super().__init__(
            f"There is no connection '{name[:64]}'{did_you_mean(name, names) or '.'}",
            remedy=f"Connections: {listed(names)}. Add one in Settings, or with `headgate connections add`.",
        )


class ApiNotDescribed(NotFound):
    """The connection has no description of its API."""

    code = "api_not_described"
    title = "API not described"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The connection '{name}' has no description of its API.",
            remedy=f"Add one in Settings, or with `headgate connections describe {name} FILE`.",
        )


class OperationNotFound(NotFound):
    """The description has no such operation. Carries the nearest one."""

    code = "operation_not_found"

    def __init__(self, connection: str, operation: str, candidates: Iterable[str] = ()) -> None:
        super().__init__(
            f"The API of the connection '{connection}' has no operation '{clipped(operation, 120)}'"
            f"{did_you_mean(operation, candidates) or '.'}",
            remedy=f"`headgate connections operations {connection}` lists them; one is named as GET /users/{{id}}.",
        )


class ConnectionNameTaken(Conflict):
    """The space already has a connection with that name."""

    code = "connection_name_taken"
    title = "Name taken"
    detail = "A connection named '{}' already exists in this space."
    remedy = "Choose another name."


class AmbiguousConnection(Invalid):
    """Several connections have that name. Carries their ids as `connections`."""

    code = "connection_ambiguous"
    title = "Several connections have that name"
    remedy = "Give the id of one."

    def __init__(self, name: str, ids: Sequence[str]) -> None:
        super().__init__(
            f"{len(ids)} connections are named '{name}': {', '.join(ids)}.", connections=list[JsonValue](ids)
        )


class BadConnection(Invalid):
    """The definition of the connection is invalid."""

    code = "bad_connection"
    title = "Not a connection"


class ConnectionUnusable(Invalid):
    """The connection exists and cannot be used: it must be authorized again, or has expired."""

    code = "connection_unusable"
    title = "Connection cannot be used"


class VaultRefused(Invalid):
    """The operator does not allow the reference to an outside value."""

    code = "vault_refused"
    title = "Reference not allowed"


class AuthorizationLost(Invalid):
    """The authorization was not started by this user, was used before, or is too old."""

    code = "authorization_lost"
    title = "Authorization not found"
    detail = "This authorization was not started here, was used before, or is more than ten minutes old."
    remedy = "Open the connection and authorize it again."


class OAuthMissing(Unavailable):
    """The package for OAuth is not installed."""

    code = "oauth_missing"
    title = "OAuth is not installed"


class ProviderFailed(UpstreamFailed):
    """The OAuth provider cannot be reached, or refuses."""

    code = "oauth_provider_failed"
    title = "Provider failed"


class VaultFailed(UpstreamFailed):
    """The vault cannot be reached, or has no such value."""

    code = "vault_failed"
