"""Checkpoints: plain values only, closed to others, opened late and by several processes at once."""

import asyncio
import sqlite3
from contextlib import closing
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from headgate.agents.codev.schemas import SessionStart
from headgate.agents.codev.sessions.checkpoints import FILE, Checkpoints, config_of
from headgate.agents.codev.sessions.savers import strict
from headgate.features.access.principal import LOCAL
from headgate.foundation.database import Database
from headgate.foundation.errors import Unavailable
from headgate.foundation.settings import CodevSettings, Settings
from tests.support.codev_place import FakePlace
from tests.support.codev_sessions import open_bench
from tests.support.patience import PATIENCE_SECONDS


class TestCheckpoints:
    def test_bring_no_class_back(self) -> None:
        kind, data = JsonPlusSerializer().dumps_typed(CodevSettings(model="a/b"))
        assert not isinstance(strict().loads_typed((kind, data)), CodevSettings)

    def test_unpickle_nothing(self) -> None:
        with pytest.raises(NotImplementedError):
            strict().loads_typed(("pickle", b"cos\nsystem\n."))

    async def test_are_opened_by_many_at_once(self, settings: Settings, database: Database) -> None:
        several = [Checkpoints(settings, database) for _ in range(3)]
        try:
            assert await asyncio.gather(*(one.state("none") for one in several)) == [{}, {}, {}]
        finally:
            await asyncio.gather(*(one.close() for one in several))

    async def test_are_seen_by_nobody_else_of_the_machine(self, settings: Settings, database: Database) -> None:
        found = Checkpoints(settings, database)
        await found.saver()
        await found.close()
        modes = [path.stat().st_mode & 0o077 for path in settings.data_dir.glob(f"{FILE}*")]
        assert modes == ([0] if database.dialect == "sqlite" else [])

    async def test_of_other_sessions_are_left_when_one_is_forgotten(
        self, settings: Settings, database: Database
    ) -> None:
        found = Checkpoints(settings, database)
        saver = await found.saver()
        for name in ("one", "other"):
            await saver.aput(named(name), made(name), {}, {"plan": 1})
        await found.forget("one")
        assert (await found.state("one"), await found.state("other")) == ({}, {"plan": "other"})
        await found.close()


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
class TestOtherProcesses:
    """With one file between them: nobody is kept from writing by what another began and did not end."""

    @pytest.mark.parametrize("what", ["aput", "aput_writes", "adelete_thread", "keep_latest"])
    async def test_can_write_when_a_session_is_stopped_in_the_middle(
        self, settings: Settings, database: Database, what: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found = Checkpoints(settings, database)
        saver = await found.saver()
        commit, reached, go_on = saver.conn.commit, asyncio.Event(), asyncio.Event()

        async def slow() -> None:
            reached.set()
            await go_on.wait()
            await commit()

        monkeypatch.setattr(saver.conn, "commit", slow)
        given = {
            "aput": (named("one"), made("one"), {}, {"plan": 1}),
            "aput_writes": (named("one", checkpoint_id="1"), [("plan", "x")], "task"),
        }.get(what, ("one",))
        task = asyncio.create_task(getattr(saver, what)(*given))
        await reached.wait()
        task.cancel()
        go_on.set()
        await asyncio.wait([task])
        with closing(sqlite3.connect(settings.data_dir / FILE, timeout=0, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
        await found.close()

    async def test_that_write_for_long_are_said_to_be_the_reason(self, settings: Settings, database: Database) -> None:
        hasty = settings.model_copy(
            update={"database": settings.database.model_copy(update={"busy_timeout_seconds": 0})}
        )
        found = Checkpoints(hasty, database)
        saver = await found.saver()
        with closing(sqlite3.connect(settings.data_dir / FILE, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(Unavailable, match="locked"):
                await found.forget("one")
        assert not saver.conn.in_transaction
        await found.close()

    async def test_that_write_for_long_end_no_session(self, settings: Settings, database: Database) -> None:
        async with open_bench(hasty(settings), database, FakePlace(greeter="nothing"), retry_seconds=0.1) as bench:
            await bench.runner.checkpoints.saver()
            with closing(sqlite3.connect(settings.data_dir / FILE, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                wanted = SessionStart(requirement="x", domain="memory", flow_id="greeter")
                begun = await bench.sessions.start(LOCAL, wanted)
                async with asyncio.timeout(PATIENCE_SECONDS):
                    while bench.works_on(begun.thread_id):  # noqa: ASYNC110
                        await asyncio.sleep(0.01)
            assert (await bench.rested(begun.thread_id)).phase == "approve_plan"


def hasty(settings: Settings) -> Settings:
    """Settings of a process that waits for no lock."""
    at_once = settings.database.model_copy(update={"busy_timeout_seconds": 0})
    return settings.model_copy(update={"database": at_once})


def named(name: str, **more: str) -> Any:
    """How LangGraph calls a session."""
    return {"configurable": config_of(name)["configurable"] | {"checkpoint_ns": ""} | more}


def made(plan: str) -> Any:
    """A checkpoint that knows a plan."""
    return empty_checkpoint() | {"channel_values": {"plan": plan}, "channel_versions": {"plan": 1}}
