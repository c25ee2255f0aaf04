"""Entries of the audit log are written with the change, in one chain a tenant, on both databases."""

import asyncio

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import DEFAULT_TENANT_ID, LOCAL
from headgate.features.audit.chain import GENESIS, link
from headgate.features.audit.recorder import digest_of, record
from headgate.features.audit.tables import AuditEvent, AuditHead
from headgate.foundation.database import Database


async def read(database: Database) -> list[AuditEvent]:
    async with database.reading() as session:
        return list(await session.scalars(select(AuditEvent).order_by(AuditEvent.seq)))


async def write(database: Database, *names: str) -> None:
    async with database.writing() as session:
        for name in names:
            await record(session, LOCAL, "flow.created", id=f"id of {name}", name=name)


class TestRecord:
    async def test_ties_each_entry_to_the_one_before(self, database: Database) -> None:
        await write(database, "a")
        await write(database, "b", "c")
        events = await read(database)
        assert [(event.seq, event.resource_name) for event in events] == [(1, "a"), (2, "b"), (3, "c")]
        previous = GENESIS
        for event in events:
            assert event.hash == link(previous, event.seq, event.content_digest)
            previous = event.hash
        async with database.reading() as session:
            head = await session.get_one(AuditHead, DEFAULT_TENANT_ID)
        assert (head.seq, head.hash) == (3, previous)

    async def test_keeps_digests_and_never_the_values(self, database: Database) -> None:
        async with database.writing() as session:
            before, after = {"name": "old"}, {"name": "new", "size": 1}
            await record(session, LOCAL, "flow.renamed", id="f", before=before, after=after)
        (event,) = await read(database)
        assert (event.before_digest, event.after_digest) == (digest_of(before), digest_of({"size": 1, "name": "new"}))
        assert event.before_digest != event.after_digest
        assert event.payload == "null"

    async def test_leaves_nothing_when_the_change_fails(self, database: Database) -> None:
        async def fail() -> None:
            async with database.writing() as session:
                await record(session, LOCAL, "flow.created", id="f")
                raise RuntimeError

        with pytest.raises(RuntimeError):
            await fail()
        assert await read(database) == []

    async def test_forgets_what_a_savepoint_takes_back(self, database: Database) -> None:
        async def fail(session: AsyncSession) -> None:
            async with session.begin_nested():
                async with session.begin_nested():
                    await record(session, LOCAL, "flow.created", id="inner")
                raise RuntimeError

        async with database.writing() as session:
            await record(session, LOCAL, "flow.created", id="kept before")
            with pytest.raises(RuntimeError):
                await fail(session)
            async with session.begin_nested():
                await record(session, LOCAL, "flow.created", id="kept within")
        assert [event.resource_id for event in await read(database)] == ["kept before", "kept within"]

    async def test_fails_the_change_when_it_cannot_be_written(self, database: Database) -> None:
        async def fail() -> None:
            async with database.writing() as session:
                await session.execute(text("UPDATE spaces SET name = 'changed'"))
                await record(session, LOCAL, "space.renamed", id="f")
                await session.execute(text("ALTER TABLE audit_heads RENAME TO gone"))

        with pytest.raises(DBAPIError):
            await fail()
        async with database.reading() as session:
            assert await session.scalar(text("SELECT name FROM spaces")) == "Personal"
        assert await read(database) == []

    async def test_keeps_one_chain_among_many_writers(self, database: Database) -> None:
        await asyncio.gather(*(write(database, f"{number} a", f"{number} b") for number in range(20)))
        events = await read(database)
        assert [event.seq for event in events] == list(range(1, 41))
        previous = GENESIS
        for event in events:
            assert event.hash == link(previous, event.seq, event.content_digest)
            previous = event.hash
