"""The side of the step: sends events, and waits for them."""

from dataclasses import dataclass

from headgate.features.access.principal import SYSTEM, Access, Actor, Principal
from headgate.features.runs.ports.flows import Sealer
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.ports.waits import EventReceipt, Pending
from headgate.features.runs.secret_reads.repository import find_reader
from headgate.features.runs.sent_events import repository
from headgate.features.runs.sent_events.exchange import NewEvent, receive_stored, store_event
from headgate.features.runs.sent_events.locking import lock_topic
from headgate.features.runs.sent_events.sealed import unseal
from headgate.features.runs.sent_events.service import record_sent
from headgate.features.runs.sent_events.tables import EventWaitRow
from headgate.features.runs.sent_events.topic import topic_of
from headgate.features.runs.spaces import Spaces
from headgate.features.runs.transitions import clock
from headgate.foundation.database import Database, moment
from headgate.foundation.errors import Invalid
from headgate.sdk.sent_events import EventQuery, OutgoingEvent, ReceivedEvent


@dataclass(frozen=True, slots=True)
class StepSentEvents:
    """Events of steps; see `ports.SentEvents`."""

    database: Database
    box: Sealer
    spaces: Spaces

    async def send(
        self,
        origin: Origin,
        event: OutgoingEvent,
        *,
        key: str,
        classification: int | None,
        outside: tuple[str, ...],
    ) -> str:
        """Store an event of a step once and return its id. Raises the errors of `exchange.store_event`."""
        run = origin.key
        space_id = await self.spaces.of(run.tenant_id, run.flow_id)
        topic = topic_of(run.tenant_id, space_id, event.name, event.correlation)
        async with self.database.writing() as session:
            reader = await find_reader(session, run.run_id, tenant_id=run.tenant_id)
            actor = SYSTEM if reader is None or reader.user_id is None else Actor("user", reader.user_name)
            user_id = None if reader is None else reader.user_id
            sender = {
                "kind": "flow",
                "user_id": user_id,
                "name": actor.name,
                "run_id": run.run_id,
                "step_id": origin.step_id,
            }
            new = NewEvent(
                topic=topic,
                data=event.data,
                deliver=event.deliver,
                keep_seconds=event.keep_seconds,
                sender=sender,
                key=f"step:{key}",
                run_id=run.run_id,
                classification=classification,
                outside=outside,
            )
            stored = await store_event(session, new, box=self.box)
            if not stored.duplicate:
                principal = Principal(run.tenant_id, user_id or "", space_id, Access(), actor)
                await record_sent(session, principal, stored.row)
            return stored.row.id

    async def wait(self, origin: Origin, query: EventQuery) -> EventReceipt | Pending | None:
        """Return the event of a step; `Pending` while there is none, None when the time is over."""
        run = origin.key
        space_id = await self.spaces.of(run.tenant_id, run.flow_id)
        topic = topic_of(run.tenant_id, space_id, query.name, query.correlation)
        async with self.database.writing() as session:
            await lock_topic(session, topic)
            at, timeout = clock(), query.timeout_seconds
            values = {
                "flow_run_id": run.run_id,
                "step_id": origin.step_id,
                "space_id": space_id,
                "flow_id": run.flow_id,
                "name": topic.name,
                "correlation": topic.correlation,
                "status": "waiting",
                "created_at": at,
                "due_at": None if timeout is None else at + int(timeout * 1_000_000),
            }
            await repository.add_wait(session, values, tenant_id=run.tenant_id)
            wait = await repository.find_wait(session, run.run_id, origin.step_id, tenant_id=run.tenant_id)
            if wait is None:
                raise Invalid("The run of this step is gone.", remedy="Start the flow again.")
            if wait.status != "waiting":
                return self._receipt(wait)
            if wait.due_at is not None and wait.due_at <= at:
                over = {"status": "timed_out", "settled_at": at}
                await repository.settle_wait(session, run.run_id, origin.step_id, over, tenant_id=run.tenant_id)
            elif not await receive_stored(session, wait, topic):
                return Pending(wait.due_at)
            wait = await repository.find_wait(session, run.run_id, origin.step_id, tenant_id=run.tenant_id)
            return None if wait is None else self._receipt(wait)

    def _receipt(self, wait: EventWaitRow) -> EventReceipt | None:
        if wait.content is None or wait.event_id is None or wait.received_at is None:
            return None
        sender = wait.sender or {}
        event = ReceivedEvent(
            id=wait.event_id,
            name=wait.name,
            correlation=wait.correlation,
            data=unseal(self.box, wait.content),
            sender=sender.get("name", ""),
            received_at=moment(wait.received_at).isoformat(),
            sha256=wait.content_hash or "",
        )
        return EventReceipt(event, classification=wait.classification, outside=tuple(wait.outside or ()))
