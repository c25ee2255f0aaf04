"""What the API says and takes about spaces and their members."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints


class SpaceIn(BaseModel):
    """A space to create."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]+$")
    ]


class SpaceOut(BaseModel):
    """A room of the tenant in which flows live."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    name: str
    owner_user_id: str | None
    created_at: datetime
