"""What the commands of the distributed engine share."""

from typing import Any

from headgate.foundation.errors import Invalid
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


def load_processes() -> Any:  # noqa: ANN401 - a module
    """The worker's processes. Raises `Invalid` where Celery is not installed."""
    try:
        from headgate.entrypoints.worker import processes  # noqa: PLC0415 - see LATE_MODULES
    except ImportError as error:
        raise Invalid("Workers need Celery and Redis clients.", remedy="Install headgate[distributed].") from error
    return processes
