"""What can go wrong between a person, the provider and Headgate. The codes are what the sign-in page is told.

Unauthenticated
├── SignInLost          the browser does not hold what it was given when it began, or too late
├── SignInCancelled     the person said no at the provider
├── ProviderRefused     the provider said no
└── TokenRefused        what the provider said about the person cannot be believed
Forbidden
└── NotAdmitted         the provider vouches for them, and Headgate does not let them in
    ├── EmailMissing
    ├── EmailNotVerified
    ├── DomainNotAdmitted
    ├── NotInvited
    ├── ShutOut
    └── LinkedToAnother
UpstreamFailed
└── ProviderUnusable    it cannot be reached, or answers nonsense
Unavailable
├── ExtraMissing
└── TenantGone
NotFound
└── SingleSignOnOff
Conflict
└── NotLinked
"""

from headgate.foundation.errors import Conflict, Forbidden, NotFound, Unauthenticated, Unavailable, UpstreamFailed


class SignInLost(Unauthenticated):
    """The browser does not hold what it was given when the sign-in began, or it began too long ago."""

    code = "sso_lost"
    title = "Sign-in not finished"

    def __init__(self) -> None:
        super().__init__(
            "This sign-in was not begun in this browser, was finished before, or took too long.",
            remedy="Sign in again.",
        )


class SignInCancelled(Unauthenticated):
    """The person said no at the provider."""

    code = "sso_cancelled"
    title = "Sign-in cancelled"

    def __init__(self) -> None:
        super().__init__("The sign-in was cancelled.", remedy="Sign in again.")


class ProviderRefused(Unauthenticated):
    """The provider answered with an error."""

    code = "sso_refused"
    title = "Refused by the provider"


class TokenRefused(Unauthenticated):
    """What the provider said about the person cannot be believed."""

    code = "sso_token"
    title = "Sign-in not believed"

    def __init__(self, why: str) -> None:
        super().__init__(
            f"What the provider says about you cannot be believed: {why}.",
            remedy="Sign in again; if it stays so, the operator finds more in the log.",
        )


class KeyUnknown(TokenRefused):
    """No key of the provider that we know made the signature; it may have changed its keys."""


class NotAdmitted(Forbidden):
    """The provider vouches for the person, and Headgate does not let them in."""

    code = "sso_not_admitted"
    title = "Not admitted"


class EmailMissing(NotAdmitted):
    """The provider tells no e-mail address."""

    code = "sso_email_missing"

    def __init__(self) -> None:
        super().__init__(
            "The provider tells no e-mail address of yours.",
            remedy="Let the provider send it: scope and claim `email`.",
        )


class EmailNotVerified(NotAdmitted):
    """The provider does not say that the address is the person's own."""

    code = "sso_email_unverified"

    def __init__(self) -> None:
        super().__init__(
            "The provider has not verified your e-mail address.",
            remedy="Confirm the address there, then sign in again.",
        )


class DomainNotAdmitted(NotAdmitted):
    """The e-mail address is of another domain than those that may come in."""

    code = "sso_domain"

    def __init__(self) -> None:
        super().__init__("E-mail addresses of your domain may not come in.", remedy="Sign in with another account.")


class NotInvited(NotAdmitted):
    """Nobody has entered the person, and Headgate does not make people by itself."""

    code = "sso_not_invited"

    def __init__(self) -> None:
        super().__init__("Nobody has invited you yet.", remedy="Ask an admin to add your e-mail address.")


class ShutOut(NotAdmitted):
    """An admin shut the person out."""

    code = "sso_shut_out"

    def __init__(self) -> None:
        super().__init__("Your account is switched off.", remedy="Ask an admin.")


class LinkedToAnother(NotAdmitted):
    """The e-mail address belongs to somebody whom the provider calls otherwise."""

    code = "sso_linked"

    def __init__(self) -> None:
        super().__init__(
            "Your e-mail address belongs to an account that the provider calls otherwise.",
            remedy="Ask an admin to unlink it if it is yours.",
        )


class ProviderUnusable(UpstreamFailed):
    """The provider cannot be reached, or what it answers cannot be used."""

    code = "sso_provider"
    title = "Provider unusable"


class ExtraMissing(Unavailable):
    """The libraries are not installed."""

    code = "sso_extra_missing"

    def __init__(self) -> None:
        super().__init__(
            "Single sign-on is set up, and the libraries it needs are not installed.",
            remedy="Install them with: pip install 'headgate[sso]'",
        )


class TenantGone(Unavailable):
    """The tenant that the settings name is not there."""

    code = "sso_tenant"

    def __init__(self) -> None:
        super().__init__(
            "The organisation that single sign-on is for does not exist.",
            remedy="Correct HEADGATE_SINGLE_SIGN_ON__TENANT: `headgate tenants list` shows them.",
        )


class NotLinked(Conflict):
    """The person never came through the provider."""

    code = "sso_not_linked"
    title = "Not linked"

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is not linked to the provider.", remedy="There is nothing to undo.")


class SingleSignOnOff(NotFound):
    """No provider is set up."""

    code = "sso_off"

    def __init__(self) -> None:
        super().__init__("Single sign-on is not set up.", remedy="Sign in with e-mail address and password.")
