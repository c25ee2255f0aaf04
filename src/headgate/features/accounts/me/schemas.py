"""API schemas of the caller's account."""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.access.permissions import Permission, Role
from headgate.features.accounts.schemas import Named, Person


class SpaceRightsOut(BaseModel):
    """Permissions of the caller in one space."""

    model_config = ConfigDict(from_attributes=True)

    space_id: str
    role: Role | None = Field(description="Null for an admin of the tenant who is not a member.")
    permissions: Sequence[Permission]


class RightsOut(BaseModel):
    """Permissions of the caller, restricted by the API key of the request."""

    model_config = ConfigDict(from_attributes=True)

    tenant: Sequence[Permission] = Field(description="Permissions in the whole tenant.")
    every_space: Sequence[Permission] = Field(description="Permissions of an admin, in each space of the tenant.")
    spaces: Sequence[SpaceRightsOut] = Field(description="Permissions in the spaces of which the caller is a member.")


SignedInBy = Literal["auto_login", "password", "link", "single_sign_on", "passkey", "key"]


class Me(BaseModel):
    """The caller."""

    tenant: Named
    user: Person
    space: Named | None = Field(description="Default space of new flows; null when that space no longer exists.")
    permissions: RightsOut
    signed_in_by: SignedInBy
    second_factor_missing: bool = Field(
        description="Whether this session can only set up a second factor, because the organisation requires one."
    )
    csrf_token: str | None = Field(
        description="CSRF token to send as `X-CSRF-Token` with every change; null without a session cookie."
    )
