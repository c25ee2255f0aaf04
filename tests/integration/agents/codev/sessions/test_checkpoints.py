"""Checkpoints: plain values only, closed to others, opened late and by several processes at once."""

import asyncio

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from headgate.agents.codev.sessions.checkpoints import FILE, Checkpoints, config_of
from headgate.agents.codev.sessions.savers import strict
from headgate.foundation.codev_settings import CodevSettings
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings


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
            config = config_of(name)
            config["configurable"]["checkpoint_ns"] = ""
            made = empty_checkpoint() | {"channel_values": {"plan": name}, "channel_versions": {"plan": 1}}
            await saver.aput(config, made, {}, {"plan": 1})
        await found.forget("one")
        assert (await found.state("one"), await found.state("other")) == ({}, {"plan": "other"})
        await found.close()
