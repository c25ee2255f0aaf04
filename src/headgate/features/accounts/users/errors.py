"""What can go wrong with people."""

from headgate.foundation.errors import Conflict, NotFound


class UserNotFound(NotFound):
    """Nobody of the tenant."""

    code = "user_not_found"
    title = "Person not found"

    def __init__(self, who: str) -> None:
        super().__init__(
            f"There is nobody '{who[:254]}' in your organisation.",
            remedy="`headgate users list`, or GET /api/v1/users, shows who there is.",
        )


class EmailTaken(Conflict):
    """The tenant has somebody of that address."""

    code = "email_taken"
    title = "Address taken"

    def __init__(self, email: str) -> None:
        super().__init__(
            f"{email} is in your organisation already.",
            remedy="`headgate users reset` makes them a link to set a new password.",
        )


class LastAdmin(Conflict):
    """Nobody would be left who can let people in."""

    code = "last_admin"
    title = "Last admin"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} is the only admin who can sign in; nothing was changed.",
            remedy="Make somebody else an admin first.",
        )


class SignsInNowhere(Conflict):
    """The local user of auto-login has no way to sign in, and needs none."""

    code = "signs_in_nowhere"
    title = "Not a person who signs in"

    def __init__(self) -> None:
        super().__init__(
            "This is who commands and auto-login act as; it cannot sign in, and only its name can be changed.",
            remedy="Make an account for a person.",
        )
