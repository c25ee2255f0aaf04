"""MCP tools as a step has them."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.ports.services import ServerTool
from headgate.features.runs.steps.outside import OutsideContent
from headgate.features.runs.steps.servers import LONGEST_NAME, StepServers, model_name
from headgate.features.runs.transitions import RunKey
from headgate.foundation.errors import Cancelled

ORIGIN = Origin(RunKey("run", "tenant", "flow", 1), "step")
NAMES = st.text("abcdefghijklmnopqrstuvwxyzABC0123456789_-.", min_size=1, max_size=128)


@dataclass(frozen=True)
class Described:
    name: str
    description: str = "Says it."
    input_schema: Mapping[str, JsonValue] = field(default_factory=lambda: {"type": "object"})
    read_only: bool = False
    changed: bool = False


class Unmarked:
    """Content from outside of a step that nothing reached; what a call adds is kept."""

    def __init__(self) -> None:
        self.added: list[str] = []

    def describe(self, server: str) -> None: ...

    def check_tool(self, name: str, server: str, *, reads: bool) -> None: ...

    def add(self, *marks: str) -> None:
        self.added += marks


UNMARKED = cast("OutsideContent", Unmarked())


class Recorded:
    """A connection that waits until it is told."""

    def __init__(self) -> None:
        self.tools: list[ServerTool] = [Described("say"), Described("say.loud", "")]
        self.called: list[tuple[str, Mapping[str, JsonValue]]] = []
        self.url = "https://Tools.example.org/mcp"
        self.sampling = None
        self.stopped = False
        self.closed = 0
        self.free = asyncio.Event()

    async def call(self, tool: str, arguments: Mapping[str, JsonValue], answers: object = None) -> JsonValue:
        self.called.append((tool, arguments))
        try:
            await self.free.wait()
        except asyncio.CancelledError:
            self.stopped = True
            raise
        return "said"

    async def close(self) -> None:
        self.closed += 1


class Registered:
    """One server for everybody, and how often it was looked up."""

    def __init__(self) -> None:
        self.made: list[Recorded] = []

    async def connection(self, origin: Origin, server: str) -> Recorded:
        self.made.append(Recorded())
        return self.made[-1]


class TestStepServers:
    async def test_give_tools_marked_as_the_servers_words(self) -> None:
        servers = StepServers(ORIGIN, Registered(), not_cancelled, UNMARKED)
        say, loud = await servers.tools("voice")
        assert (say.name, say.full_name, say.server) == ("voice__say", "voice.say", "voice")
        assert say.description == "[MCP server 'voice', in its own words] Says it."
        assert loud.full_name == "voice.say.loud"
        assert loud.description.endswith(" say.loud")

    async def test_make_one_connection_a_server_and_close_it_with_the_step(self) -> None:
        registered = Registered()
        servers = StepServers(ORIGIN, registered, not_cancelled, UNMARKED)
        await servers.tools("voice")
        await servers.tools("voice")
        await servers.tools("other")
        await servers.aclose()
        await servers.aclose()
        assert [one.closed for one in registered.made] == [1, 1]

    async def test_stop_a_call_when_the_run_was_cancelled_elsewhere(self) -> None:
        async def cancelled() -> None:
            raise Cancelled("stopped")

        registered = Registered()
        say, _ = await StepServers(ORIGIN, registered, cancelled, UNMARKED).tools("voice")
        with pytest.raises(Cancelled):
            await say.call({})
        assert registered.made[0].stopped

    async def test_stop_a_call_with_the_task_that_waits(self) -> None:
        registered = Registered()
        say, _ = await StepServers(ORIGIN, registered, not_cancelled, UNMARKED).tools("voice")
        task = asyncio.ensure_future(say.call({"a": 1}))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert registered.made[0].called == [("say", {"a": 1})]
        assert registered.made[0].stopped

    async def test_give_the_result(self) -> None:
        registered = Registered()
        say, _ = await StepServers(ORIGIN, registered, not_cancelled, UNMARKED).tools("voice")
        registered.made[0].free.set()
        assert await say.call({}) == "said"


class TestModelName:
    def test_joins_server_and_tool(self) -> None:
        assert model_name("weather", "forecast") == "weather__forecast"

    @given(NAMES, NAMES)
    def test_is_taken_by_every_provider(self, server: str, tool: str) -> None:
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", model_name(server, tool))

    @given(st.lists(NAMES, min_size=2, max_size=20, unique=True))
    def test_keeps_the_tools_of_a_server_apart(self, tools: list[str]) -> None:
        assert len({model_name("s", tool) for tool in tools}) == len(tools)

    def test_cuts_what_is_too_long(self) -> None:
        assert len(model_name("s" * 64, "t" * 128)) == LONGEST_NAME


async def not_cancelled() -> None:
    """The run goes on."""
