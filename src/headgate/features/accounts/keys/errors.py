"""What can go wrong with API keys.

Unauthenticated
└── KeyRefused        the key that came is wrong, revoked, past its time, or its person may not come in
Forbidden
├── KeyTooWide        a key would make one that may more than itself
└── NetworkRefused    the key works from other networks only
NotFound
└── KeyNotFound       also for somebody else's, unless the caller may manage keys
Conflict
└── TooManyKeys
Invalid
├── ScopeUnknown      no permission and no role has that name
├── NoMember          the key would be for a space that its person is not in
└── ExpiryPast        the key would be dead when it is made
"""

from collections.abc import Sequence

from headgate.foundation.errors import Conflict, Forbidden, Invalid, NotFound, Unauthenticated


class KeyRefused(Unauthenticated):
    """The request came with a key that opens nothing."""

    code = "key_refused"
    title = "API key refused"


class KeyTooWide(Forbidden):
    """A key cannot make a wider one."""

    code = "key_too_wide"
    title = "Wider than your own key"


class NetworkRefused(Forbidden):
    """The key is valid, and bound to networks that the request did not come from."""

    code = "key_network_refused"
    title = "Not from this network"

    def __init__(self, prefix: str, address: str | None) -> None:
        where = f"the address {address}" if address else "a connection without an address"
        super().__init__(
            f"The API key {prefix} is bound to networks, and this request came from {where}.",
            remedy="Call from one of its networks, or make a key for this one. Behind a reverse proxy, the operator "
            "sets HEADGATE_SERVER__TRUSTED_PROXIES so that callers' own addresses count.",
        )


class KeyNotFound(NotFound):
    """The caller has no such key."""

    code = "key_not_found"
    title = "API key not found"

    def __init__(self, key: str) -> None:
        super().__init__(f"There is no API key '{key[:100]}'.", remedy="List the keys to see their ids and prefixes.")


class TooManyKeys(Conflict):
    """The person has as many keys as one may have."""

    code = "too_many_keys"
    title = "Too many API keys"

    def __init__(self, most: int) -> None:
        super().__init__(f"There are {most} API keys in use already.", remedy="Revoke those that nothing uses.")


class NoMember(Invalid):
    """The key would be for a space in which its person may do nothing."""

    code = "key_for_no_member"
    title = "Not a member of the space"

    def __init__(self, person: str, space: str) -> None:
        super().__init__(
            f"{person} is no member of the space '{space}', so the key would do nothing there.",
            remedy="Add them to the space first, or leave the space out.",
        )


class ScopeUnknown(Invalid):
    """No permission and no role is called that."""

    code = "scope_unknown"
    title = "Unknown scope"

    def __init__(self, scope: str, near: Sequence[str]) -> None:
        meant = f"Did you mean '{near[0]}'? " if near else ""
        super().__init__(
            f"There is no permission and no role '{scope[:100]}'.",
            remedy=f"{meant}docs/reference/permissions.md lists the names.",
        )


class ExpiryPast(Invalid):
    """The key's last moment is over."""

    code = "expiry_past"
    title = "Expiry in the past"

    def __init__(self) -> None:
        super().__init__("The key would have expired already.", remedy="Give a moment that is still to come, or none.")
