"""What the API says of people and of what has a name, for every room of accounts."""

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.access.permissions import TenantRole


class Named(BaseModel):
    """Something with an id and a name."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    name: str


class Person(Named):
    """Somebody of a tenant."""

    email: str | None = Field(description="What they sign in with; null for the local user of auto-login.")
    role: TenantRole
