"""Errors of spaces and their members.

NotFound
├── SpaceNotFound     also for one that the caller cannot view
└── MemberNotFound    the user is not a member of the space
Conflict
├── SpaceNameTaken
├── SpaceInUse        it has or had flows, or has knowledge bases
├── TooManySpaces     the user has created the maximum number of spaces
├── MemberOfGroup     the user is a member through a group of the directory
└── LastOwner         nobody would remain who may manage the space
Invalid
└── AmbiguousSpace    several have the name
"""

from collections.abc import Sequence

from headgate.foundation.errors import Conflict, Invalid, JsonValue, NotFound


class SpaceNotFound(NotFound):
    """The caller can view no such space."""

    code = "space_not_found"

    def __init__(self, space: str) -> None:
        if not space:
            super().__init__(
                "You are not a member of any space.", remedy="Create a space, or name one of which you are a member."
            )
            return
        super().__init__(f"There is no space '{space[:200]}'.", remedy="List the spaces to see their ids and names.")


class MemberNotFound(NotFound):
    """The user is not a member of the space."""

    code = "member_not_found"
    title = "Not a member"

    def __init__(self, user_id: str, space: str) -> None:
        super().__init__(f"'{user_id[:64]}' is not a member of the space '{space}'.", remedy="List its members.")


class AmbiguousSpace(Invalid):
    """Several spaces that the caller can view have the name. Carries their ids as `spaces`."""

    code = "space_ambiguous"
    title = "Several spaces have that name"
    remedy = "Give the id of one."

    def __init__(self, name: str, ids: Sequence[str]) -> None:
        super().__init__(f"{len(ids)} spaces are named '{name[:200]}': {', '.join(ids)}.", spaces=list[JsonValue](ids))


class SpaceNameTaken(Conflict):
    """The caller can view a space with that name."""

    code = "space_name_taken"
    title = "Name taken"
    detail = "A space named '{}' already exists."
    remedy = "Choose another name."


class SpaceInUse(Conflict):
    """The space cannot be deleted."""

    code = "space_in_use"


class TooManySpaces(Conflict):
    """The user has created the maximum number of spaces."""

    code = "too_many_spaces"
    remedy = "Delete some, or ask an admin of your organisation to create one."

    def __init__(self, limit: int) -> None:
        super().__init__(f"You have already created {limit} spaces.")


class MemberOfGroup(Conflict):
    """The user is a member only through a group of the directory, which has to be changed there."""

    code = "member_of_group"
    title = "Member from the directory"
    remedy = (
        "Remove the user from the group in your identity provider, or remove the group's role in Settings > Directory."
    )

    def __init__(self, user: str, space: str) -> None:
        super().__init__(f"{user} is a member of the space '{space}' through a group of your directory.")


class LastOwner(Conflict):
    """Nobody would remain who may manage the space."""

    code = "last_owner"
    remedy = "Make another user an owner first. An admin of your organisation can do it without an owner."
    detail = "The space '{}' would have no owner."
