"""What can go wrong before a turn begins."""

from headgate.features.access.errors import PermissionMissing
from headgate.features.access.permissions import Permission
from headgate.foundation.errors import HeadgateError


class NoRoomForFlow(PermissionMissing):
    """The space that a new flow would go to is not one in which the caller may make flows."""

    def __init__(self, space: str) -> None:
        needed = Permission.FLOWS_EDIT
        place = f"would go to the space '{space}', in which you lack" if space else "has no space to go to: you need"
        HeadgateError.__init__(
            self,
            f"A new flow {place} the permission '{needed}'.",
            remedy="Name a flow that you may edit, or ask an owner of the space for the role editor.",
            permission=needed.value,
        )
