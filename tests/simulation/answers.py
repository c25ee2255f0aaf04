"""Clients that decide approvals and send events: whoever gets no answer asks again, of any process."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import Any

from headgate.features.access.principal import LOCAL
from headgate.features.runs.approvals.errors import ApprovalDecided, NotAssigned
from headgate.features.runs.approvals.schemas import DecisionIn
from headgate.features.runs.approvals.service import decide
from headgate.features.runs.sent_events.schemas import EventIn
from headgate.features.runs.sent_events.service import send_event
from headgate.features.runs.transitions import RunKey
from tests.simulation.plan import PlannedDecision, PlannedEvent, PlannedRun
from tests.simulation.rules import Rules
from tests.simulation.server import Server
from tests.support.engine import PlainSealer

EVENT = "paid"
MOST_REQUESTS = 1000
_BOX = PlainSealer()


class Answers:
    """What users and other programs do.

    Args:
        rules: Reads the rows.
        running: Returns the server of a number, started where it is down.
        ask: Asks a process for something; returns whether it answered.
    """

    def __init__(
        self,
        rules: Rules,
        running: Callable[[int], Awaitable[Server]],
        ask: Callable[[Server, Coroutine[Any, Any, Any]], Awaitable[bool]],
    ) -> None:
        self._rules = rules
        self._running = running
        self._ask = ask
        self.accepted: dict[str, list[tuple[str, str]]] = defaultdict(list)
        """Approval to the users whose decisions were accepted, and what they were."""
        self.requested: dict[str, set[tuple[str, str]]] = defaultdict(set)
        """Approval to the users who decided, and what they decided."""
        self.refused: list[tuple[str, str, float]] = []
        """Approval and user of the decisions that were refused, and when they were sent."""
        self.sent: set[int] = set()
        """Numbers of the events that a process accepted."""

    async def decide_all(self, planned: PlannedRun, key: RunKey) -> None:
        """Decide the approval of a run as planned, from the moment it is asked for."""
        while (row := self._rules.row("SELECT id FROM approvals WHERE flow_run_id = ?", key.run_id)) is None:
            if self._rules.is_over(key.run_id):
                return
            await asyncio.sleep(0.1)
        await asyncio.gather(*(self._decide(row[0], one) for one in planned.decisions))

    async def _decide(self, approval_id: str, planned: PlannedDecision) -> None:
        await asyncio.sleep(planned.after)
        user_id = f"user-{planned.user}"
        self.requested[approval_id].add((user_id, planned.decision))

        async def request(server: Server) -> None:
            principal, sent_at = replace(LOCAL, user_id=user_id), self._rules.now
            try:
                async with server.database.writing() as session:
                    decision_in = DecisionIn(decision=planned.decision)
                    await decide(session, principal, approval_id, decision_in, box=_BOX)
            except ApprovalDecided:
                return
            except NotAssigned:
                self.refused.append((approval_id, user_id, sent_at))
                return
            self.accepted[approval_id].append((user_id, planned.decision))

        await self._until_answered(planned.process, request)

    async def send(self, event: PlannedEvent) -> None:
        """Send an event to all of its processes at the same time."""
        await asyncio.sleep(event.at)

        async def request(server: Server) -> None:
            event_in = EventIn(
                name=EVENT,
                correlation=event.topic,
                data={"number": event.number},
                deliver=event.deliver,
                keep_hours=event.keep_seconds / 3600,
                key=f"event-{event.number}",
            )
            async with server.database.writing() as session:
                await send_event(session, LOCAL, event_in, box=_BOX)
            self.sent.add(event.number)

        await asyncio.gather(*(self._until_answered(process, request) for process in event.processes))

    async def _until_answered(self, process: int, request: Callable[[Server], Coroutine[Any, Any, None]]) -> None:
        for _ in range(MOST_REQUESTS):
            server = await self._running(process)
            if await self._ask(server, request(server)):
                return
            await asyncio.sleep(0.5)
