"""What can go wrong with tenants, users and spaces."""

from headgate.foundation.errors import Forbidden, NotFound, Unauthenticated


class AccountNotFound(NotFound):
    """The asker's tenant, user or space is gone."""

    code = "account_not_found"
    title = "Account not found"


class NotSignedIn(Unauthenticated):
    """The request came with nothing that says who sent it."""

    code = "not_signed_in"

    def __init__(self) -> None:
        super().__init__(
            "You are not signed in.", remedy="Sign in, or send an API key as 'Authorization: Bearer hg_...'."
        )


class SessionOver(Unauthenticated):
    """The request came with a session that has ended."""

    code = "session_over"
    title = "Session over"

    def __init__(self) -> None:
        super().__init__("Your session is over.", remedy="Sign in again.")


class CsrfMissing(Forbidden):
    """A change was asked for with the cookie alone: another site's page might have done that."""

    code = "csrf_missing"
    title = "Proof of origin missing"

    def __init__(self, header: str) -> None:
        super().__init__(
            f"A change that is asked for with the session's cookie needs the header {header}.",
            remedy="Send the token that signing in answered with; programs use an API key.",
        )
