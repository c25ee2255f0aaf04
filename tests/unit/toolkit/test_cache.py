"""The read cache of a request (seed 000, scenarios of the tool result cache)."""

from functools import partial
from typing import Any

import pytest

from headgate.features.catalog.own.overlay import Overlay
from headgate.graph.model import Flow
from headgate.toolkit.cache import MAX_CACHE_ENTRIES, ReadCache, Result, call_key
from headgate.toolkit.registry import TOOLS
from headgate.toolkit.watch import Unwatched
from headgate.toolkit.workbench import Workbench

BY_NAME = {tool.name: tool for tool in TOOLS}


class Counting(Unwatched):
    """Counts what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def cache_hit(self, tool: str, key_hash: str = "") -> None:
        assert len(key_hash) == 64
        self.told.append(f"hit {tool}")

    def cache_miss(self, tool: str) -> None:
        self.told.append(f"miss {tool}")

    def cache_evicted(self) -> None:
        self.told.append("evicted")


async def produced(value: int) -> Result:
    return {"ok": True, "value": value}


class TestReadCache:
    async def test_keeps_at_most_a_hundred_and_forgets_the_least_recently_used(self) -> None:
        cache, watch = ReadCache(), Counting()
        assert cache.most == MAX_CACHE_ENTRIES == 100
        for number in range(100):
            await cache.answer(f"t::{number}", partial(produced, number), watch)
        await cache.answer("t::0", lambda: produced(-1), watch)
        await cache.answer("t::new", lambda: produced(1), watch)
        assert len(cache) == 100
        assert watch.told.count("evicted") == 1
        assert (await cache.answer("t::0", lambda: produced(-1), watch))["value"] == 0
        assert (await cache.answer("t::1", lambda: produced(-1), watch))["value"] == -1

    async def test_keeps_no_error(self) -> None:
        cache, answers = ReadCache(), [RuntimeError("once"), {"ok": False}, {"ok": True}]

        async def produce() -> Result:
            found: Any = answers.pop(0)
            if isinstance(found, Exception):
                raise found
            return dict(found)

        with pytest.raises(RuntimeError):
            await cache.answer("t::{}", produce, Unwatched())
        assert await cache.answer("t::{}", produce, Unwatched()) == {"ok": False}
        assert await cache.answer("t::{}", produce, Unwatched()) == {"ok": True}
        assert await cache.answer("t::{}", produce, Unwatched()) == {"ok": True}

    def test_knows_a_call_whatever_the_order_of_its_arguments(self) -> None:
        assert call_key("t", {"a": 1, "b": {"x": 1, "y": 2}}) == call_key("t", {"b": {"y": 2, "x": 1}, "a": 1})
        assert call_key("t", {"a": 1}) != call_key("t", {"a": 2}) != call_key("u", {"a": 2})
        assert call_key("t", {"a": object}).startswith("t::")


class TestCachedTools:
    async def test_answer_a_second_time_from_the_cache(self, bench: Workbench) -> None:
        bench.watch = watch = Counting()
        first = await BY_NAME["describe_component"].call(bench, {"component_type": "Shout"})
        await BY_NAME["describe_component"].call(bench, {"component_type": "Source"})
        assert await BY_NAME["describe_component"].call(bench, {"component_type": "Shout"}) == first
        assert watch.told == ["miss describe_component", "miss describe_component", "hit describe_component"]

    async def test_are_those_of_the_catalogue_alone(self) -> None:
        assert {tool.name for tool in TOOLS if tool.cached} == {
            "search_components",
            "describe_component",
            "read_grammar",
        }

    async def test_begin_anew_with_a_request(self, bench: Workbench) -> None:
        await BY_NAME["search_components"].call(bench, {"query": "shout"})
        bench2 = Workbench(principal=bench.principal, space_id=bench.space_id, flow=Flow(), registry=bench.registry)
        bench2.watch = watch = Counting()
        await BY_NAME["search_components"].call(bench2, {"query": "shout"})
        assert watch.told == ["miss search_components"]

    async def test_forget_when_a_component_is_added(self, bench: Workbench) -> None:
        bench.watch = watch = Counting()
        await BY_NAME["search_components"].call(bench, {"query": "shout"})
        bench.registry = Overlay(bench.registry.base, bench.registry.index)
        await BY_NAME["search_components"].call(bench, {"query": "shout"})
        assert watch.told == ["miss search_components", "miss search_components"]

    async def test_leave_reads_of_the_flow_out(self, bench: Workbench) -> None:
        await BY_NAME["add_component"].call(bench, {"component_type": "Source", "params": {"text": "a"}})
        asked = {"node_id": "source", "field": "text"}
        assert (await BY_NAME["get_field_value"].call(bench, asked))["value"] == "a"
        await BY_NAME["configure_component"].call(bench, {"node_id": "source", "params": {"text": "b"}})
        assert (await BY_NAME["get_field_value"].call(bench, asked))["value"] == "b"
        assert len(bench.reads) == 0
