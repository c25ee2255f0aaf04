"""What the API says and takes about spaces and their members."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.access.permissions import Role
from headgate.features.accounts.spaces.service import SeenSpace
from headgate.foundation.names import Name


class SpaceIn(BaseModel):
    """A space as it is to be called."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[Name, Field(max_length=200)]


class SpaceOut(BaseModel):
    """A room of the tenant in which flows live."""

    id: str
    name: str
    owner_user_id: str | None = Field(description="Who made it. What people may do in it is said by their roles.")
    role: Role | None = Field(description="Your role in it; null for an admin of the tenant who is no member.")
    created_at: datetime

    @classmethod
    def of(cls, seen: SeenSpace) -> "SpaceOut":
        """A space as its caller sees it."""
        space = seen.space
        return cls(
            id=space.id,
            name=space.name,
            owner_user_id=space.owner_user_id,
            role=seen.role,
            created_at=space.created_at,
        )


class MemberIn(BaseModel):
    """What a person may do in a space."""

    model_config = ConfigDict(extra="forbid")

    role: Role


class MemberOut(BaseModel):
    """A person of a space."""

    model_config = ConfigDict(from_attributes=True)

    user_id: str
    name: str
    email: str | None
    active: bool = Field(description="Somebody who is not active cannot sign in.")
    role: Role = Field(description="What counts: the higher of the two below.")
    assigned_role: Role | None = Field(description="As assigned in Headgate; null: here through the directory alone.")
    directory_role: Role | None = Field(description="Through groups of the directory (SCIM).")
    created_at: datetime = Field(description="When they were added.")
