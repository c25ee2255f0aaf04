"""What can go wrong with spaces and their members.

NotFound
├── SpaceNotFound     also for one that the caller does not see
└── MemberNotFound    the person is not in the space
Conflict
├── SpaceNameTaken
├── SpaceInUse        flows are in it, or were
└── LastOwner         the space would be left without anybody who may manage it
"""

from headgate.foundation.errors import Conflict, NotFound


class SpaceNotFound(NotFound):
    """The caller sees no such space."""

    code = "space_not_found"
    title = "Space not found"

    def __init__(self, space: str) -> None:
        if not space:
            super().__init__(
                "You have no space to put it in.", remedy="Make a space, or name one that you are a member of."
            )
            return
        super().__init__(f"There is no space '{space[:200]}'.", remedy="List the spaces to see their ids and names.")


class MemberNotFound(NotFound):
    """The person is not in the space."""

    code = "member_not_found"
    title = "Not a member"

    def __init__(self, user_id: str, space: str) -> None:
        super().__init__(
            f"'{user_id[:64]}' is no member of the space '{space}'.", remedy="List its members to see who is."
        )


class SpaceNameTaken(Conflict):
    """The tenant has a space of that name."""

    code = "space_name_taken"
    title = "Name taken"

    def __init__(self, name: str) -> None:
        super().__init__(f"There is a space called '{name}' already.", remedy="Choose another name.")


class SpaceInUse(Conflict):
    """The space cannot go."""

    code = "space_in_use"
    title = "Space in use"


class LastOwner(Conflict):
    """Nobody would be left who may manage the space."""

    code = "last_owner"
    title = "Last owner"

    def __init__(self, space: str) -> None:
        super().__init__(
            f"The space '{space}' would be left without an owner.",
            remedy="Make somebody else an owner first; an admin of your organisation may do it all the same.",
        )
