"""The audit log in the database: append-only, and every way to change it all the same is found."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from headgate.features.access.principal import DEFAULT_TENANT_ID, LOCAL, Principal
from headgate.features.audit import service
from headgate.features.audit.chain import GENESIS, MEMBERS, Entry, link
from headgate.features.audit.recorder import record
from headgate.features.audit.service import Place
from headgate.foundation.database import Database
from tests.support.tenants import add_tenant

LENGTH = 7


async def fill(database: Database, principal: Principal = LOCAL, length: int = LENGTH) -> None:
    for number in range(1, length + 1):
        async with database.writing() as session:
            await record(session, principal, "flow.renamed", id=f"f{number}", payload={"n": number})


async def execute(database: Database, *statements: str) -> None:
    async with database.writing() as session:
        for statement in statements:
            await session.execute(text(statement))


@asynccontextmanager
async def as_owner(database: Database) -> AsyncIterator[None]:
    """The one who owns the database takes the triggers away, and puts them back."""
    if database.dialect == "postgresql":
        await execute(database, "ALTER TABLE audit_events DISABLE TRIGGER USER")
        yield
        await execute(database, "ALTER TABLE audit_events ENABLE TRIGGER USER")
        return
    async with database.reading() as session:
        query = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'audit_events'"
        triggers = (await session.execute(text(query))).all()
    assert len(triggers) == 3
    await execute(database, *(f"DROP TRIGGER {row.name}" for row in triggers))
    yield
    await execute(database, *(row.sql for row in triggers))


async def tamper(database: Database, *statements: str) -> None:
    async with as_owner(database):
        await execute(database, *statements)


async def faults(database: Database, noted: Place | None = None) -> list[str]:
    return [fault.where for fault in (await service.verify_chain(database, LOCAL, noted)).faults]


async def rows(database: Database) -> Sequence[Entry]:
    columns = ", ".join(MEMBERS)
    async with database.reading() as session:
        query = f"SELECT {columns} FROM audit_events WHERE tenant_id = :t ORDER BY seq"
        return [Entry(*row) for row in await session.execute(text(query), {"t": DEFAULT_TENANT_ID})]


async def chain_anew(database: Database, *, with_head: bool) -> None:
    """Change entry 3 and work out every digest and hash after it, as Headgate itself would."""
    await tamper(database, "UPDATE audit_events SET resource_name = 'somebody else' WHERE seq = 3")
    previous, statements = GENESIS, []
    for seq, entry in enumerate(await rows(database), start=1):
        previous = link(previous, seq, entry.content_digest)
        changed = f"content_digest = '{entry.content_digest}', hash = '{previous}'"
        statements.append(f"UPDATE audit_events SET {changed} WHERE seq = {seq}")
    await tamper(database, *statements)
    if with_head:
        await execute(database, f"UPDATE audit_heads SET hash = '{previous}'")


class TestTable:
    async def test_refuses_to_be_changed(self, database: Database) -> None:
        await fill(database)
        statements = ["UPDATE audit_events SET actor_name = 'nobody'", "DELETE FROM audit_events WHERE seq = 2"]
        if database.dialect == "postgresql":  # SQLite has no such statement
            statements.append("TRUNCATE audit_events")
        for statement in statements:
            with pytest.raises(DBAPIError, match="append-only"):
                await execute(database, statement)
        assert await faults(database) == []

    async def test_refuses_to_have_an_entry_replaced(self, database: Database) -> None:
        await fill(database)
        columns = ", ".join(["seq", *MEMBERS, "content_digest", "hash"])
        other = f"SELECT {columns.replace('resource_id', chr(39) + 'x' + chr(39))} FROM audit_events WHERE seq = 3"
        statement = f"INSERT OR REPLACE INTO audit_events ({columns}) {other}"
        if database.dialect == "postgresql":
            statement = f"INSERT INTO audit_events ({columns}) {other}"
            statement += " ON CONFLICT (tenant_id, seq) DO UPDATE SET resource_id = 'x'"
        with pytest.raises(DBAPIError, match="append-only"):
            await execute(database, statement)
        assert await faults(database) == []

    async def test_keeps_its_tenant(self, database: Database) -> None:
        await fill(database)
        other = await add_tenant(database)
        await fill(database, other, 1)
        with pytest.raises(DBAPIError, match=r"(?i)foreign key"):
            await execute(database, f"DELETE FROM tenants WHERE id = '{other.tenant_id}'")
        assert (await service.verify_chain(database, other)).entries == 1


class TestVerify:
    async def test_finds_a_whole_log_good(self, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(service, "BATCH", 3)
        assert await faults(database) == []
        await fill(database)
        await fill(database, await add_tenant(database), 3)
        verdict = await service.verify_chain(database, LOCAL)
        assert (verdict.good, verdict.entries, verdict.seq) == (True, LENGTH, LENGTH)

    @pytest.mark.parametrize(
        ("statement", "where"),
        [
            ("UPDATE audit_events SET actor_name = 'nobody' WHERE seq = 3", ["entry 3"]),
            ("UPDATE audit_events SET at = at + 1 WHERE seq = 3", ["entry 3"]),
            ("UPDATE audit_events SET at = 9223372036854775807 WHERE seq = 3", ["entry 3"]),
            (f"UPDATE audit_events SET hash = '{GENESIS}' WHERE seq = 3", ["entry 3", "entry 4"]),
            ("DELETE FROM audit_events WHERE seq IN (3, 4)", ["entries 3 to 4"]),
            ("DELETE FROM audit_events WHERE seq = 1", ["entry 1"]),
            ("DELETE FROM audit_events WHERE seq > 5", ["entries 6 to 7"]),
            ("DELETE FROM audit_events", ["entries 1 to 7"]),
            ("DELETE FROM audit_heads", ["end"]),
            ("UPDATE audit_heads SET seq = 5", ["end"]),
        ],
    )
    async def test_finds_what_was_changed(self, database: Database, statement: str, where: list[str]) -> None:
        await fill(database)
        await tamper(database, statement)
        assert await faults(database) == where

    async def test_finds_two_that_changed_places(self, database: Database) -> None:
        await fill(database)
        moves = [(3, 100), (4, 3), (100, 4)]
        await tamper(database, *(f"UPDATE audit_events SET seq = {to} WHERE seq = {seq}" for seq, to in moves))
        assert await faults(database) == ["entry 3", "entry 4", "entry 5"]

    async def test_finds_what_was_put_in(self, database: Database) -> None:
        await fill(database)
        columns = ", ".join([*MEMBERS, "content_digest", "hash"])
        copy = f"INSERT INTO audit_events (seq, {columns}) SELECT 8, {columns} FROM audit_events WHERE seq = 7"
        await execute(database, copy)
        assert await faults(database) == ["entry 8", "end"]

    async def test_finds_a_chain_made_anew(self, database: Database) -> None:
        await fill(database)
        await chain_anew(database, with_head=False)
        assert await faults(database) == ["end"]

    async def test_finds_a_chain_made_anew_with_its_head_by_what_was_noted(self, database: Database) -> None:
        await fill(database)
        async with database.reading() as session:
            noted = await service.get_head(session, LOCAL)
        assert await faults(database, noted) == []
        await chain_anew(database, with_head=True)
        assert await faults(database) == []
        assert await faults(database, noted) == [f"entry {LENGTH}"]
