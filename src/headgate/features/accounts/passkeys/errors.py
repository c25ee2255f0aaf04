"""What can go wrong with passkeys.

Unauthenticated
└── PasskeyRefused          it is unknown, or its answer cannot be verified
Invalid
└── PasskeyNotAccepted      a new passkey cannot be verified
Conflict
├── PasskeyExists           the device has one for this account
└── TooManyPasskeys
NotFound
├── PasskeyNotFound
└── PasskeysOff             the extra is not installed, or the address is no name that passkeys can be bound to
"""

from headgate.foundation.errors import Conflict, Invalid, NotFound, Unauthenticated


class PasskeyRefused(Unauthenticated):
    """The passkey is unknown, or its answer cannot be verified. Which of these is not disclosed."""

    code = "passkey_refused"
    title = "Passkey refused"

    def __init__(self) -> None:
        super().__init__(
            "This passkey could not be verified, or the account is closed.",
            remedy="Try again, or sign in another way.",
        )


class PasskeyNotAccepted(Invalid):
    """The answer to a registration cannot be verified."""

    code = "passkey_not_accepted"
    title = "Passkey not accepted"

    def __init__(self) -> None:
        super().__init__("The new passkey could not be verified, or it took too long.", remedy="Try again.")


class PasskeyExists(Conflict):
    """The passkey is registered."""

    code = "passkey_exists"
    title = "Registered before"

    def __init__(self) -> None:
        super().__init__("This passkey is registered.", remedy="Use another device or security key.")


class TooManyPasskeys(Conflict):
    """The user has as many as one can have."""

    code = "too_many_passkeys"
    title = "Too many passkeys"

    def __init__(self, most: int) -> None:
        super().__init__(f"There are {most} passkeys.", remedy="Remove those that you do not use.")


class PasskeyNotFound(NotFound):
    """The caller has no such passkey."""

    code = "passkey_not_found"
    title = "Passkey not found"

    def __init__(self, passkey_id: str) -> None:
        super().__init__(f"You have no passkey '{passkey_id[:40]}'.", remedy="List them at /api/v1/me/passkeys.")


class PasskeysOff(NotFound):
    """Passkeys cannot be used on this server or at this address."""

    code = "passkeys_off"
    title = "No passkeys here"

    def __init__(self) -> None:
        super().__init__(
            "Passkeys cannot be used at this address.",
            remedy="Install headgate[passkeys], and set HEADGATE_SERVER__PUBLIC_URL to an address with a name; "
            "on one machine open http://localhost instead of its number.",
        )
