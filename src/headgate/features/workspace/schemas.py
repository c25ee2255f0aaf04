"""What the API says about files of a workspace."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.workspace.root import MAX_FILE_BYTES


class WorkspaceFileOut(BaseModel):
    """A file of one's own workspace."""

    model_config = ConfigDict(frozen=True)

    path: str = Field(description="Where it is, relative to the workspace.")
    size_bytes: int
    modified_at: datetime


class WorkspaceText(WorkspaceFileOut):
    """A text file with its text."""

    text: str


class WorkspaceFileIn(BaseModel):
    """What a file is to hold."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(max_length=MAX_FILE_BYTES, description="All of the file's text, up to 10 MiB.")


class WorkspacePage(BaseModel):
    """One page of a workspace's files."""

    items: list[WorkspaceFileOut]
    next_cursor: str | None = Field(description="Give it as `cursor` to get the next page; null on the last one.")
    files: int = Field(description="How many files the workspace holds, components that the assistant keeps included.")
    size_bytes: int = Field(description="How much they take up together.")
    max_files: int
    max_bytes: int
