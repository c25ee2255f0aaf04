"""Tells a web address that a session waits for somebody (DD-037): signed like deliveries, through the guarded client.

A notice that is to be sent is the lease of a session that waits: whoever sends it holds the lease, and where that
process dies another finds that it has run out. So a notice may come twice; `webhook-id` says which it is.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import orjson
from pydantic import JsonValue

from headgate.agents.codev.sessions import repository
from headgate.agents.codev.sessions.places import Surroundings
from headgate.agents.codev.sessions.repository import IN_PROGRESS, LEFT, PENDING
from headgate.agents.codev.sessions.telling import Live
from headgate.agents.codev.tables import SessionRow
from headgate.foundation.database import Database, now
from headgate.foundation.errors import HeadgateError
from headgate.foundation.ids import new_id
from headgate.foundation.log import get_logger, redact_text
from headgate.foundation.webhooks import signature_headers

SIGNING_VARIABLE = "WEBHOOK_SECRET"
"""The tenant's variable whose value signs notices, as it signs deliveries; without it they are not signed."""
PAUSES = (1.0, 2.0, 4.0)
"""Seconds before each further try."""
TIMEOUT_SECONDS = 10.0
LEASE = timedelta(seconds=60)
log = get_logger(__name__)


@dataclass(slots=True)
class Notices:
    """Sends notices. Lives on one event loop."""

    database: Database
    around: Surroundings
    live: Live
    page: str = ""
    """Address of the studio, for links; empty where it is not known."""
    pauses: Sequence[float] = PAUSES
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    lease: timedelta = LEASE
    owner: str = field(default_factory=new_id)
    _under_way: dict[asyncio.Task[None], str] = field(default_factory=dict)
    """Which session each is of: two notices of one session may be, where it waits for the second thing already."""

    def send_soon(self, row: SessionRow) -> None:
        """Send the notice of a session that waits, in the background."""
        task = asyncio.create_task(self._send(row))
        self._under_way[task] = row.id
        task.add_done_callback(self._under_way.pop)

    async def take(self, session_id: str) -> None:
        """Send what another process was to send."""
        if session_id in self._under_way.values():
            return
        at = now()
        async with self.database.writing() as session:
            row = await repository.claim(
                session, session_id, status=PENDING, owner=self.owner, at=at, until=at + self.lease
            )
            if row is not None and not row.webhook_url:  # whoever had it to themselves died; there is nothing to send
                await repository.let_go(session, session_id, owner=self.owner)
        if row is not None and row.webhook_url:
            self.send_soon(row)

    async def close(self) -> None:
        """What is not sent yet is sent by whoever finds it."""
        tasks = list(self._under_way)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _send(self, row: SessionRow) -> None:
        try:
            told = await self._delivered(row)
            async with self.database.writing() as session:
                await repository.tell(session, row.id, [("webhook", told)], now())
                same = await session.get(SessionRow, row.id, populate_existing=True)
                if same is not None and _is_of(row, same) and same.leased_by == row.leased_by:
                    await repository.change(session, row.id, **LEFT)
        except HeadgateError as error:  # the lease runs out, and it is sent again
            log.warning("notice left for later", session_id=row.id, problem=error.detail)
        except Exception:
            log.exception("notice left for later", session_id=row.id)
        self.live.wake(row.id)

    async def _delivered(self, row: SessionRow) -> dict[str, JsonValue]:
        """Try, and three times again; what came of it."""
        body = orjson.dumps(self._body(row))
        notice_id = f"{row.id}-{(row.interrupt or {}).get('id', '')}"
        message = ""
        for attempt, pause in enumerate((*self.pauses, None), start=1):
            try:
                status = await self._post(row, notice_id, body)
            except HeadgateError as error:
                message, final = redact_text(error.detail), error.status < 500
            else:
                if 200 <= status < 300:
                    return {"delivered": True, "attempts": attempt, "message": ""}
                message, final = f"The receiver answered {status}.", 400 <= status < 500 and status not in {408, 429}
            if final or pause is None:
                break
            await self.sleep(pause)
            if not await self._still_waits(row):
                message = "It is not waited for any more; the receiver was not told."
                break
        log.warning("notice not delivered", session_id=row.id, problem=message)
        return {"delivered": False, "attempts": attempt, "message": message}

    async def _still_waits(self, row: SessionRow) -> bool:
        """Whether it is worth telling: an answer may have come first, and a later question is told by itself."""
        async with self.database.reading() as session:
            same = await session.get(SessionRow, row.id)
        return same is not None and same.status == PENDING and _is_of(row, same)

    async def _post(self, row: SessionRow, notice_id: str, body: bytes) -> int:
        stamp = int(time.time())
        headers = {"content-type": "application/json", "webhook-id": notice_id, "webhook-timestamp": str(stamp)}
        secret = await self.around.secret_of(row.tenant_id, SIGNING_VARIABLE)
        if secret is not None:
            headers |= signature_headers(secret.get_secret_value(), notice_id, stamp, body)
        return await self.around.http.post_once(
            row.webhook_url, headers=headers, body=body, timeout_seconds=TIMEOUT_SECONDS
        )

    def _body(self, row: SessionRow) -> dict[str, Any]:
        return {
            "type": "codev.interrupt",
            "thread_id": row.id,
            "interrupt": row.interrupt,
            "link": f"{self.page}/develop/{row.id}",
        }


def _is_of(row: SessionRow, same: SessionRow) -> bool:
    """Whether a session still rests at the interrupt that a notice is of."""
    return same.status != IN_PROGRESS and (same.interrupt or {}).get("id") == (row.interrupt or {}).get("id")
