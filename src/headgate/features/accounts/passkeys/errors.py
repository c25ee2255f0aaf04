"""Errors of passkeys.

Unauthenticated
└── PasskeyRefused          it is unknown, or its response cannot be verified
Invalid
└── PasskeyNotAccepted      a new passkey cannot be verified
Conflict
├── PasskeyExists           the device has one for this account
└── TooManyPasskeys
NotFound
├── PasskeyNotFound
└── PasskeysOff             the extra is not installed, or the address is not a valid passkey domain
"""

from headgate.foundation.errors import Conflict, Invalid, NotFound, Unauthenticated


class PasskeyRefused(Unauthenticated):
    """The passkey is unknown, or its response cannot be verified. Which of these is not disclosed."""

    code = "passkey_refused"
    detail = "The passkey could not be verified, or the account is deactivated."
    remedy = "Try again, or use another sign-in method."


class PasskeyNotAccepted(Invalid):
    """The response to a registration cannot be verified."""

    code = "passkey_not_accepted"
    title = "Passkey rejected"
    detail = "The new passkey could not be verified, or registration timed out."
    remedy = "Try again."


class PasskeyExists(Conflict):
    """The passkey is already registered."""

    code = "passkey_exists"
    title = "Registered before"
    detail = "This passkey is already registered."
    remedy = "Use another device or security key."


class TooManyPasskeys(Conflict):
    """The user has the maximum number of passkeys."""

    code = "too_many_passkeys"

    def __init__(self, limit: int) -> None:
        super().__init__(f"You have the maximum of {limit} passkeys.", remedy="Remove passkeys that you do not use.")


class PasskeyNotFound(NotFound):
    """The caller has no such passkey."""

    code = "passkey_not_found"

    def __init__(self, passkey_id: str) -> None:
        super().__init__(f"You have no passkey '{passkey_id[:40]}'.", remedy="List them at /api/v1/me/passkeys.")


class PasskeysOff(NotFound):
    """Passkeys cannot be used on this server or at this address."""

    code = "passkeys_off"
    title = "Passkeys unavailable"
    detail = "Passkeys cannot be used at this address."
    remedy = (
        "Install headgate[passkeys], and set HEADGATE_SERVER__PUBLIC_URL to a URL with a domain "
        "name; on a single machine open http://localhost instead of the IP address."
    )
