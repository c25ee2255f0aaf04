"""What the API says of who is asking."""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.access.permissions import Permission, Role
from headgate.features.accounts.schemas import Named, Person


class SpaceRightsOut(BaseModel):
    """What the caller may do in one space."""

    model_config = ConfigDict(from_attributes=True)

    space_id: str
    role: Role | None = Field(description="Null for an admin of the tenant who is no member.")
    permissions: Sequence[Permission]


class RightsOut(BaseModel):
    """What the caller may do, cut down by the API key they came with."""

    model_config = ConfigDict(from_attributes=True)

    tenant: Sequence[Permission] = Field(description="In the tenant as a whole.")
    every_space: Sequence[Permission] = Field(description="In each space of the tenant: an admin's.")
    spaces: Sequence[SpaceRightsOut] = Field(description="In spaces that the caller is a member of.")


SignedInBy = Literal["auto_login", "password", "link", "single_sign_on", "passkey", "key"]


class Me(BaseModel):
    """Who is asking."""

    tenant: Named
    user: Person
    space: Named | None = Field(description="Where new flows go when none is named; null when that space is gone.")
    permissions: RightsOut
    signed_in_by: SignedInBy
    second_factor_missing: bool = Field(
        description="Whether this session can only set up a second factor, because the organisation requires one."
    )
    csrf_token: str | None = Field(
        description="What a page sends as `X-CSRF-Token` with every change; null where no cookie signed the caller in."
    )
