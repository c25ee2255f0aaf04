"""API schemas of directories."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.access.permissions import Role
from headgate.features.accounts.keys.networks import MOST_NETWORKS
from headgate.features.accounts.keys.schemas import NetworkText


class TokenIn(BaseModel):
    """A token to create, replacing the current one."""

    model_config = ConfigDict(extra="forbid")

    networks: list[NetworkText] | None = Field(
        default=None,
        min_length=1,
        max_length=MOST_NETWORKS,
        description="Networks that may use it, such as `192.0.2.0/24`. None: all networks.",
    )


class TokenOut(BaseModel):
    """The token of a directory, without its secret."""

    prefix: str = Field(description="Its first characters, to identify it.")
    networks: list[str] | None
    created_at: datetime
    last_used_at: datetime | None = Field(description="Rounded to the minute.")
    last_used_address: str | None


class DirectoryOut(BaseModel):
    """An organisation's directory."""

    address: str = Field(description="The base URL for the identity provider.")
    token: TokenOut | None = Field(description="Null when no directory is connected.")
    last_change_at: datetime | None = Field(description="When it last changed a user or group.")
    users: int
    groups: int


class TokenMade(TokenOut):
    """A new token with its secret, which is never shown again."""

    token: str = Field(description="The complete token. Only its hash is stored.")


class GroupRole(BaseModel):
    """The role of a group in a space."""

    space_id: str
    space_name: str
    role: Role


class GroupOut(BaseModel):
    """A group of the directory."""

    id: str
    name: str
    members: int
    roles: list[GroupRole]


class GroupRoleIn(BaseModel):
    """The role to give to the members of a group."""

    model_config = ConfigDict(extra="forbid")

    role: Role
