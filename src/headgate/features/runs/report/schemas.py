"""Response bodies of the report routes."""

from datetime import datetime

from pydantic import BaseModel


class VersionFigures(BaseModel):
    """Extra data of a version."""

    version: int
    made_by: str | None
    """Name of the author; null when there is none or the account was deleted."""
    runs: int
    failed: int
    last_run_at: datetime | None
