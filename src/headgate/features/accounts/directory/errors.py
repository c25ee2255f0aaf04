"""What can go wrong with a directory (SCIM). A `scim_type` is shown to the identity provider (RFC 7644, 3.12).

Unauthenticated
└── DirectoryTokenRefused  the token is wrong or was revoked
NotFound
├── GroupNotFound
├── NotConnected           there is no token to revoke
├── NotMapped              the group gives no role in that space
└── ScimAddressUnknown     no such address below /scim/v2
Conflict
├── NotUnique              the organisation has a user or group of that name already
└── AdminAddressKept       the directory would change the e-mail address of an admin
ScimInvalid                a filter, path or value that cannot be used
VersionOutdated            If-Match names another version than there is
"""

from typing import ClassVar, Literal

from headgate.foundation.errors import Conflict, HeadgateError, NotFound, Unauthenticated

ScimType = Literal[
    "invalidFilter", "invalidPath", "invalidSyntax", "invalidValue", "noTarget", "mutability", "tooMany", "uniqueness"
]


class DirectoryTokenRefused(Unauthenticated):
    """The request came with no token of a directory."""

    code = "directory_token_refused"
    title = "Directory token refused"

    def __init__(self) -> None:
        super().__init__(
            "This token opens no directory here.",
            remedy="Send the token from Settings > Directory as 'Authorization: Bearer'. API keys are not accepted.",
        )


class GroupNotFound(NotFound):
    """The directory has no such group."""

    code = "directory_group_not_found"
    title = "Group not found"

    def __init__(self, group: str) -> None:
        super().__init__(
            f"The directory has no group '{group[:200]}'.", remedy="List the groups to see their ids and names."
        )


class NotConnected(NotFound):
    """The organisation has no directory token."""

    code = "directory_not_connected"
    title = "No directory connected"

    def __init__(self) -> None:
        super().__init__("There is no directory token.", remedy="Create one to connect a directory.")


class NotMapped(NotFound):
    """The group gives no role in the space."""

    code = "directory_group_not_mapped"
    title = "No role in that space"

    def __init__(self, group: str, space: str) -> None:
        super().__init__(
            f"The group '{group}' gives no role in the space '{space}'.", remedy="List the groups to see their roles."
        )


class ScimAddressUnknown(NotFound):
    """Nothing is at that address."""

    code = "scim_address_unknown"

    def __init__(self, path: str) -> None:
        super().__init__(
            f"There is nothing at {path[:200]}.",
            remedy="The addresses are Users, Groups, Schemas, ResourceTypes and ServiceProviderConfig.",
        )


class NotUnique(Conflict):
    """The name is taken."""

    code = "directory_not_unique"
    title = "Already there"
    scim_type: ClassVar[ScimType] = "uniqueness"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"There is a user or group '{name[:254]}' in this organisation already.",
            remedy="Filter by userName or displayName to find it.",
        )


class AdminAddressKept(Conflict):
    """Whoever changed an admin's address could then sign in as the admin."""

    code = "directory_admin_address"
    title = "E-mail address of an admin"
    scim_type: ClassVar[ScimType] = "mutability"

    def __init__(self, email: str) -> None:
        super().__init__(
            f"{email} is an admin, whose e-mail address a directory does not change.",
            remedy="Make the user a member in Settings > People, synchronize, and make them an admin again.",
        )


class ScimInvalid(HeadgateError):
    """The request is understood and cannot be used."""

    code = "scim_invalid"
    status = 400
    title = "Invalid SCIM request"

    def __init__(self, scim_type: ScimType, detail: str, *, remedy: str = "") -> None:
        super().__init__(detail, remedy=remedy)
        self.scim_type: ScimType = scim_type


class VersionOutdated(HeadgateError):
    """It changed since the version that the request names."""

    code = "version_outdated"
    status = 412
    title = "Changed meanwhile"

    def __init__(self, resource: str) -> None:
        super().__init__(
            f"{resource} is no longer at the version of If-Match; nothing was changed.", remedy="Read it again."
        )
