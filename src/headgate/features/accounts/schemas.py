"""Shared API schemas of users and named objects."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.access.permissions import TenantRole

AccountKind = Literal["user", "service"]


class Named(BaseModel):
    """An object with an id and a name."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    name: str


class Person(Named):
    """A user or service account of a tenant."""

    kind: AccountKind = Field(description="A service account has API keys and triggers, and cannot sign in.")
    email: str | None = Field(
        description="E-mail address for signing in; null for service accounts and the local user."
    )
    role: TenantRole
