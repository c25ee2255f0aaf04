"""Errors of directories (SCIM). A `scim_type` is returned to the identity provider (RFC 7644, 3.12).

Unauthenticated
└── DirectoryTokenRefused  the token is wrong or was revoked
NotFound
├── GroupNotFound
├── NotConnected           there is no token to revoke
├── NotMapped              the group has no role in that space
└── ScimAddressUnknown     no such path below /scim/v2
Conflict
├── NotUnique              the organisation already has a user or group with that name
└── AdminAddressKept       the directory would change the e-mail address of an admin
ScimInvalid                an invalid filter, path or value
VersionOutdated            If-Match names another version than the current one
"""

from typing import ClassVar, Literal

from headgate.foundation.errors import Conflict, HeadgateError, NotFound, Unauthenticated

ScimType = Literal[
    "invalidFilter", "invalidPath", "invalidSyntax", "invalidValue", "noTarget", "mutability", "tooMany", "uniqueness"
]


class DirectoryTokenRefused(Unauthenticated):
    """The request has no valid directory token."""

    code = "directory_token_refused"
    detail = "This directory token is not valid."
    remedy = "Send the token from Settings > Directory as 'Authorization: Bearer'. API keys are not accepted."


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
    detail = "There is no directory token."
    remedy = "Create one to connect a directory."


class NotMapped(NotFound):
    """The group has no role in the space."""

    code = "directory_group_not_mapped"
    title = "No role in that space"

    def __init__(self, group: str, space: str) -> None:
        super().__init__(
            f"The group '{group}' has no role in the space '{space}'.", remedy="List the groups to see their roles."
        )


class ScimAddressUnknown(NotFound):
    """The path does not exist."""

    code = "scim_address_unknown"
    title = "Not found"
    remedy = "The resources are Users, Groups, Schemas, ResourceTypes and ServiceProviderConfig."

    def __init__(self, path: str) -> None:
        super().__init__(f"There is no resource at {path[:200]}.")


class NotUnique(Conflict):
    """The name is already in use."""

    code = "directory_not_unique"
    title = "Already there"
    scim_type: ClassVar[ScimType] = "uniqueness"
    remedy = "Filter by userName or displayName to find it."

    def __init__(self, name: str) -> None:
        super().__init__(f"A user or group '{name[:254]}' already exists in this organisation.")


class AdminAddressKept(Conflict):
    """A directory could sign in as an admin by changing the admin's address."""

    code = "directory_admin_address"
    title = "E-mail address of an admin"
    scim_type: ClassVar[ScimType] = "mutability"
    remedy = "Make the user a member in Settings > People, synchronize, and make them an admin again."
    detail = "{} is an admin. A directory does not change the e-mail address of an admin."


class ScimInvalid(HeadgateError):
    """The request is well formed but invalid."""

    code = "scim_invalid"
    status = 400
    title = "Invalid SCIM request"

    def __init__(self, scim_type: ScimType, detail: str, *, remedy: str = "") -> None:
        super().__init__(detail, remedy=remedy)
        self.scim_type: ScimType = scim_type


class VersionOutdated(HeadgateError):
    """The resource has changed since the version in the request."""

    code = "version_outdated"
    status = 412
    title = "Changed meanwhile"
    detail = "{} has changed since the version in If-Match; nothing was changed."
    remedy = "Read it again."
