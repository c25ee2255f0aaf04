"""What the API says and takes about accounts."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints


class Named(BaseModel):
    """Something with an id and a name."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    name: str


class Me(BaseModel):
    """Who is asking."""

    model_config = ConfigDict(from_attributes=True)

    tenant: Named
    user: Named
    space: Named = Field(description="Where new flows go when none is named.")


class SpaceIn(BaseModel):
    """A space to create."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]+$")
    ]


class SpaceOut(Named):
    """A room of the tenant in which flows live."""

    owner_user_id: str | None
    created_at: datetime
