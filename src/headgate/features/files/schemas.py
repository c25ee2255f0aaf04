"""API schemas of files."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field


class FileOut(BaseModel):
    """A stored file."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    name: str
    media_type: str
    size_bytes: int
    sha256: str
    created_at: datetime
    flow_id: str | None = Field(description="Flow of the run that created it; null for an upload.")
    flow_run_id: str | None = Field(description="Run that created it; null for an upload.")
    step_id: str | None = Field(description="Step that created it; null for an upload.")
