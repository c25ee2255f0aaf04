"""What the API says and takes about people."""

import re
from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from headgate.features.access.permissions import TenantRole
from headgate.features.accounts.schemas import Person
from headgate.foundation.names import Name

_ADDRESS = r"^[^@\s\x00-\x1f\x7f]+@[^@\s\x00-\x1f\x7f]+$"


def _address(value: object) -> object:
    """Say what is wrong in place of the pattern."""
    if isinstance(value, str) and not re.match(_ADDRESS, value.strip()):
        raise ValueError("that is no e-mail address, such as anna@example.org")
    return value


Email = Annotated[
    str,
    StringConstraints(strip_whitespace=True, to_lower=True, max_length=254, pattern=_ADDRESS),
    BeforeValidator(_address),
]
"""An e-mail address in lower case. Whether letters arrive there is for the admin to know."""
PersonName = Annotated[Name, Field(max_length=200)]


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
