"""What the API says and takes about accounts."""

from pydantic import BaseModel, ConfigDict, Field


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
