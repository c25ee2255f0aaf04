"""Turns that this process executes, so that their users can stop them."""

import asyncio
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Literal

from anyio import CancelScope

from headgate.agents.assistant.errors import TurnNotFound
from headgate.agents.assistant.metrics import AssistantMetrics
from headgate.features.access.principal import Principal
from headgate.foundation.at_once import AtOnce

Reason = Literal["client_gone", "stopped"]
MOST_ENDED = 1000
"""Ended turns whose users are kept in memory."""


@dataclass(slots=True)
class Work:
    """The task of one turn, and the reason of its cancellation."""

    tenant_id: str
    user_id: str
    task: asyncio.Task[None] | None = None
    reason: Reason = "client_gone"

    def stop(self, reason: Reason) -> None:
        """Cancel the turn; the second to do so changes nothing."""
        if self.task is not None and not self.task.done() and not self.task.cancelling():
            self.reason = reason
            self.task.cancel()

    async def end(self) -> None:
        """Cancel the task after its client disconnected, and wait until it has released everything.

        The server cancels the response to a disconnected client repeatedly, at each of its steps (anyio's scopes);
        the turn is cancelled once, and this waits for it all the same.
        """
        self.stop("client_gone")
        if self.task is not None:
            with CancelScope(shield=True):
                await asyncio.wait([self.task])


@dataclass(slots=True)
class RunningTurns:
    """Turn id to its work."""

    metrics: AssistantMetrics
    at_once: AtOnce
    """Limit of concurrent turns per user."""
    _turns: dict[str, Work] = field(default_factory=dict)
    _ended: dict[str, Work] = field(default_factory=dict)
    """Turns that ended last, oldest first: a request to stop one of them comes too late, and is no error."""

    def __len__(self) -> int:
        return len(self._turns)

    def room(self, principal: Principal) -> AbstractContextManager[None]:
        """Reserve one more turn of this user, across windows and keys. Raises `TooManyTurns`."""
        return self.at_once.held(f"{principal.tenant_id}/{principal.user_id}")

    @contextmanager
    def working(self, turn_id: str, principal: Principal) -> Iterator[Work]:
        """The work of a turn, for as long as it lasts."""
        work = self._turns[turn_id] = Work(principal.tenant_id, principal.user_id)
        self.metrics.turns_at_work(+1)
        try:
            yield work
        finally:
            self._ended[turn_id] = self._turns.pop(turn_id)
            if len(self._ended) > MOST_ENDED:
                del self._ended[next(iter(self._ended))]
            self.metrics.turns_at_work(-1)

    def stop(self, principal: Principal, turn_id: str) -> bool:
        """Stop a turn of this user. Returns False when it has ended. Raises `TurnNotFound`, also for other users."""
        work = self._turns.get(turn_id) or self._ended.get(turn_id)
        if work is None or (work.tenant_id, work.user_id) != (principal.tenant_id, principal.user_id):
            raise TurnNotFound(turn_id)
        work.stop("stopped")
        return turn_id in self._turns
