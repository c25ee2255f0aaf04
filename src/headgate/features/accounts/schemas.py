"""Shared API schemas of users and named objects."""

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.access.permissions import TenantRole


class Named(BaseModel):
    """An object with an id and a name."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    name: str


class Person(Named):
    """A user of a tenant."""

    email: str | None = Field(description="E-mail address for signing in; null for the local user of auto-login.")
    role: TenantRole
