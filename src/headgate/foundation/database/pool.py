"""Connection pool that measures how long callers wait for a connection."""

import time
from typing import Any

from sqlalchemy.pool import AsyncAdaptedQueuePool, ConnectionPoolEntry


class WatchedPool(AsyncAdaptedQueuePool):
    """A connection pool that records who waits for a connection, and since when."""

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 - SQLAlchemy's
        super().__init__(*args, **options)
        self._waiting: dict[object, float] = {}

    @property
    def wait_seconds(self) -> float:
        """Return how long the oldest waiting caller has waited, in seconds; 0 when none waits."""
        return time.monotonic() - min(self._waiting.values()) if self._waiting else 0.0

    def _do_get(self) -> ConnectionPoolEntry:
        me = object()
        self._waiting[me] = time.monotonic()
        try:
            return super()._do_get()
        finally:
            del self._waiting[me]
