"""Takes slots for steps, and gives free ones to those who wait: one transaction for each name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.connections.repository import connection_names
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.slots import repository
from headgate.features.runs.slots.values import SlotUse
from headgate.features.runs.tables import flow_step_results
from headgate.features.runs.transitions import clock
from headgate.features.runs.waking import wake_step
from headgate.foundation.database import Database
from headgate.sdk import Model

_LOCK = text(
    "SELECT pg_advisory_xact_lock_shared(hashtextextended(:tenant_id, 20)),"
    " pg_advisory_xact_lock(hashtextextended(:name, 19))"
)
_LOCK_PRIORITIES = text("SELECT pg_advisory_xact_lock(hashtextextended(:tenant_id, 20))")


async def lock_name(session: AsyncSession, name: str, *, tenant_id: str) -> None:
    """Let one transaction at a time grant slots of a name; on SQLite the write lock suffices."""
    if session.get_bind().dialect.name == "postgresql":
        await session.execute(_LOCK, {"tenant_id": tenant_id, "name": f"{tenant_id}/{name}"})


async def change_priority(session: AsyncSession, run_id: str, priority: int, *, tenant_id: str) -> None:
    """Change the priority of a run that a step did not start, with the runs of its steps.

    Nobody takes a slot meanwhile: each request has either the new priority, or is changed here.
    """
    if session.get_bind().dialect.name == "postgresql":
        await session.execute(_LOCK_PRIORITIES, {"tenant_id": tenant_id})
    await repository.set_priority(session, run_id, priority, tenant_id=tenant_id)


CONNECTION = "connection:"
MOST_NAMES = 200
"""Names for which slots are granted in one look."""


class ModelLimits(Protocol):
    """Limits of models in the space of a step's flow."""

    async def most(self, origin: Origin, model: Model) -> int | None:
        """Return how many steps may call a model at the same time; None: any number."""


@dataclass(frozen=True, slots=True)
class Slots:
    """The slots of an installation (`ports.Slots`)."""

    database: Database
    limits: ModelLimits

    async def take_flow(self, origin: Origin, most: int) -> bool:
        """Take the slot of a run; a run below one of the same flow needs none. False: it is queued."""
        key = origin.key
        async with self.database.writing() as session:
            if await repository.has_ancestor_of(session, key.run_id, key.flow_id, tenant_id=key.tenant_id):
                return True
            return await self._take(session, origin, "", flow_name(key.flow_id), most=most)

    async def take_key(self, origin: Origin, space_id: str, key: str, most: int) -> bool:
        """Take a slot of a step for a key of its space. False: it is queued."""
        async with self.database.writing() as session:
            name = f"key:{space_id}:{key}"
            return await self._take(session, origin, origin.step_id, name, most=most)

    async def most_of_model(self, origin: Origin, model: Model) -> int | None:
        """Return how many steps may call a model at the same time; None: any number."""
        return await self.limits.most(origin, model)

    async def take_model(self, origin: Origin, model: Model, most: int) -> bool:
        """Take a slot of a step for a model. False: it is queued."""
        async with self.database.writing() as session:
            name = f"model:{model.provider}/{model.name}"
            return await self._take(session, origin, origin.step_id, name, most=most)

    async def take_connection(self, origin: Origin, connection_id: str, most: int) -> bool:
        """Take a slot of a step for a connection. False: it is queued."""
        async with self.database.writing() as session:
            name = f"{CONNECTION}{connection_id}"
            return await self._take(session, origin, origin.step_id, name, most=most)

    async def grant_free(self) -> None:
        """Give free slots to those who wait: after the end, the death or the cancellation of their holders."""
        async with self.database.reading() as session:
            names = await repository.free_names(session, limit=MOST_NAMES)
        for tenant_id, name in names:
            async with self.database.writing() as session:
                await lock_name(session, name, tenant_id=tenant_id)
                await self._grant(session, name, tenant_id=tenant_id)

    async def read(self, tenant_id: str, run_id: str) -> Sequence[SlotUse]:
        """Return the slots that a run and its steps hold or wait for."""
        async with self.database.reading() as session:
            uses = []
            rows = await repository.list_of_run(session, run_id, tenant_id=tenant_id)
            ids = {row.name.removeprefix(CONNECTION) for row in rows if row.name.startswith(CONNECTION)}
            titles = await connection_names(session, ids, tenant_id=tenant_id) if ids else {}
            for row in rows:
                queue = [] if row.granted_at else await repository.list_queue(session, row.name, tenant_id=tenant_id)
                places = [(waiter.flow_run_id, waiter.step_id) for waiter in queue]
                own = (row.flow_run_id, row.step_id)
                ahead = places.index(own) if own in places else len(places)
                granted = row.granted_at is not None
                title = titles.get(row.name.removeprefix(CONNECTION))
                name = row.name if title is None else f"{row.name}:{title}"
                uses.append(SlotUse(name, row.step_id or None, row.most, row.priority, granted, ahead))
            return uses

    async def count_flow(self, tenant_id: str, flow_id: str) -> tuple[int, int]:
        """Return how many runs of a flow hold a slot, and how many wait for one."""
        async with self.database.reading() as session:
            return await repository.count_slots(session, flow_name(flow_id), tenant_id=tenant_id)

    async def _take(self, session: AsyncSession, origin: Origin, step_id: str, name: str, *, most: int) -> bool:
        key, at = origin.key, clock()
        await lock_name(session, name, tenant_id=key.tenant_id)
        priority = await repository.priority_of(session, key.run_id, tenant_id=key.tenant_id)
        values: dict[str, Any] = {"name": name, "flow_run_id": key.run_id, "step_id": step_id, "granted_at": None}
        values |= {"most": most, "priority": priority, "requested_at": at}
        await repository.request_slot(session, values, tenant_id=key.tenant_id)
        await self._grant(session, name, tenant_id=key.tenant_id, taker=origin)
        return await repository.is_granted(session, name, key.run_id, step_id, tenant_id=key.tenant_id)

    async def _grant(self, session: AsyncSession, name: str, *, tenant_id: str, taker: Origin | None = None) -> None:
        """Grant what is free, to the highest priority and the longest wait first, and wake who waits for it."""
        at = clock()
        await repository.drop_stale(session, name, tenant_id=tenant_id)
        taken = await repository.count_granted(session, name, tenant_id=tenant_id)
        for row in await repository.list_queue(session, name, tenant_id=tenant_id):
            if taken >= row.most:
                break
            await repository.grant_slot(session, name, row.flow_run_id, row.step_id, at, tenant_id=tenant_id)
            taken += 1
            for step_id in await _waiting_steps(session, row.flow_run_id, row.step_id, tenant_id=tenant_id):
                if taker is None or (taker.key.run_id, taker.step_id) != (row.flow_run_id, step_id):
                    await wake_step(session, row.flow_run_id, step_id, tenant_id=tenant_id, at=at)


def flow_name(flow_id: str) -> str:
    """Return the name of the slots of a flow."""
    return f"flow:{flow_id}"


async def _waiting_steps(session: AsyncSession, run_id: str, step_id: str, *, tenant_id: str) -> Sequence[str]:
    """Return the step of a slot; for that of a run all of its steps that wait for a slot or are about to."""
    if step_id:
        return (step_id,)
    steps = flow_step_results.c
    waits = (steps.status == "waiting") & (steps.waits_for == "slot")
    query = select(steps.step_id).where(
        steps.flow_run_id == run_id, steps.tenant_id == tenant_id, waits | (steps.status == "running")
    )
    return (await session.execute(query)).scalars().all()
