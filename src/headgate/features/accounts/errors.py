"""Errors of tenants, users and spaces."""

from headgate.foundation.errors import Forbidden, NotFound, Unauthenticated


class AccountNotFound(NotFound):
    """The caller's tenant, user or space no longer exists."""

    code = "account_not_found"


class NotSignedIn(Unauthenticated):
    """The request has no credentials."""

    code = "not_signed_in"
    title = "Not signed in"
    detail = "You are not signed in."
    remedy = "Sign in, or send an API key as 'Authorization: Bearer hg_...'."


class SessionOver(Unauthenticated):
    """The session of the request has ended."""

    code = "session_over"
    detail = "Your session has expired."
    remedy = "Sign in again."


class CsrfMissing(Forbidden):
    """A change was requested with the cookie alone: another site's page might have sent it."""

    code = "csrf_missing"
    title = "CSRF token missing"
    remedy = "Send the token returned at sign-in, or use an API key."
    detail = "A change requested with a session cookie needs the header {}."
