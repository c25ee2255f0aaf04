"""What can go wrong between a caller and what they ask for."""

from headgate.features.access.permissions import Permission, roles_with
from headgate.foundation.errors import Forbidden


class PermissionMissing(Forbidden):
    """The caller may see the thing, and not do this to it."""

    code = "permission_missing"

    def __init__(self, permission: Permission, *, by_key: bool = False) -> None:
        whose = "Your API key lacks" if by_key else "You lack"
        remedy = _OF_KEY if by_key else _of_role(permission)
        super().__init__(f"{whose} the permission '{permission}'.", remedy=remedy, permission=permission.value)


class SecondFactorMissing(Forbidden):
    """The session lacks the second factor that the organisation requires."""

    code = "second_factor_missing"
    title = "Second factor missing"

    def __init__(self) -> None:
        super().__init__(
            "Your organisation requires a second factor, and this session has none.",
            remedy="Set one up in Settings > My account, or confirm with the one that you have.",
        )


_OF_KEY = "Use a key that has it among its scopes; what concerns the whole organisation needs one without spaces."


def _of_role(permission: Permission) -> str:
    """What somebody can do whose role is too small: the roles that have it, and who gives them."""
    if permission is Permission.RUNS_TEST:
        return 'Run what is published ("version": "published"). Drafts are for editors, publishers and owners.'
    roles = [f"{role}s" for role in roles_with(permission)]
    if not roles:
        return "Admins of your organisation have it. Ask one of them."
    named = f"{', '.join(roles[:-1])} and {roles[-1]}" if len(roles) > 1 else roles[0]
    ask = "Ask an owner, or an admin of your organisation."
    return f"{named.capitalize()} of the space have it, and admins. {ask}"
