"""Errors of API keys.

Unauthenticated
└── KeyRefused        the key is wrong, revoked or expired, or its user is deactivated
Forbidden
├── KeyTooWide        a key would create one with more permissions than its own
└── NetworkRefused    the key is only accepted from other networks
NotFound
└── KeyNotFound       also for another user's, unless the caller may manage keys
Conflict
└── TooManyKeys
Invalid
├── ScopeUnknown      no permission and no role has that name
├── NoMember          the key would be for a space that its user is not a member of
├── NotServiceAccount the key would act for another user
└── ExpiryPast        the expiry is in the past
"""

from collections.abc import Sequence

from headgate.foundation.errors import Conflict, Forbidden, Invalid, NotFound, Unauthenticated


class NotServiceAccount(Invalid):
    """Nobody creates a key with which to act as another user."""

    code = "not_service_account"
    title = "Not a service account"
    detail = "{} is a user, not a service account."
    remedy = "Ask the user to create the key, or use a service account."


class KeyRefused(Unauthenticated):
    """The request has an invalid key."""

    code = "key_refused"
    title = "API key refused"


class KeyTooWide(Forbidden):
    """A key cannot create one with more permissions."""

    code = "key_too_wide"
    title = "Wider than your key"


class NetworkRefused(Forbidden):
    """The key is valid but not accepted from the network of the request."""

    code = "key_network_refused"
    title = "Network not allowed"

    def __init__(self, prefix: str, address: str | None) -> None:
        source = f"the address {address}" if address else "a connection without an address"
        super().__init__(
            f"The API key {prefix} is restricted to certain networks, and this request came from {source}.",
            remedy=(
                "Call from one of its networks, or create a key for this one. Behind a reverse proxy, "
                "the operator must set HEADGATE_SERVER__TRUSTED_PROXIES so that client addresses are "
                "recognised."
            ),
        )


class KeyNotFound(NotFound):
    """The caller has no such key."""

    code = "key_not_found"
    title = "API key not found"

    def __init__(self, key: str) -> None:
        super().__init__(f"There is no API key '{key[:100]}'.", remedy="List the keys to see their ids and prefixes.")


class TooManyKeys(Conflict):
    """The user has the maximum number of keys."""

    code = "too_many_keys"
    title = "Too many API keys"

    def __init__(self, limit: int) -> None:
        super().__init__(f"There are already {limit} API keys in use.", remedy="Revoke keys that are no longer used.")


class NoMember(Invalid):
    """The key would be for a space in which its user has no permissions."""

    code = "key_for_no_member"
    title = "Not a member of the space"
    remedy = "Add the user to the space first, or omit the space."

    def __init__(self, person: str, space: str) -> None:
        super().__init__(f"{person} is not a member of the space '{space}', so the key would have no effect there.")


class ScopeUnknown(Invalid):
    """No permission or role has that name."""

    code = "scope_unknown"
    title = "Unknown scope"

    def __init__(self, scope: str, near: Sequence[str]) -> None:
        suggestion = f"Did you mean '{near[0]}'? " if near else ""
        super().__init__(
            f"There is no permission or role '{scope[:100]}'.",
            remedy=f"{suggestion}docs/reference/permissions.md lists the names.",
        )


class ExpiryPast(Invalid):
    """The expiry of the key is in the past."""

    code = "expiry_past"
    title = "Expiry in the past"
    detail = "The expiry date of the key is in the past."
    remedy = "Give a date in the future, or none."
