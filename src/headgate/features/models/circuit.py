"""Models that did not answer a moment ago: where a fallback exists they are not asked again for some seconds.

Kept by this process only, for each organisation: the failures of one say nothing about the keys of another.
"""

import time
from collections.abc import Callable, Hashable

from headgate.features.models.errors import ModelRateLimited, ModelUnreachable
from headgate.foundation.errors import HeadgateError
from headgate.sdk.values import Model

PAUSE_SECONDS = 15.0
"""Seconds for which a model is skipped after a failure."""
LONGEST_PAUSE_SECONDS = 120.0
"""Seconds for which a rate-limited model is skipped at most, where its provider named a longer pause."""
_MOST_KEPT = 1_000


class Circuit:
    """Skips models after a failure.

    Args:
        pause_seconds: For how long.
        now: The clock, in seconds.
    """

    def __init__(self, pause_seconds: float = PAUSE_SECONDS, now: Callable[[], float] = time.monotonic) -> None:
        self._pause = pause_seconds
        self._now = now
        self._until: dict[Hashable, float] = {}

    def failed(self, scope: str, model: Model, error: HeadgateError) -> None:
        """A model did not answer. After a failed connection all models of its server are skipped."""
        named = error.extra.get("retry_after_seconds") if isinstance(error, ModelRateLimited) else None
        pause = min(named, LONGEST_PAUSE_SECONDS) if isinstance(named, int | float) else self._pause
        if len(self._until) >= _MOST_KEPT:
            self._until = {key: until for key, until in self._until.items() if until > self._now()}
        server, model_key = _keys(scope, model)
        self._until[server if isinstance(error, ModelUnreachable) else model_key] = self._now() + pause

    def seconds_left(self, scope: str, model: Model) -> float:
        """For how long a model is still skipped; 0 when it is asked."""
        return max(0.0, *(self._until.get(key, 0.0) - self._now() for key in _keys(scope, model)))

    def reset(self) -> None:
        """Ask every model again."""
        self._until.clear()


CIRCUIT = Circuit()
"""That of this process."""


def _keys(scope: str, model: Model) -> tuple[Hashable, Hashable]:
    server = (scope, model.provider, str(model.params.get("base_url") or ""))
    return server, (*server, model.name)
