"""Shared parts of the commands of the distributed engine."""

import asyncio
from contextlib import suppress
from typing import Any

from headgate.foundation.database import Database
from headgate.foundation.database.migrate import upgrade
from headgate.foundation.errors import DatabaseAway, Invalid
from headgate.foundation.log import configure
from headgate.foundation.settings import Settings


def ready_settings() -> Settings:
    """The settings, with the engine `celery` in force and the database fit for it. Raises `Invalid`."""
    settings = Settings()
    if not settings.database_url.startswith("postgresql"):
        raise Invalid(
            "Workers require PostgreSQL, because several processes write runs at the same time.",
            remedy="Set HEADGATE_DATABASE__URL to postgresql+psycopg://user:password@host/name, or try"
            " `headgate up --embedded-services`.",
        )
    configure(settings.log)
    return settings.model_copy(update={"engine": settings.engine.model_copy(update={"backend": "celery"})})


def bring_up_to_date(settings: Settings) -> None:
    """Upgrade the database before any part reads it. Raises `Unavailable` for that of a newer version."""

    async def work() -> None:
        database = Database(settings)
        try:
            await upgrade(database)
        finally:
            await database.close()

    asyncio.run(work())


def check_schema(settings: Settings) -> None:
    """The same, where a database that cannot be reached yet is waited for later."""
    with suppress(DatabaseAway):
        bring_up_to_date(settings)


def load_processes() -> Any:  # noqa: ANN401 - a module
    """The worker's processes. Raises `Invalid` where Celery is not installed."""
    try:
        from headgate.entrypoints.worker import processes  # noqa: PLC0415 - see LATE_MODULES
    except ImportError as error:
        raise Invalid("Workers need Celery and Redis clients.", remedy="Install headgate[distributed].") from error
    return processes
