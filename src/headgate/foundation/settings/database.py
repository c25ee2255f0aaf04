"""The database."""

from typing import Literal

from pydantic import BaseModel, Field


class DatabaseSettings(BaseModel, defer_build=True):
    """Where flows, versions and runs are kept."""

    url: str = Field(
        default="",
        description="SQLAlchemy URL: `sqlite+aiosqlite:///path` or `postgresql+psycopg://user:password@host/name`. "
        "Empty: a SQLite file `headgate.db` in the data folder.",
    )
    pool_size: int = Field(
        default=5, ge=1, le=200, description=("Size of the connection pool of the API, and of that of runs.")
    )
    synchronous: Literal["NORMAL", "FULL"] = Field(
        default="NORMAL",
        description="SQLite only. NORMAL survives a killed process; FULL also a power failure, and is slower.",
    )
    busy_timeout_seconds: float = Field(default=5.0, ge=0, description="SQLite only: how long to wait for a lock.")
