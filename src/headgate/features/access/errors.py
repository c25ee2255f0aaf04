"""Errors of access control."""

from headgate.features.access.permissions import Permission, roles_with
from headgate.foundation.errors import Forbidden


class PermissionMissing(Forbidden):
    """The caller may view the object, but not perform this operation."""

    code = "permission_missing"
    title = "Not allowed"

    def __init__(self, permission: Permission, *, by_key: bool = False) -> None:
        subject = "Your API key lacks" if by_key else "You lack"
        remedy = _OF_KEY if by_key else _of_role(permission)
        super().__init__(f"{subject} the permission '{permission}'.", remedy=remedy, permission=permission.value)


class SecondFactorMissing(Forbidden):
    """The session lacks the second factor that the organisation requires."""

    code = "second_factor_missing"
    detail = "Your organisation requires a second factor, and this session was signed in without one."
    remedy = "Set one up in Settings > My account, or confirm with the one you have."


_OF_KEY = (
    "Use a key with that scope. Requests that concern the whole organisation need a key without a space restriction."
)


def _of_role(permission: Permission) -> str:
    """Return a remedy for an insufficient role: the roles that suffice, and who assigns them."""
    if permission is Permission.RUNS_TEST:
        return (
            'Run the published version ("version": "published"). Running drafts requires the role '
            "editor, publisher or owner."
        )
    roles = [f"{role}s" for role in roles_with(permission)]
    if not roles:
        return "Admins of your organisation have this permission. Ask one of them."
    role_names = f"{', '.join(roles[:-1])} and {roles[-1]}" if len(roles) > 1 else roles[0]
    advice = "Ask an owner, or an admin of your organisation."
    return f"{role_names.capitalize()} of the space have this permission, and so do admins. {advice}"
