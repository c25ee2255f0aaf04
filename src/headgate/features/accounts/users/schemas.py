"""API schemas of users."""

import re
from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from headgate.features.access.permissions import TenantRole
from headgate.features.accounts.schemas import Person
from headgate.foundation.names import Name

_ADDRESS = r"^[^@\s\x00-\x1f\x7f]+@[^@\s\x00-\x1f\x7f]+$"


def _address(value: object) -> object:
    """Return an error that describes the fault instead of the pattern."""
    if isinstance(value, str) and not re.match(_ADDRESS, value.strip()):
        raise ValueError("not a valid e-mail address such as anna@example.org")
    return value


Email = Annotated[
    str,
    StringConstraints(strip_whitespace=True, to_lower=True, max_length=254, pattern=_ADDRESS),
    BeforeValidator(_address),
]
"""An e-mail address in lower case. Whether it receives mail is not checked."""
PersonName = Annotated[Name, Field(max_length=200)]


class UserIn(BaseModel):
    """A user to invite."""

    model_config = ConfigDict(extra="forbid")

    email: Email
    name: PersonName | None = Field(default=None, description="Without a name, the e-mail address is shown.")
    role: TenantRole = TenantRole.MEMBER


class ServiceAccountIn(BaseModel):
    """A service account to create."""

    model_config = ConfigDict(extra="forbid")

    name: PersonName = Field(description="Unique in the organisation, and without @.")
    role: TenantRole = TenantRole.MEMBER


class UserPatch(BaseModel):
    """Changes of a user."""

    model_config = ConfigDict(extra="forbid")

    name: PersonName | None = None
    role: TenantRole | None = None
    active: bool | None = Field(
        default=None,
        description=(
            "False deactivates the user: their sessions end and their keys stop working. History keeps their name."
        ),
    )


class UserOut(Person):
    """A user or service account of the tenant."""

    active: bool
    can_sign_in: bool = Field(description="Whether they have set a password or signed in through single sign-on.")
    created_at: datetime
    last_sign_in_at: datetime | None


class LinkOut(BaseModel):
    """A one-time link to set a password, shown only once."""

    url: str = Field(description="Send it to the user over a trusted channel. It works once.")
    expires_at: datetime


class Invited(UserOut):
    """A new user, and the invitation link."""

    link: LinkOut
