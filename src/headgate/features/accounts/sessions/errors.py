"""Errors of sign-in and sessions."""

from collections.abc import Sequence

from headgate.foundation.errors import Conflict, Forbidden, NotFound, Unauthenticated


class SignInRefused(Unauthenticated):
    """The sign-in failed. The reason is never disclosed: it would reveal who has an account."""

    code = "sign_in_refused"
    title = "Sign-in refused"
    detail = "The e-mail address or the password is wrong, or the account is deactivated."
    remedy = "Try again, or ask an admin of your organisation for a link to set a new password."


class OrganisationNeeded(Conflict):
    """Address and password match in several organisations."""

    code = "organisation_needed"
    title = "Which organisation?"
    remedy = "Send the name of one as `organisation`."

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__("You have an account in more than one organisation.", organisations=list(names))


class LinkRefused(NotFound):
    """The one-time link is invalid. The reason is never disclosed."""

    code = "link_refused"
    title = "Invalid link"
    detail = "This link was already used, has expired, or belongs to another server."
    remedy = "Ask an admin of your organisation for a new link."


class PasswordWrong(Forbidden):
    """The current password of a signed-in user is wrong."""

    code = "password_wrong"
    detail = "The current password is wrong; nothing was changed."
    remedy = "Try again."


class NoPassword(Conflict):
    """The account has no password to change."""

    code = "no_password"
    detail = "This account has no password."
    remedy = "Change the password at your identity provider, or ask an admin for a link to set one."


class ServiceAccountRefused(Conflict):
    """A service account has no password, session or second factor."""

    code = "service_account_refused"
    detail = "{} is a service account, which cannot sign in."
    remedy = "Create an API key for it."


class SessionNotFound(NotFound):
    """The caller has no such session."""

    code = "session_not_found"
    detail = "You have no session {}."
    remedy = "List them at /api/v1/me/sessions."
