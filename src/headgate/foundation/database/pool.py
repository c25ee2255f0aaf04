"""The pool of connections, which also says how long others wait for one."""

import time
from typing import Any

from sqlalchemy.pool import AsyncAdaptedQueuePool, ConnectionPoolEntry


class WatchedPool(AsyncAdaptedQueuePool):
    """A pool that knows who waits for a connection, and since when."""

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 - SQLAlchemy's
        super().__init__(*args, **options)
        self._waiting: dict[object, float] = {}

    @property
    def wait_seconds(self) -> float:
        """How long the one that waits longest has waited; 0 when none does."""
        return time.monotonic() - min(self._waiting.values()) if self._waiting else 0.0

    def _do_get(self) -> ConnectionPoolEntry:
        me = object()
        self._waiting[me] = time.monotonic()
        try:
            return super()._do_get()
        finally:
            del self._waiting[me]
