"""Saved views in the API."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from headgate.foundation.names import Name
from headgate.graph.json_values import PlainText

Place = Literal["attention", "runs"]
MOST_VIEWS = 50
"""Of one user and list."""
_Word = Annotated[PlainText, Field(max_length=200)]
_Name = Annotated[PlainText, Field(max_length=40)]


class ViewSettings(BaseModel):
    """What a view shows."""

    model_config = ConfigDict(extra="forbid")

    filters: dict[_Name, _Word | list[_Word]] = Field(
        default_factory=dict, max_length=20, description="Query parameters of the list."
    )
    columns: list[_Name] = Field(default_factory=list, max_length=30, description="Columns, in their order.")


class SavedViewIn(BaseModel):
    """A view to save; it replaces the one of the same name."""

    model_config = ConfigDict(extra="forbid")

    place: Place
    name: Literal[""] | Annotated[Name, Field(max_length=80)] = Field(
        description="Empty: the settings that the page restores when the list is opened."
    )
    settings: ViewSettings


class SavedView(BaseModel):
    """A saved view of the caller."""

    id: str
    place: Place
    name: str
    settings: ViewSettings


class SavedViews(BaseModel):
    """The views of a list, by name."""

    items: list[SavedView]
