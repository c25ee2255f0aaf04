"""API schemas of workspace files."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.workspace.root import MAX_FILE_BYTES


class WorkspaceFileOut(BaseModel):
    """A file of the caller's workspace."""

    model_config = ConfigDict(frozen=True)

    path: str = Field(description="Path relative to the workspace.")
    size_bytes: int
    modified_at: datetime


class WorkspaceText(WorkspaceFileOut):
    """A text file with its text."""

    text: str


class WorkspaceFileIn(BaseModel):
    """The new content of a file."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(max_length=MAX_FILE_BYTES, description="The complete text of the file, up to 10 MiB.")


class WorkspacePage(BaseModel):
    """One page of a workspace's files."""

    items: list[WorkspaceFileOut]
    next_cursor: str | None = Field(description="Send it as `cursor` to get the next page; null on the last page.")
    files: int = Field(description="Number of files in the workspace, including components that the assistant stored.")
    size_bytes: int = Field(description="Total size of the files.")
    max_files: int
    max_bytes: int
