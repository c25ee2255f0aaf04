"""Decisions while the database is locked, full or away: a clear error, nothing lost, the next attempt decides once."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import Connection, event, text

from headgate.foundation.database import Database
from headgate.foundation.settings import DatabaseSettings, Settings
from tests.integration.features.runs.approvals.test_approvals import asked, ended
from tests.integration.features.runs.approvals.test_links import answer, linked
from tests.integration.features.runs.approvals.test_under_fire import client_of
from tests.support.databases import Postgres, SqliteFiles, make_settings
from tests.support.patience import PATIENCE_SECONDS
from tests.support.team import Team, team

MANY_PAGES = 1_000_000


@pytest.fixture
def impatient(sqlite_files: SqliteFiles, tmp_path: Path) -> Settings:
    """Settings of a SQLite database that wait for its lock for a second only."""
    sqlite_files.fresh(tmp_path)
    return make_settings(tmp_path, database=DatabaseSettings(busy_timeout_seconds=1))


@pytest.fixture
def other(impatient: Settings) -> Iterator[sqlite3.Connection]:
    """Another process at the database."""
    with closing(sqlite3.connect(impatient.data_dir / "headgate.db", isolation_level=None)) as connection:
        yield connection


async def click(us: Team, approval: dict[str, Any], who: str = "owner") -> httpx2.Response:
    body = {"decision": "approve", "comment": "Fine", "content_hash": approval["content_hash"]}
    return await us.ask(who, "POST", f"/approvals/{approval['id']}/decision", json=body)


async def count(database: Database, rows: str) -> int:
    async with database.reading() as session:
        number: int = (await session.execute(text(f"SELECT count(*) FROM {rows}"))).scalar_one()
    return number


async def assert_undecided(us: Team, approval: dict[str, Any]) -> None:
    outcome = await us.get("viewer", f"/approvals/{approval['id']}")
    assert (outcome["status"], outcome["approvals"], outcome["decisions"]) == ("pending", 0, [])
    assert (await us.get("editor", f"/flow-runs/{approval['run_id']}"))["status"] == "waiting"
    assert await count(us.database, "audit_events WHERE action = 'approval.approved'") == 0


async def assert_decided_once(us: Team, approval: dict[str, Any]) -> None:
    """Decide again, at the same time in several requests: one of them counts, and the run continues."""
    statuses = [response.status_code for response in await asyncio.gather(*(click(us, approval) for _ in range(5)))]
    assert sorted(statuses) == [200, 409, 409, 409, 409]
    run = await ended(us, approval["run_id"])
    assert (run["status"], run["text"]) == ("completed", "Taxi, 40 EUR")
    assert await count(us.database, "approval_decisions") == 1
    assert await count(us.database, "audit_events WHERE action = 'approval.approved'") == 1


def assert_unavailable(response: httpx2.Response, words: str) -> None:
    assert response.status_code == 503, response.text
    problem = response.json()
    assert problem["code"] == "unavailable"
    assert words in problem["detail"]
    assert problem["remedy"]


class TestLocked:
    async def test_refuses_every_way_to_decide_and_stores_nothing(
        self, impatient: Settings, other: sqlite3.Connection
    ) -> None:
        async with team(impatient) as us:
            approval = await asked(us)
            token = await linked(us, approval)
            other.execute("BEGIN IMMEDIATE")
            assert_unavailable(await click(us, approval), "locked")
            body = {"decisions": [{"approval_id": approval["id"], "decision": "approve"}]}
            together = await us.ask("owner", "POST", "/approvals/decisions", json=body)
            async with client_of(us) as outsider:
                by_link = await answer(outsider, token, approval)
                other.execute("ROLLBACK")
                assert together.status_code == 503 or not together.json()["items"][0]["stored"]
                assert by_link == 503
                await assert_undecided(us, approval)
                assert (await outsider.post("/reviews/read", json={"token": token})).status_code == 200
            await assert_decided_once(us, approval)

    async def test_for_less_than_the_timeout_delays_the_decision_only(
        self, sqlite_files: SqliteFiles, tmp_path: Path
    ) -> None:
        sqlite_files.fresh(tmp_path)
        async with team(make_settings(tmp_path)) as us:
            approval = await asked(us)
            with closing(sqlite3.connect(tmp_path / "headgate.db", isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                deciding = asyncio.create_task(click(us, approval))
                await asyncio.sleep(0.5)
                other.execute("ROLLBACK")
            assert (await deciding).status_code == 200
            assert (await ended(us, approval["run_id"]))["status"] == "completed"


class TestFull:
    async def test_refuses_a_decision_and_stores_no_part_of_it(self, sqlite_files: SqliteFiles, tmp_path: Path) -> None:
        sqlite_files.fresh(tmp_path)
        async with team(make_settings(tmp_path)) as us:
            approval = await asked(us, questions='["Why"]')
            with closing(sqlite3.connect(str(us.database.url.database), timeout=PATIENCE_SECONDS)) as file:
                file.execute("VACUUM")  # pages that migrations left free would hold the decision
            disk = _Disk(us.database)
            async with us.database.engine.connect() as connection:
                used = (await connection.execute(text("PRAGMA page_count"))).scalar_one()
            disk.pages = used + 1
            body = {"decision": "approve", "answers": {"why": "x" * 100_000}}
            response = await us.ask("owner", "POST", f"/approvals/{approval['id']}/decision", json=body)
            assert_unavailable(response, "disk is full")
            disk.pages = MANY_PAGES
            await assert_undecided(us, approval)
            await assert_decided_once(us, approval)


class _Disk:
    """Has room for some pages: each transaction of the pool's connections begins with it; runs write through another.

    A connection that something holds at the moment has the limit the next time too.
    """

    def __init__(self, database: Database) -> None:
        self.pages = MANY_PAGES
        event.listen(database.engine.sync_engine, "begin", self._begin)

    def _begin(self, connection: Connection) -> None:
        connection.exec_driver_sql(f"PRAGMA max_page_count={self.pages}")


@pytest.mark.postgres
class TestAway:
    async def test_refuses_a_decision_which_counts_once_when_it_is_sent_again(
        self, postgres: Postgres, tmp_path: Path
    ) -> None:
        with postgres.fresh() as url:
            async with team(make_settings(tmp_path, url)) as us:
                approval = await asked(us)
                name = str(us.database.url.database)
                postgres.sql(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false", _terminate(name))
                async with asyncio.timeout(PATIENCE_SECONDS):
                    response = await click(us, approval)
                postgres.sql(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
                assert_unavailable(response, "database")
                await assert_undecided(us, approval)
                await assert_decided_once(us, approval)

    async def test_before_the_commit_of_a_decision_stores_no_part_of_it(
        self, postgres: Postgres, tmp_path: Path
    ) -> None:
        with postgres.fresh() as url:
            async with team(make_settings(tmp_path, url)) as us:
                approval = await asked(us)
                name = str(us.database.url.database)
                async with us.database.engine.connect() as blocking:
                    await blocking.execute(text("LOCK TABLE audit_events IN ACCESS EXCLUSIVE MODE"))
                    deciding = asyncio.create_task(click(us, approval))
                    waiting = "pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
                    async with asyncio.timeout(PATIENCE_SECONDS):
                        while not await count(us.database, waiting):  # noqa: ASYNC110 - another session
                            await asyncio.sleep(0.05)
                    postgres.sql(_terminate(name, "AND wait_event_type = 'Lock'"))
                    response = await deciding
                assert_unavailable(response, "database")
                await assert_undecided(us, approval)
                await assert_decided_once(us, approval)


def _terminate(name: str, condition: str = "") -> str:
    return f"SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '{name}' {condition}"
