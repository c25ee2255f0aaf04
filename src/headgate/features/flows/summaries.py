"""Flows and versions in lists, without definitions: commands list them without importing the flow language."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Wanted = Literal["draft", "published"] | Annotated[int, Field(ge=1, le=2**31 - 1)]


class FlowSummary(BaseModel):
    """A flow in a list."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    name: str
    description: str
    space_id: str
    revision: int
    published_version: int | None
    owner_user_id: str | None = None
    """The owner: its creator, until another is set."""
    folder: str = ""
    """Path of its folder in the space; empty: in none."""
    created_at: datetime
    updated_at: datetime


class VersionSummary(BaseModel):
    """A version in a list."""

    model_config = ConfigDict(from_attributes=True)

    flow_id: str
    version: int
    checksum: str
    logic_checksum: str
    release: int | None
    released_at: datetime | None
    release_notes: str
    created_at: datetime
    headgate_version: str
    created_by_user_id: str | None = None


class VersionPublished(VersionSummary):
    """A version that was just published."""

    notes: list[str] = []
    """Where triggers that are on do not fit its form."""
