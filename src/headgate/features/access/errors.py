"""What can go wrong between a caller and what they ask for."""

from headgate.features.access.permissions import Permission
from headgate.foundation.errors import Forbidden


class PermissionMissing(Forbidden):
    """The caller may see the thing, and not do this to it."""

    code = "permission_missing"

    def __init__(self, permission: Permission, *, by_key: bool = False) -> None:
        whose = "Your API key lacks" if by_key else "You lack"
        remedy = (
            "Use a key that has it among its scopes; what concerns the whole organisation needs one without spaces."
            if by_key
            else "Ask an owner of the space, or an admin of your organisation, for a role that has it."
        )
        super().__init__(f"{whose} the permission '{permission}'.", remedy=remedy, permission=permission.value)
