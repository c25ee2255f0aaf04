"""Runs sessions, as one kind of job (DD-024). Interrupted ones continue elsewhere at their last checkpoint."""

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from headgate.agents.codev.errors import LeaseLost
from headgate.agents.codev.sessions.checkpoints import Checkpoints
from headgate.agents.codev.sessions.event_log import EventRecorder, LiveEvents
from headgate.agents.codev.sessions.notices import Notices, notice_of
from headgate.agents.codev.sessions.places import Surroundings
from headgate.agents.codev.sessions.repository import ERROR, SESSIONS
from headgate.agents.codev.sessions.responses import STOP_CODE
from headgate.agents.codev.tables import SessionRow
from headgate.features.jobs.leases import clock
from headgate.features.jobs.queue import Job
from headgate.features.jobs.runner import JobKind, JobRunner
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError, Unavailable
from headgate.foundation.log import get_logger, redact_text
from headgate.foundation.settings import Settings

KIND = "codev_sessions"
RETRY_SECONDS = 10.0
"""How long a session is postponed while a database or disk is unavailable."""
STOP_SECONDS = 10.0
"""How long an ended session's task may take to stop; a write is completed, all else is cancelled."""
MOST_AWAY = 5
"""Consecutive postponements before the session fails."""
log = get_logger(__name__)


@dataclass(slots=True)
class Runner:
    """The sessions that this process works on. Lives on one event loop."""

    settings: Settings
    database: Database
    box: SecretBox
    around: Surroundings
    checkpoints: Checkpoints
    live: LiveEvents
    jobs: JobRunner
    notices: Notices
    retry_seconds: float = RETRY_SECONDS
    _away: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        limit, retry = self.settings.codev.max_sessions, self.retry_seconds
        self.jobs.register(JobKind(KIND, SESSIONS, self._work, limit, retry_seconds=retry, grace_seconds=0))

    def begin(self, session_id: str) -> None:
        """Work on a session that has just become due, when its turn comes."""
        self.jobs.enqueue(KIND, session_id)

    async def insist(self, session_id: str) -> None:
        """Run a session here unless another process does: its process may be gone."""
        await self.jobs.recover(KIND)
        self.begin(session_id)

    async def stop(self, session_id: str) -> None:
        """Cancel the work on a session, which is ended already; return when its writes are."""
        await self.jobs.cancel(KIND, session_id, STOP_SECONDS)

    async def _work(self, job: Job) -> None:
        async with self.database.reading() as session:
            row = await session.get(SessionRow, job.id)
        if row is None:
            return
        emitter = EventRecorder(self.database, self.live, job)
        if row.events:
            emitter.emitted_phase = (row.phase, row.iteration)
        try:
            await self._until_rest(row, emitter)
        except LeaseLost:  # or the user's rights changed: then it restarts with the current ones
            async with self.database.writing() as session:
                await SESSIONS.release(session, job, due_at=clock())
        except Unavailable as error:
            await self._later(emitter, error)
        except HeadgateError as error:
            await self._failed(emitter, error)
        except Exception:
            log.exception("session failed", session_id=job.id)
            fault = HeadgateError("Internal error; see the server log.", remedy=("Try again, or report the problem."))
            await self._failed(emitter, fault)
        finally:
            await emitter.close()
            self.live.wake(job.id)

    async def _until_rest(self, row: SessionRow, emitter: EventRecorder) -> None:
        work = _load().Work(self.settings, self.database, self.box, self.around, self.checkpoints, row, emitter)
        rest = await work.execute()
        self._away.pop(row.id, None)
        if rest.interrupt is not None:
            payload = rest.interrupt.model_dump(mode="json")
            notice = notice_of(row, rest.interrupt.id)
            await emitter.rest(("interrupt", payload), notice, status=rest.status, interrupt=payload, answer=None)
            if notice is not None:
                self.notices.send_soon(notice.id)
        else:
            ending = {"status": rest.status, "stop_reason": rest.stop_reason}
            options = row.options | {STOP_CODE: rest.stop_code}
            await emitter.rest(("done", ending), interrupt=None, answer=None, options=options, **ending)
        await self.checkpoints.tidy(row.id)

    async def _later(self, emitter: EventRecorder, error: Unavailable) -> None:
        """A database or disk is away: leave the session until it is due again. Raises that error."""
        session_id = emitter.job.id
        count = self._away[session_id] = self._away.get(session_id, 0) + 1
        if count < MOST_AWAY:
            raise error
        del self._away[session_id]
        await self._failed(emitter, error)

    async def _failed(self, emitter: EventRecorder, error: HeadgateError) -> None:
        """Fail a session. If that cannot be stored, it is due again."""
        failure = {"code": error.code, "message": redact_text(error.detail), "remedy": redact_text(error.remedy)}
        reason = _sentences(failure["message"], failure["remedy"])
        await emitter.rest(("error", dict(failure)), status=ERROR, stop_reason=reason, interrupt=None)


def _sentences(message: str, remedy: str) -> str:
    """Return problem and remedy as sentences; provider messages often lack a full stop."""
    stop = "." if message and remedy and not message.endswith((".", "!", "?", ":")) else ""
    return f"{message}{stop} {remedy}".strip()


def _load() -> Any:  # noqa: ANN401 - the module; it imports LangGraph
    return import_module("headgate.agents.codev.sessions.work")
