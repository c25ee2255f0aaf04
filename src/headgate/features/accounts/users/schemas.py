"""What the API says and takes about people."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from headgate.features.access.permissions import TenantRole
from headgate.features.accounts.schemas import Person

Email = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, to_lower=True, max_length=254, pattern=r"^[^@\s\x00-\x1f\x7f]+@[^@\s\x00-\x1f\x7f]+$"
    ),
]
"""An e-mail address in lower case. Whether letters arrive there is for the admin to know."""
PersonName = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")
]


class UserIn(BaseModel):
    """Somebody to invite."""

    model_config = ConfigDict(extra="forbid")

    email: Email
    name: PersonName | None = Field(default=None, description="Without one they are called by their address.")
    role: TenantRole = TenantRole.MEMBER


class UserPatch(BaseModel):
    """What to change of a person."""

    model_config = ConfigDict(extra="forbid")

    name: PersonName | None = None
    role: TenantRole | None = None
    active: bool | None = Field(
        default=None, description="False shuts them out: their sessions end, their keys do nothing. History keeps them."
    )


class UserOut(Person):
    """A person of the tenant."""

    active: bool
    can_sign_in: bool = Field(description="Whether they have set a password or came through single sign-on.")
    created_at: datetime
    last_sign_in_at: datetime | None


class LinkOut(BaseModel):
    """A one-time link to set a password, shown this once."""

    url: str = Field(description="Give it to the person over a channel that you trust. It works once.")
    expires_at: datetime


class Invited(UserOut):
    """A new person, and the link to invite them with."""

    link: LinkOut
