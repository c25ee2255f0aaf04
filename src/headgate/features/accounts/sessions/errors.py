"""What can go wrong when people say who they are."""

from collections.abc import Sequence

from headgate.foundation.errors import Conflict, Forbidden, NotFound, Unauthenticated


class SignInRefused(Unauthenticated):
    """They cannot come in. Why is never said: it would tell strangers who has an account."""

    code = "sign_in_refused"
    title = "Sign-in refused"

    def __init__(self) -> None:
        super().__init__(
            "The e-mail address or the password is wrong, or the account is closed.",
            remedy="Try again, or ask an admin of your organisation for a link to set a new password.",
        )


class OrganisationNeeded(Conflict):
    """The same address and password fit in several organisations."""

    code = "organisation_needed"
    title = "Which organisation?"

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            "You have an account in several organisations.",
            remedy="Name one of them as `organisation`.",
            organisations=list(names),
        )


class LinkRefused(NotFound):
    """A one-time link that cannot be used. Why is never said."""

    code = "link_refused"
    title = "Link cannot be used"

    def __init__(self) -> None:
        super().__init__(
            "This link was used already, has expired, or is not one of this server's.",
            remedy="Ask an admin of your organisation for a new one.",
        )


class PasswordWrong(Forbidden):
    """Somebody who is signed in did not know their present password."""

    code = "password_wrong"
    title = "Password wrong"

    def __init__(self) -> None:
        super().__init__("The present password is wrong; nothing was changed.", remedy="Try again.")


class NoPassword(Conflict):
    """The account has no password that could be changed."""

    code = "no_password"
    title = "No password"

    def __init__(self) -> None:
        super().__init__(
            "This account has no password.",
            remedy="Change it where single sign-on has it, or ask an admin for a link to set one.",
        )


class SessionNotFound(NotFound):
    """No such session of the person's own."""

    code = "session_not_found"
    title = "Session not found"

    def __init__(self, session_id: str) -> None:
        super().__init__(f"You have no session {session_id}.", remedy="List them at /api/v1/me/sessions.")
