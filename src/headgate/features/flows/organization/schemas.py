"""API schemas of folders, tags, favourites and actions on many flows."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from headgate.features.flows.organization.names import MOST_TAGS, Folder, Tag
from headgate.foundation.api import Problem

BulkAction = Literal["move", "tag", "untag", "unpublish", "delete", "restore"]
MOST_FLOWS = 200
"""Flows of one request."""
_WITH_TAGS = ("tag", "untag")


class BulkIn(BaseModel):
    """An action on several flows."""

    model_config = ConfigDict(extra="forbid")

    action: BulkAction
    flow_ids: list[Annotated[str, StringConstraints(max_length=64)]] = Field(min_length=1, max_length=MOST_FLOWS)
    folder: Folder | None = Field(default=None, description="For `move`: the new folder; empty: none.")
    tags: list[Tag] = Field(default_factory=list, max_length=MOST_TAGS, description="For `tag` and `untag`.")

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if self.action == "move" and self.folder is None:
            raise ValueError("'move' needs 'folder'")
        if self.action in _WITH_TAGS and not self.tags:
            raise ValueError(f"'{self.action}' needs 'tags'")
        return self


class BulkProblem(Problem):
    """Why the action was refused for a flow, as the problem document of a single request."""

    permission: str | None = None
    """The permission that the caller lacks; null for other reasons."""


class BulkResult(BaseModel):
    """The outcome for one flow."""

    flow_id: str
    done: bool
    problem: BulkProblem | None


class BulkOut(BaseModel):
    """One result per flow, in their order."""

    items: list[BulkResult]


class Counted(BaseModel):
    """A folder or a tag, and the number of its flows."""

    name: str
    flows: int


class Collections(BaseModel):
    """Folders, tags and favourites of the flows that the caller can view."""

    folders: list[Counted]
    """Paths; the number is that of the folder itself, without folders below it."""
    tags: list[Counted]
    flows: int
    favourites: int
    trashed: int
    trash_days: int | None
    """Days after which flows in the trash are deleted; null: never."""
