"""What can go wrong with spaces and their members.

NotFound
├── SpaceNotFound     also for one that the caller does not see
└── MemberNotFound    the person is not in the space
Conflict
├── SpaceNameTaken
├── SpaceInUse        flows are in it, or were
├── TooManySpaces     the person has made as many as one may
├── MemberOfGroup     the person is there through a group of the directory
└── LastOwner         the space would be left without anybody who may manage it
Invalid
└── AmbiguousSpace    several have the name
"""

from collections.abc import Sequence

from headgate.foundation.errors import Conflict, Invalid, JsonValue, NotFound


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


class AmbiguousSpace(Invalid):
    """Several spaces that the caller sees have the name. Carries their ids as `spaces`."""

    code = "space_ambiguous"
    title = "Several spaces have that name"

    def __init__(self, name: str, ids: Sequence[str]) -> None:
        super().__init__(
            f"{len(ids)} spaces are called '{name[:200]}': {', '.join(ids)}.",
            remedy="Give the id of the one you mean.",
            spaces=list[JsonValue](ids),
        )


class SpaceNameTaken(Conflict):
    """The caller sees a space of that name."""

    code = "space_name_taken"
    title = "Name taken"

    def __init__(self, name: str) -> None:
        super().__init__(f"There is a space called '{name}' already.", remedy="Choose another name.")


class SpaceInUse(Conflict):
    """The space cannot go."""

    code = "space_in_use"
    title = "Space in use"


class TooManySpaces(Conflict):
    """The person has made as many spaces as one may."""

    code = "too_many_spaces"
    title = "Too many spaces"

    def __init__(self, most: int) -> None:
        super().__init__(
            f"You have made {most} spaces already.", remedy="Delete some, or ask an admin of your organisation for one."
        )


class MemberOfGroup(Conflict):
    """Somebody who is in a space through a group of the directory alone leaves it there."""

    code = "member_of_group"
    title = "Member through the directory"

    def __init__(self, person: str, space: str) -> None:
        super().__init__(
            f"{person} is in the space '{space}' through a group of your directory.",
            remedy="Remove them from the group in your identity provider, or the group's role in Settings > Directory.",
        )


class LastOwner(Conflict):
    """Nobody would be left who may manage the space."""

    code = "last_owner"
    title = "Last owner"

    def __init__(self, space: str) -> None:
        super().__init__(
            f"The space '{space}' would be left without an owner.",
            remedy="Make somebody else an owner first; an admin of your organisation may do it all the same.",
        )
