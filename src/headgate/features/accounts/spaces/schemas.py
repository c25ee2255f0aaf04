"""API schemas of spaces and their members."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.access.permissions import Role
from headgate.features.accounts.spaces.service import SeenSpace
from headgate.foundation.names import Name


class SpaceIn(BaseModel):
    """A space with its new name."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[Name, Field(max_length=200)]


class SpaceOut(BaseModel):
    """A space of the tenant, which contains flows."""

    id: str
    name: str
    owner_user_id: str | None = Field(description="User who created it. Permissions depend on roles, not on this.")
    role: Role | None = Field(description="Your role in it; null for an admin of the tenant who is not a member.")
    created_at: datetime

    @classmethod
    def of(cls, seen: SeenSpace) -> "SpaceOut":
        """Return a space as shown to the caller."""
        space = seen.space
        return cls(
            id=space.id,
            name=space.name,
            owner_user_id=space.owner_user_id,
            role=seen.role,
            created_at=space.created_at,
        )


class MemberIn(BaseModel):
    """The role of a user in a space."""

    model_config = ConfigDict(extra="forbid")

    role: Role


class MemberOut(BaseModel):
    """A member of a space."""

    model_config = ConfigDict(from_attributes=True)

    user_id: str
    name: str
    email: str | None
    active: bool = Field(description="An inactive user cannot sign in.")
    role: Role = Field(description="Effective role: the higher of the two below.")
    assigned_role: Role | None = Field(
        description=("Role assigned in Headgate; null when the role comes from the directory only.")
    )
    directory_role: Role | None = Field(description="Role from groups of the directory (SCIM).")
    created_at: datetime = Field(description="When the member was added.")
