"""Service of development sessions, for user requests. The runner's tasks do the work."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue, SecretStr
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.agents.codev.errors import SessionAtWork, SessionNotFound
from headgate.agents.codev.keys import holds_left_out
from headgate.agents.codev.schemas import (
    DomainOut,
    Domains,
    Resume,
    Retry,
    RollbackAnswer,
    RollbackPreview,
    SessionPage,
    SessionResponse,
    SessionStart,
    SessionSummary,
    Status,
)
from headgate.agents.codev.sessions import credentials, event_log, repository
from headgate.agents.codev.sessions.acting import acting
from headgate.agents.codev.sessions.acts import act
from headgate.agents.codev.sessions.answers import check_waiting, is_same_answer, named, not_waiting
from headgate.agents.codev.sessions.continuing import continuation, tried_again
from headgate.agents.codev.sessions.places import Place, first_instance, opened
from headgate.agents.codev.sessions.record import evidence_of, read_events
from headgate.agents.codev.sessions.repository import IN_PROGRESS, PENDING, RESTS, STOPPED
from headgate.agents.codev.sessions.responses import BY_HAND, LEFT_OUT, response, shown_state
from headgate.agents.codev.sessions.rollbacks import preview_of
from headgate.agents.codev.sessions.runner import KIND, Runner
from headgate.agents.codev.sessions.summary import summarise
from headgate.agents.codev.tables import SessionRow
from headgate.agents.codev.writing import events
from headgate.agents.codev.writing import repository as writes
from headgate.agents.codev.writing.rollback import FlowRollback, read_rollback, roll_back
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal, bringing, within
from headgate.features.accounts.spaces.errors import SpaceNotFound
from headgate.features.accounts.throttle import RateLimits
from headgate.features.audit.recorder import record
from headgate.features.idempotency.keys import StartKey, claim
from headgate.features.jobs.errors import JobBusy
from headgate.features.jobs.leases import clock
from headgate.features.runs.evidence.service import Notary
from headgate.foundation.database import Database, microseconds, now
from headgate.foundation.errors import HeadgateError, Invalid
from headgate.foundation.ids import is_id, new_id
from headgate.foundation.settings import Settings

Heard = tuple[int, str, dict[str, JsonValue]]
"""Number, kind and data of an event; tokens have the number of the previous event."""
STARTS = "codev.starts"
"""Rate limit key: sessions started from a network address."""
_NAME_CHARS = 200


@dataclass(slots=True)
class Sessions:
    """Sessions of an installation."""

    settings: Settings
    database: Database
    runner: Runner
    limits: RateLimits
    notary: Notary

    async def start(
        self,
        principal: Principal,
        request: SessionStart,
        *,
        address: str | None = None,
        once: StartKey | None = None,
    ) -> SessionResponse:
        """Start a session, which runs in the background.

        Raises `RateLimited` for the address, `NotFound` for a flow, space or server, `Invalid` for a model or address
        of notices that cannot be used, `PermissionMissing`, `KeyTaken`.
        """
        around = self.runner.around
        place = around.place(request.domain)
        row = await self._new_row(principal, request, place)
        if address is not None:
            await self.limits.allow(STARTS, address)
        if request.webhook_url:
            await around.http.check(request.webhook_url)
        row.model = (await around.reasoning.choose(within(principal, row.space_id), request.model, row.id)).model_id
        async with opened(place, principal, row) as workplace:
            if row.flow_id is not None:
                row.flow_name = (await workplace.read(row.flow_id)).name[:300]
                row.options["link"] = workplace.link(row.flow_id)
        async with self.database.writing() as session:
            session.add(row)
            await claim(session, once, row.id, microseconds(now()))
            details = {"domain": row.domain, "flow_id": row.flow_id, "requirement": row.requirement}
            await self._record(session, principal, "codev_session.started", row, payload=details)
        self.runner.begin(row.id)
        return await self.get(principal, row.id)

    async def resume(self, principal: Principal, session_id: str, answer: Resume) -> SessionResponse:
        """Answer a session's question; it continues in the background, as the answering user.

        The same answer to the same interrupt again is no error. Raises `NotWaiting`, `SessionAtWork`.
        """
        row = await self._find(principal, session_id, Permission.FLOWS_EDIT)
        given = answer.response.model_dump(mode="json")
        if is_same_answer(row, answer, given):
            return await self.get(principal, session_id)
        check_waiting(row, answer)
        interrupt_id = (row.interrupt or {})["id"]
        answer_row = {"interrupt_id": interrupt_id, "response": given}
        details = {"acting": acting(principal), "answered": named(interrupt_id, given), LEFT_OUT: holds_left_out(given)}
        async with self._continuing(session_id) as (session, locked):
            if locked is None or locked.status != PENDING or (locked.interrupt or {}).get("id") != interrupt_id:
                raise not_waiting("The session has already been answered.")
            await _make_due(session, locked, answer=answer_row, options=locked.options | details)
            event = act(principal, "answered", interrupt_id=interrupt_id, response=given)
            await events.emit(session, session_id, [event], now())
            await self._record(session, principal, "codev_session.answered", row, payload=given)
        return await self.get(principal, session_id)

    async def get(self, principal: Principal, session_id: str) -> SessionResponse:
        """Return a session with its state. Raises `SessionNotFound`."""
        row = await self._find(principal, session_id, Permission.FLOWS_VIEW)
        async with self.database.reading() as session:
            written = await writes.list_notes(session, session_id)
        can = any(writes.is_to_take_back(write) for write in written)
        known = await self.runner.checkpoints.state(session_id)
        await self._look_again(principal, row)
        return response(row, can_roll_back=can and not is_at_work(row), state=shown_state(known, written))

    async def _look_again(self, principal: Principal, row: SessionRow) -> None:
        """Remove credentials that were added meanwhile from a displayed row."""
        if not credentials.waits_for_credentials(row):
            return
        with suppress(HeadgateError):  # who may not work there, or a place that is away: as it was last known
            row.interrupt = await credentials.still_missing(self.runner, principal, row)

    async def check(self, principal: Principal, session_id: str, permission: Permission) -> int:
        """Return the number of the last event. Raises `SessionNotFound`, `PermissionMissing`."""
        return (await self._find(principal, session_id, permission)).events

    async def list(
        self, principal: Principal, *, before: str | None = None, limit: int = 50, status: Status | None = None
    ) -> SessionPage:
        """Sessions of the spaces that the caller sees, newest first."""
        async with self.database.reading() as session:
            rows = await repository.list_sessions(
                session,
                tenant_id=principal.tenant_id,
                spaces=principal.visible_spaces,
                before=before,
                status=status,
                limit=limit + 1,
            )
            can = await writes.can_roll_back(session, [row.id for row in rows])
        shown = rows[:limit]
        items = [response(row, can_roll_back=row.id in can and not is_at_work(row)) for row in shown]
        return SessionPage(items=items, next_cursor=shown[-1].id if len(rows) > limit else None)

    async def delete(self, principal: Principal, session_id: str) -> None:
        """Delete a session with all of its data; its changes are kept. Raises `SessionAtWork`."""
        row = await self._find(principal, session_id, Permission.FLOWS_EDIT)
        async with self._held(session_id):
            # The row last: while it is there, deleting what could not be deleted can be tried again.
            await self.runner.checkpoints.forget(session_id)
            async with self.database.writing() as session:
                await repository.delete_session(session, session_id)
                await self._record(session, principal, "codev_session.deleted", row)

    async def summary(self, principal: Principal, session_id: str) -> SessionSummary:
        """The session as a Markdown document, with the record of all that happened."""
        session = await self.get(principal, session_id)
        events_told = await read_events(self.database, session_id)
        return SessionSummary(thread_id=session_id, summary=summarise(session, events_told))

    async def evidence(self, principal: Principal, session_id: str) -> bytes:
        """The record of a session, chained and signed. Raises `SessionNotFound`, `PermissionMissing`."""
        row = await self._find(principal, session_id, Permission.FLOWS_VIEW)
        return await evidence_of(self.database, self.notary, principal, row)

    async def preview_rollback(self, principal: Principal, session_id: str) -> RollbackPreview:
        """Preview a rollback, flow by flow, with changes by others. Changes nothing."""
        row = await self._find(principal, session_id, Permission.FLOWS_EDIT)
        async with opened(self.runner.around.place(row.domain), principal, row) as workplace:
            return preview_of(await read_rollback(self.database, self.runner.box, session_id, workplace), workplace)

    async def rollback(
        self, principal: Principal, session_id: str, answer: RollbackAnswer | None = None
    ) -> SessionResponse:
        """Roll back all writes of the session, or none.

        Raises `SessionAtWork`, `NothingToRollBack`, `RollbackConflict`, `WriteConflict`.
        """
        row = await self._find(principal, session_id, Permission.FLOWS_EDIT)
        answer = answer or RollbackAnswer()

        async def also(session: AsyncSession, flows: Sequence[FlowRollback]) -> None:
            others = any(flow.conflict for flow in flows)
            names = [{"flow_id": flow.flow_id, "name": flow.name} for flow in flows]
            details = {"flows": names, "choice": answer.choice if others else None}
            await events.emit(session, session_id, [act(principal, "rolled_back", **details)], now())
            await self._record(session, principal, "codev_session.rolled_back", row, payload=details)

        async with self._held(session_id), opened(self.runner.around.place(row.domain), principal, row) as workplace:
            box, choice, token = self.runner.box, answer.choice, answer.token
            await roll_back(self.database, box, session_id, workplace, choice=choice, token=token, also=also)
        return await self.get(principal, session_id)

    async def stop(self, principal: Principal, session_id: str) -> SessionResponse:
        """Stop a session; has no effect on an ended one."""
        row = await self._find(principal, session_id, Permission.FLOWS_EDIT)
        reason = f"{BY_HAND}{principal.actor.name or 'a person'}."
        async with self.database.writing() as session:
            locked = await session.get(SessionRow, session_id, with_for_update=True, populate_existing=True)
            ended = locked is not None and locked.status in {IN_PROGRESS, PENDING}
            if locked is not None and ended:
                # A claim stays until its holder has ended what it writes.
                await repository.change(session, session_id, status=STOPPED, stop_reason=reason, due_at=None)
                outcome = {"status": STOPPED, "stop_reason": reason}
                await events.emit(session, session_id, [act(principal, "stopped"), ("done", outcome)], now())
                await self._record(session, principal, "codev_session.stopped", row)
        if ended:
            self.runner.live.wake(session_id)
            await self.runner.stop(session_id)
        return await self.get(principal, session_id)

    async def retry(self, principal: Principal, session_id: str, request: Retry | None = None) -> SessionResponse:
        """Continue a session from its last step, optionally with another model or a larger budget.

        Raises `NotWaiting`, `SessionAtWork`, `BudgetTooSmall`, `NoReasoningModel` or `Invalid` for a model that is not
        ready.
        """
        row = await self._find(principal, session_id, Permission.FLOWS_EDIT)
        request = request or Retry()
        continuation(row, request)
        asked = request.model or row.model or None
        model = (await self.runner.around.reasoning.choose(within(principal, row.space_id), asked, row.id)).model_id
        async with self._continuing(session_id) as (session, locked):
            changes = continuation(locked, request) | {"acting": acting(principal)}
            if locked is not None:
                options = locked.options | changes
                await _make_due(session, locked, stop_reason="", options=options, model=model, **tried_again(locked))
            details = {"model": model, "model_before": row.model, "token_budget": request.token_budget}
            await events.emit(session, session_id, [act(principal, "continued", **details)], now())
            await self._record(session, principal, "codev_session.continued", row, payload=details)
        return await self.get(principal, session_id)

    async def wait(self, principal: Principal, session_id: str) -> SessionResponse:
        """Wait until the session waits for a user or is over. Cancelling the wait stops nothing."""
        while (row := await self._find(principal, session_id, Permission.FLOWS_VIEW)).status == IN_PROGRESS:
            async for _ in event_log.follow(self.database, self.runner.live, session_id, row.events):
                pass
        return await self.get(principal, session_id)

    async def follow(self, principal: Principal, session_id: str, after: int = 0) -> AsyncGenerator[Heard, None]:
        """Yield events after a number, past ones first, until the session pauses."""
        await self._find(principal, session_id, Permission.FLOWS_VIEW)
        async for heard in event_log.follow(self.database, self.runner.live, session_id, after):
            yield heard

    async def add_credential(
        self, principal: Principal, session_id: str, kind: str, name: str, values: Mapping[str, SecretStr]
    ) -> SessionResponse:
        """Add a credential to the session's platform, or the key of its model. Raises `Invalid`, `Forbidden`."""
        principal = bringing(principal, Permission.FLOWS_EDIT, Permission.FLOWS_VIEW)
        row = await self._find(principal, session_id, Permission.FLOWS_EDIT)
        plain = {key: value.get_secret_value() for key, value in values.items()}
        left = await credentials.add(self.runner, principal, row, kind, name=name, values=plain)
        details = {"type": kind, "name": name or kind}
        async with self.database.writing() as session:
            locked = await session.get(SessionRow, session_id, with_for_update=True, populate_existing=True)
            if left is not None and locked is not None and (locked.interrupt or {}).get("id") == left["id"]:
                await repository.change(session, session_id, interrupt=left)
            await events.emit(session, session_id, [act(principal, "credential_added", **details)], now())
            await self._record(session, principal, "codev_session.credential_added", row, payload=details)
        return await self.get(principal, session_id)

    async def list_domains(self, principal: Principal) -> Domains:
        """List the domains that the user's sessions may use."""
        items = [
            DomainOut(
                name=name,
                label=place.label,
                instances=[*await place.instances(principal)],
                test_sets=place.test_sets is not None,
            )
            for name, place in self.runner.around.places.items()
        ]
        return Domains(items=items, model=await self.runner.around.reasoning.default(principal))

    async def _new_row(self, principal: Principal, request: SessionStart, place: Place) -> SessionRow:
        space_id = request.space_id or principal.space_id
        if request.flow_id and place.space_of is not None:
            space_id = await place.space_of(principal, request.flow_id)
            if request.space_id not in {None, space_id}:
                raise Invalid("The flow is not in the given space.", remedy="Omit `space_id`.")
        if not space_id:
            raise Invalid("No space is given, and you have no space of your own.", remedy="Set `space_id`.")
        principal.require_in(space_id, Permission.FLOWS_EDIT, SpaceNotFound(space_id))
        own, at = self.settings.codev, now()
        return SessionRow(
            id=new_id(),
            tenant_id=principal.tenant_id,
            space_id=space_id,
            user_id=principal.user_id,
            domain=request.domain,
            instance_id=request.instance_id or await first_instance(place, principal),
            requirement=request.requirement,
            model="",
            flow_id=request.flow_id,
            flow_name="",
            status=IN_PROGRESS,
            options={
                "test_trials": request.test_trials,
                "max_iterations": request.max_iterations or own.max_iterations,
                "token_budget": request.token_budget or own.token_budget,
                "skip_clarification": request.skip_clarification,
                "repairs_approved": request.repairs_approved,
                "acting": acting(principal),
                "started_by": act(principal, "started")[1]["by"],
                LEFT_OUT: holds_left_out(request.requirement),
            },
            webhook_url=request.webhook_url or "",
            due_at=clock(),
            created_at=at,
            updated_at=at,
        )

    async def _find(self, principal: Principal, session_id: str, permission: Permission) -> SessionRow:
        """A session that the caller may do this with. Raises `SessionNotFound`, `PermissionMissing`."""
        missing = SessionNotFound(session_id)
        if not is_id(session_id):
            raise missing
        async with self.database.reading() as session:
            row = await repository.find_session(session, session_id, tenant_id=principal.tenant_id)
        if row is None:
            raise missing
        principal.require_in(row.space_id, permission, missing)
        return row

    @asynccontextmanager
    async def _held(self, session_id: str) -> AsyncIterator[None]:
        """Lock a session that is not running. Raises `SessionAtWork`."""
        try:
            async with self.runner.jobs.hold(KIND, session_id, RESTS):
                yield
        except JobBusy as error:
            raise _at_work() from error

    @asynccontextmanager
    async def _continuing(self, session_id: str) -> AsyncIterator[tuple[AsyncSession, SessionRow | None]]:
        """Yield the transaction that makes an idle session due, and its row. Raises `SessionAtWork`."""
        await self.runner.jobs.recover(KIND)  # a process that is gone blocks no answer
        async with self.database.writing() as session:
            yield session, await session.get(SessionRow, session_id, with_for_update=True, populate_existing=True)
        self.runner.begin(session_id)

    async def _record(
        self,
        session: AsyncSession,
        principal: Principal,
        action: Any,  # noqa: ANN401 - one of the log's actions
        row: SessionRow,
        payload: Any = None,  # noqa: ANN401 - JSON
    ) -> None:
        name = row.requirement[:_NAME_CHARS]
        await record(session, principal, action, id=row.id, name=name, space_id=row.space_id, payload=payload)


def is_at_work(row: SessionRow) -> bool:
    """Whether a process runs it, completes a write of it, or has it locked."""
    return row.status == IN_PROGRESS or row.worker_id is not None


async def _make_due(session: AsyncSession, row: SessionRow, **values: Any) -> None:  # noqa: ANN401 - columns
    """Make a session due. Raises `SessionAtWork`."""
    if is_at_work(row):
        raise _at_work()
    await repository.change(session, row.id, status=IN_PROGRESS, due_at=clock(), updated_at=now(), **values)


def _at_work() -> HeadgateError:
    return SessionAtWork("The session is running.", remedy="Stop it first, or wait until it pauses.")
