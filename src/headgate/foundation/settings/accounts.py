"""People who sign in."""

from pydantic import BaseModel, Field


class AccountSettings(BaseModel, defer_build=True):
    """People who sign in."""

    session_hours: float = Field(default=168.0, gt=0, le=8760, description="Maximum time between two sign-ins.")
    idle_hours: float = Field(
        default=24.0, gt=0, le=8760, description="Idle time after which a user must sign in again."
    )
    link_hours: float = Field(
        default=72.0, gt=0, le=8760, description="Lifetime of a link to set a password, which works once."
    )
