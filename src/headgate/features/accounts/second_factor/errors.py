"""Errors of second factors.

Conflict
├── SecondFactorNeeded      the password is right, and the account has a second factor
├── EnrolmentMissing        a code was sent before an authenticator was set up
├── AuthenticatorExists     the account has an authenticator app
└── RequiredBySettings      the organisation requires a second factor
Unauthenticated
└── SecondFactorRefused     the code is wrong, expired or used
Forbidden
├── ConfirmationNeeded      the last confirmation of the session is too old for this change
├── ConfirmationRefused     the password or code for the confirmation is wrong
└── BrowserNeeded           only a user who is signed in in a browser can do this
"""

from collections.abc import Sequence

from headgate.foundation.errors import Conflict, Forbidden, Unauthenticated


class SecondFactorNeeded(Conflict):
    """The password is right, and the account has a second factor."""

    code = "second_factor_needed"
    title = "Second factor required"
    remedy = (
        "Send the same request with `code` (six digits of the authenticator app, or a recovery code), or "
        "sign in with a passkey."
    )

    def __init__(self, methods: Sequence[str]) -> None:
        super().__init__("This account has a second factor.", methods=list(methods))


class SecondFactorRefused(Unauthenticated):
    """The code is wrong, expired or used. Which of these is not disclosed."""

    code = "second_factor_refused"
    title = "Code refused"
    detail = "The code is wrong, has expired or was already used."
    remedy = (
        "Wait for the next code of the authenticator app, or use a recovery code. An admin can "
        "reset your second factor."
    )


class ConfirmationRefused(Forbidden):
    """A signed-in user sent a wrong password or code."""

    code = "confirmation_refused"
    title = "Not confirmed"
    detail = "The password or code is wrong, has expired or was already used; nothing was changed."
    remedy = "Try again."


class ConfirmationNeeded(Forbidden):
    """The change is sensitive, and the last confirmation of the session is too old."""

    code = "confirmation_needed"
    title = "Confirmation required"

    def __init__(self, methods: Sequence[str]) -> None:
        alternatives = " or ".join(methods)
        super().__init__(
            "This change requires a recent confirmation of your identity.",
            remedy=f"Confirm with {alternatives} at POST /api/v1/me/confirm."
            if methods
            else "Sign out and sign in again.",
            methods=list(methods),
        )


class BrowserNeeded(Forbidden):
    """An API key, a command or the user of auto-login has no session."""

    code = "browser_needed"
    title = "Browser session required"
    detail = "Second factors are managed in a browser session."
    remedy = "Sign in to the studio and try again."


class EnrolmentMissing(Conflict):
    """There is no authenticator that waits for its first code."""

    code = "enrolment_missing"
    title = "Not set up"
    detail = "No authenticator app is being set up."
    remedy = "Call POST /api/v1/me/second-factor/totp first."


class AuthenticatorExists(Conflict):
    """The account has an authenticator app."""

    code = "authenticator_exists"
    title = "Already set up"
    detail = "This account already has an authenticator app."
    remedy = "Remove it first, then set up another."


class RequiredBySettings(Conflict):
    """The organisation requires a second factor, and this is the only one."""

    code = "second_factor_required"
    title = "Required by the organisation"
    detail = "Your organisation requires a second factor, and this is your only one."
    remedy = "Set up another one first."
