"""What the routes of reports answer."""

from datetime import datetime

from pydantic import BaseModel


class VersionFigures(BaseModel):
    """What is known of a version besides its content."""

    version: int
    made_by: str | None
    """Name of who made it; null where nobody did, or they are gone."""
    runs: int
    failed: int
    last_run_at: datetime | None
