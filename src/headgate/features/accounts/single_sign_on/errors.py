"""Errors of single sign-on. The sign-in page receives the codes.

Unauthenticated
├── SignInLost          the browser's sign-in cookie is missing, wrong or expired
├── SignInCancelled     the user cancelled at the provider
├── ProviderRefused     the provider responded with an error
└── TokenRefused        the provider's tokens could not be verified
Forbidden
└── NotAdmitted         the provider authenticated the user, and Headgate denies access
    ├── EmailMissing
    ├── EmailNotVerified
    ├── DomainNotAdmitted
    ├── NotInvited
    ├── ShutOut
    └── LinkedToAnother
UpstreamFailed
└── ProviderUnusable    it cannot be reached, or its response is invalid
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
    """The browser's sign-in cookie is missing or wrong, or the sign-in started too long ago."""

    code = "sso_lost"
    title = "Sign-in not completed"
    detail = "This sign-in was started in another browser, was already completed, or timed out."
    remedy = "Sign in again."


class SignInCancelled(Unauthenticated):
    """The user cancelled at the provider."""

    code = "sso_cancelled"
    title = "Sign-in cancelled"
    detail = "The sign-in was cancelled."
    remedy = "Sign in again."


class ProviderRefused(Unauthenticated):
    """The provider responded with an error."""

    code = "sso_refused"
    title = "Refused by the provider"


class TokenRefused(Unauthenticated):
    """The provider's tokens could not be verified."""

    code = "sso_token"
    title = "Sign-in not verified"
    remedy = "Sign in again. If it fails again, ask the operator to check the server log."
    detail = "The response of the identity provider could not be verified: {}."


class KeyUnknown(TokenRefused):
    """The signature matches none of the provider's known keys; the provider may have changed its keys."""


class NotAdmitted(Forbidden):
    """The provider authenticated the user, and Headgate denies access."""

    code = "sso_not_admitted"
    title = "Not admitted"


class EmailMissing(NotAdmitted):
    """The provider sent no e-mail address."""

    code = "sso_email_missing"
    title = "Not admitted"
    detail = "The identity provider sent no e-mail address."
    remedy = "Configure the provider to send it: scope and claim `email`."


class EmailNotVerified(NotAdmitted):
    """The provider has not verified the e-mail address."""

    code = "sso_email_unverified"
    title = "Not admitted"
    detail = "The identity provider has not verified your e-mail address."
    remedy = "Verify the address at the provider, then sign in again."


class DomainNotAdmitted(NotAdmitted):
    """The domain of the e-mail address is not allowed."""

    code = "sso_domain"
    title = "Not admitted"
    detail = "E-mail addresses of your domain are not allowed to sign in."
    remedy = "Sign in with another account."


class NotInvited(NotAdmitted):
    """The user was not invited, and automatic creation of users is off."""

    code = "sso_not_invited"
    title = "Not admitted"
    detail = "You have not been invited to this organisation."
    remedy = "Ask an admin to add your e-mail address."


class ShutOut(NotAdmitted):
    """An admin deactivated the user."""

    code = "sso_shut_out"
    title = "Not admitted"
    detail = "Your account is deactivated."
    remedy = "Ask an admin to activate it."


class LinkedToAnother(NotAdmitted):
    """The e-mail address belongs to a user who is linked to another subject of the provider."""

    code = "sso_linked"
    title = "Not admitted"
    detail = "Your e-mail address belongs to an account that is linked to a different identity at the provider."
    remedy = "If the account is yours, ask an admin to unlink it."


class ProviderUnusable(UpstreamFailed):
    """The provider cannot be reached, or its response is invalid."""

    code = "sso_provider"
    title = "Provider unusable"


class ExtraMissing(Unavailable):
    """The libraries are not installed."""

    code = "sso_extra_missing"
    title = "Unavailable"
    detail = "Single sign-on is configured, but the required libraries are not installed."
    remedy = "Install them with: pip install 'headgate[sso]'"


class TenantGone(Unavailable):
    """The tenant in the settings does not exist."""

    code = "sso_tenant"
    title = "Unavailable"
    detail = "The organisation configured for single sign-on does not exist."
    remedy = "Correct HEADGATE_SINGLE_SIGN_ON__TENANT. `headgate tenants list` shows the organisations."


class NotLinked(Conflict):
    """The user has never signed in through the provider."""

    code = "sso_not_linked"
    title = "Not linked"
    detail = "{} is not linked to the provider."
    remedy = "There is nothing to undo."


class SingleSignOnOff(NotFound):
    """No provider is configured."""

    code = "sso_off"
    title = "Not found"
    detail = "Single sign-on is not configured."
    remedy = "Sign in with e-mail address and password."
