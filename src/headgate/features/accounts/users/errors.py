"""Errors of users."""

from headgate.foundation.errors import Conflict, Invalid, NotFound


class UserNotFound(NotFound):
    """The tenant has no such user."""

    code = "user_not_found"
    remedy = "`headgate users list` or GET /api/v1/users lists the users."

    def __init__(self, user: str) -> None:
        super().__init__(f"There is no user '{user[:254]}' in your organisation.")


class EmailTaken(Conflict):
    """The tenant already has a user with that address."""

    code = "email_taken"
    title = "Address taken"
    remedy = "`headgate users reset` creates a link to set a new password."
    detail = "{} is already a user of your organisation."


class ServiceNameTaken(Conflict):
    """The tenant already has a service account with that name."""

    code = "service_name_taken"
    title = "Name taken"
    detail = "Your organisation has a service account named {}."
    remedy = "Choose another name."


class ServiceNameInvalid(Invalid):
    """A service account would look like the user with that address in the audit log."""

    code = "service_name_invalid"
    title = "Invalid name"
    detail = "The name of a service account must not contain @."
    remedy = "Name it after what it does, such as nightly-import."


class LastAdmin(Conflict):
    """Nobody would remain who can manage users."""

    code = "last_admin"
    remedy = "Make another user an admin first."
    detail = "{} is the only admin who can sign in; nothing was changed."


class SignsInNowhere(Conflict):
    """The local user of auto-login cannot sign in, and does not need to."""

    code = "signs_in_nowhere"
    title = "System account"
    detail = "Commands and auto-login use this account; it cannot sign in, and only its name can be changed."
    remedy = "Create an account for the user."
