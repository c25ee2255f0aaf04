"""Calls a web address when a session waits for a user (DD-037): signed like deliveries, through the guarded client.

A notice is a job, made in the transaction in which the session begins to wait. A process that dies after the request
went out leaves it to another, so it may come twice; `webhook-id` says which it is.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from headgate.agents.codev.sessions.event_log import LiveEvents
from headgate.agents.codev.sessions.places import Surroundings
from headgate.agents.codev.sessions.repository import NOTICES, PENDING
from headgate.agents.codev.tables import NoticeRow, SessionRow
from headgate.agents.codev.writing.events import emit
from headgate.features.jobs.leases import MICROSECONDS, clock
from headgate.features.jobs.queue import Job
from headgate.features.jobs.runner import JobKind, JobRunner
from headgate.features.runs.patience import patiently
from headgate.foundation.database import Database, now
from headgate.foundation.errors import HeadgateError
from headgate.foundation.ids import new_id
from headgate.foundation.log import get_logger, redact_text
from headgate.foundation.webhooks import signature_headers

KIND = "codev_notices"
MOST_AT_ONCE = 16
SIGNING_VARIABLE = "WEBHOOK_SECRET"
"""The tenant's variable whose value signs notices, as it signs deliveries; without it they are not signed."""
PAUSES = (1.0, 2.0, 4.0)
"""Seconds before each further attempt."""
TIMEOUT_SECONDS = 10.0
log = get_logger(__name__)


def notice_of(row: SessionRow, interrupt_id: str) -> NoticeRow | None:
    """Return the notice that a session waits; None unless requested."""
    if not row.webhook_url:
        return None
    return NoticeRow(id=new_id(), session_id=row.id, interrupt_id=interrupt_id, due_at=clock())


@dataclass(slots=True)
class Notices:
    """Sends notices: a kind of job."""

    database: Database
    around: Surroundings
    live: LiveEvents
    jobs: JobRunner
    page: str = ""
    """URL of the studio, for links; empty when unknown."""
    pauses: Sequence[float] = PAUSES

    def __post_init__(self) -> None:
        self.jobs.register(JobKind(KIND, NOTICES, self._attempt, MOST_AT_ONCE))

    def send_soon(self, notice_id: str) -> None:
        """Send a notice in the background."""
        self.jobs.enqueue(KIND, notice_id)

    async def _attempt(self, job: Job) -> None:
        """One attempt: the outcome becomes an event of the session, or it is tried again after a pause."""
        async with self.database.reading() as session:
            row = await session.get(SessionRow, job.row.session_id)
        attempts, message, again = job.attempt, "", False
        if row is None:
            return
        if row.status == PENDING and (row.interrupt or {}).get("id") == job.row.interrupt_id:
            message, again = await self._post(row)
        else:  # an answer came first, and a later question has its own notice
            attempts, message = attempts - 1, "The session no longer waits for it; the receiver was not notified."
        outcome = {"delivered": not message, "attempts": attempts, "message": message}
        await patiently(lambda: self._settle(job, outcome, again=again))
        if message:
            log.warning("notification not delivered", session_id=row.id, problem=message)
        self.live.wake(row.id)

    async def _settle(self, job: Job, outcome: dict[str, Any], *, again: bool) -> None:
        """Store the outcome of an attempt; nothing when the claim was lost, or when it is stored already."""
        attempts: int = outcome["attempts"]
        async with self.database.writing() as session:
            if again and attempts <= len(self.pauses):
                due_at = clock() + int(self.pauses[attempts - 1] * MICROSECONDS)
                await NOTICES.release(session, job, due_at=due_at)
            elif await NOTICES.finish(session, job):
                await emit(session, job.row.session_id, [("webhook", outcome)], now())

    async def _post(self, row: SessionRow) -> tuple[str, bool]:
        """Send it. Returns the error, empty on success, and whether a retry is useful."""
        notice_id = f"{row.id}-{(row.interrupt or {}).get('id', '')}"
        body, stamp = orjson.dumps(self._body(row)), int(time.time())
        headers = {"content-type": "application/json", "webhook-id": notice_id, "webhook-timestamp": str(stamp)}
        secret = await self.around.secret_of(row, SIGNING_VARIABLE)
        if secret is not None:
            headers |= signature_headers(secret.get_secret_value(), notice_id, stamp, body)
        try:
            status = await self.around.http.post_once(
                row.webhook_url, headers=headers, body=body, timeout_seconds=TIMEOUT_SECONDS
            )
        except HeadgateError as error:
            return redact_text(error.detail), error.status >= 500
        if 200 <= status < 300:
            return "", False
        return f"The receiver answered {status}.", not 400 <= status < 500 or status in {408, 429}

    def _body(self, row: SessionRow) -> dict[str, Any]:
        return {
            "type": "codev.interrupt",
            "thread_id": row.id,
            "interrupt": row.interrupt,
            "link": f"{self.page}/develop/{row.id}",
        }
