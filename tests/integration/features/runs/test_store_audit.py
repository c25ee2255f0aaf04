"""What the stores of runs write into the audit log: with the run's rows or not at all, the same on both databases."""

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy import select

from headgate.features.access.principal import LOCAL
from headgate.features.audit.actions import Action
from headgate.features.audit.chain import GENESIS, Entry, link
from headgate.features.audit.recorder import entry_of
from headgate.features.audit.tables import AuditEvent, AuditHead
from headgate.features.runs.errors import SourceGone
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.transitions import Claim, Failed, Lease, NewRun, Reuse, RunKey, Seed, StepRecord, clock
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from tests.support.engine import make_chain, store_flow
from tests.support.rows import execute

pytestmark = pytest.mark.both_databases

SEEDS = (Seed("s1", 1, 0), Seed("s2", 2, 1), Seed("s3", 3, 1))


@pytest.fixture
async def version(database: Database) -> RunKey:
    """A stored chain of three steps; what its making left in the audit log does not count here."""
    return await store_flow(database, make_chain(3))


def entry(action: Action, key: RunKey) -> Entry:
    return entry_of(LOCAL, action, id=key.run_id)


def lease() -> Lease:
    return Lease("w1", clock(), clock() + 60_000_000)


async def begin(store: RunStore, version: RunKey, *, steps: tuple[Seed, ...] = SEEDS) -> RunKey:
    key = replace(version, run_id=new_id())
    await store.create(NewRun(key, "{}", steps, claim=("s1",), entry=entry("run.started", key)), lease())
    return key


async def fail(store: RunStore, key: RunKey) -> None:
    await store.fail(key, Failed(Claim("s1", 1), "invalid", "no", StepRecord()), clock())


async def events(database: Database, kind: str = "run") -> list[tuple[str, str]]:
    """Action and resource of each entry, oldest first. Checks the whole chain on the way."""
    async with database.reading() as session:
        rows = list(await session.scalars(select(AuditEvent).order_by(AuditEvent.seq)))
        head = (await session.scalars(select(AuditHead))).one_or_none()
    previous = GENESIS
    for place, row in enumerate(rows, start=1):
        assert (row.seq, row.hash) == (place, link(previous, place, row.content_digest))
        previous = row.hash
    assert (head.seq, head.hash) == (len(rows), previous) if head is not None else not rows
    return [(row.action, row.resource_id) for row in rows if row.resource_kind == kind]


class TestCreate:
    async def test_writes_the_start_down(self, store: RunStore, version: RunKey, database: Database) -> None:
        first, second = await begin(store, version), await begin(store, version)
        assert await events(database) == [("run.started", first.run_id), ("run.started", second.run_id)]

    async def test_writes_nothing_for_a_run_that_is_not_made(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        with pytest.raises(Exception, match=r"(?i)foreign key"):
            await begin(store, version, steps=(*SEEDS, Seed("stranger", 4, 0)))
        made = await begin(store, version)
        assert await events(database) == [("run.started", made.run_id)]

    async def test_makes_no_run_when_the_entry_cannot_be_written(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        await execute(database, "ALTER TABLE audit_events RENAME TO gone")
        key = replace(version, run_id=new_id())
        with pytest.raises(Exception, match="audit_events"):
            await store.create(NewRun(key, "{}", SEEDS, entry=entry("run.started", key)), lease())
        await execute(database, "ALTER TABLE gone RENAME TO audit_events")
        assert await store.load(key.run_id) is None

    async def test_keeps_one_chain_when_many_begin_at_once(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        made = await asyncio.gather(*(begin(store, version) for _ in range(40)))
        assert sorted(await events(database)) == sorted(("run.started", key.run_id) for key in made)


class TestCancel:
    async def test_is_written_down_once(self, store: RunStore, version: RunKey, database: Database) -> None:
        key = await begin(store, version)
        for _ in range(2):
            await store.cancel(key.run_id, key.tenant_id, clock(), entry("run.cancelled", key))
        assert await events(database) == [("run.started", key.run_id), ("run.cancelled", key.run_id)]

    async def test_of_another_tenants_run_is_not(self, store: RunStore, version: RunKey, database: Database) -> None:
        key = await begin(store, version)
        assert await store.cancel(key.run_id, new_id(), clock(), entry("run.cancelled", key)) is None
        assert await events(database) == [("run.started", key.run_id)]


class TestResume:
    async def test_is_written_down_for_a_failed_run_alone(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        key = await begin(store, version)
        await store.resume(key, clock(), entry("run.resumed", key))
        await fail(store, key)
        for _ in range(2):
            await store.resume(key, clock(), entry("run.resumed", key))
        assert await events(database) == [("run.started", key.run_id), ("run.resumed", key.run_id)]


class TestCreateFrom:
    async def test_is_written_down_with_the_new_run(self, store: RunStore, version: RunKey, database: Database) -> None:
        old = await begin(store, version)
        await fail(store, old)
        key = replace(version, run_id=new_id())
        run = NewRun(key, "{}", SEEDS, entry=entry("run.rerun", key), reuse=Reuse(old.run_id, (), "s1"))
        await store.create(run, lease())
        assert (await events(database))[1:] == [("run.rerun", key.run_id)]

    async def test_leaves_nothing_without_its_source(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        old = await begin(store, version)
        key = replace(version, run_id=new_id())
        reuse = Reuse(old.run_id, ("s3",), "s1")
        with pytest.raises(SourceGone):
            await store.create(NewRun(key, "{}", SEEDS, entry=entry("run.rerun", key), reuse=reuse), lease())
        assert await events(database) == [("run.started", old.run_id)]
