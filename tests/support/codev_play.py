"""Plays a session of the development agent: its graph, its model at the wire, and the person who answers."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from headgate.agents.codev.ports import Reasoning, Working
from headgate.agents.codev.reasoning.model import ModelReasoning
from headgate.agents.codev.state import AgentState
from headgate.agents.codev.workflow.build import build_graph
from headgate.agents.codev.workflow.opening import initial_state
from headgate.features.models import service
from headgate.sdk import Model
from tests.support.codev_place import FakeJournal, FakePatterns, FakePlace, FakeTestSets, Told, working
from tests.support.codev_script import Line, Request, ScriptedReasoning, next_line, phase_of
from tests.support.keys import GivenKeys
from tests.support.openai_server import OpenAIServer
from tests.support.scripted_server import Asked, Script
from tests.support.web import open_web

APPROVED = {"type": "plan_approval", "approved": True}
ACCEPTED = {"type": "result_review", "accepted": True}
TOGETHER: dict[str, Any] = {
    "flow_id": None,
    "test_trials": 1,
    "max_iterations": 5,
    "token_budget": 100_000,
}
CONFIG: Any = {"configurable": {"thread_id": "session-1"}}


@dataclass(slots=True)
class Play:
    """A session in memory. With `rebuilt`, every step is taken by a graph that was just built, as after a restart."""

    working: Working
    rebuilt: bool = False
    saver: BaseCheckpointSaver[Any] = field(default_factory=InMemorySaver)
    steps: int = 0

    @property
    def told(self) -> Told:
        """What was told."""
        assert isinstance(self.working.emit, Told)
        return self.working.emit

    @property
    def journal(self) -> FakeJournal:
        """The journal of writes."""
        assert isinstance(self.working.journal, FakeJournal)
        return self.working.journal

    @property
    def patterns(self) -> FakePatterns:
        """The library of patterns."""
        assert isinstance(self.working.patterns, FakePatterns)
        return self.working.patterns

    @property
    def test_sets(self) -> FakeTestSets:
        """The test sets."""
        assert isinstance(self.working.test_sets, FakeTestSets)
        return self.working.test_sets

    async def begin(self, requirement: str = "Greet people", **changes: Any) -> dict[str, Any]:
        """Start, and go on until a person is asked; what is asked, empty at the end."""
        given = {**TOGETHER, **changes}
        return await self._until(initial_state("session-1", requirement, **given))

    async def answer(self, response: Mapping[str, Any]) -> dict[str, Any]:
        """Answer, and go on."""
        return await self._until(Command(resume=dict(response)))

    async def go_on(self) -> dict[str, Any]:
        """Go on after a process was killed."""
        return await self._until(None)

    async def approve(self, **changes: Any) -> dict[str, Any]:
        """Approve the plan, and go on."""
        return await self.answer({**APPROVED, **changes})

    async def accept(self, **changes: Any) -> dict[str, Any]:
        """Accept the result, and go on."""
        return await self.answer({**ACCEPTED, **changes})

    async def state(self) -> AgentState:
        """The state as it was saved."""
        found = await build_graph(self.saver).aget_state(CONFIG)
        return cast("AgentState", found.values)

    async def _until(self, given: Any) -> dict[str, Any]:
        while True:
            graph = build_graph(self.saver)
            breaks: Any = "*" if self.rebuilt else None
            async for _ in graph.astream(given, CONFIG, context=self.working, interrupt_after=breaks):
                self.steps += 1
            saved = await graph.aget_state(CONFIG)
            if saved.interrupts:
                value: dict[str, Any] = saved.interrupts[0].value
                return value
            if not saved.next:
                return {}
            given = None


@dataclass(slots=True)
class Wire:
    """A model behind a provider's protocol, that says each phase's next line."""

    server: OpenAIServer
    script: ScriptedReasoning
    tokens: tuple[int, int] = (7, 3)

    def phases(self) -> list[str]:
        """The phases in which it was asked, in their order."""
        return [_phase(asked) for asked in self.server.asked]

    def asked(self, phase: str) -> list[Request]:
        """What it was asked in a phase."""
        return [_request(asked) for asked in self.server.asked if _phase(asked) == phase]

    def answer(self, asked: Asked) -> Script:
        """The answer to a request."""
        line = next_line(self.script.script[_phase(asked)])
        if isinstance(line, str):
            return self.server.text(line, tokens=self.tokens)
        assert not isinstance(line, Exception)
        ((name, arguments),) = line.calls
        return self.server.tool_call(name, arguments, tokens=self.tokens)


@contextmanager
def at_the_wire(script: ScriptedReasoning) -> Iterator[Wire]:
    """A scripted model at the wire."""
    with OpenAIServer() as server:
        wire = Wire(server, script)
        server.sort = wire.answer
        yield wire


async def reasoning_at(wire: Wire) -> Reasoning:
    """The model behind the wire as a session asks it."""
    model = Model(provider="openai", name="gpt-4o", params={"temperature": 0.2})
    keys = GivenKeys(OPENAI_API_KEY="sk-of-a-test", OPENAI_BASE_URL=wire.server.base_url)
    return ModelReasoning(model="openai/gpt-4o", chat=await service.create_chat_model(model, keys, web=open_web()))


async def play_at(wire: Wire, place: FakePlace, *, rebuilt: bool = False, **changes: Any) -> Play:
    """A session whose model is behind the wire."""
    return Play(working(place, await reasoning_at(wire), **changes), rebuilt=rebuilt)


def play(script: ScriptedReasoning, place: FakePlace, *, rebuilt: bool = False, **changes: Any) -> Play:
    """A session whose model is in this process."""
    return Play(working(place, script, **changes), rebuilt=rebuilt)


def _phase(asked: Asked) -> str:
    return phase_of(asked.body["messages"][0]["content"])


def _request(asked: Asked) -> Request:
    system, *rest = asked.body["messages"]
    messages = [{"type": message["role"], "data": {"content": message.get("content") or ""}} for message in rest]
    tools = [tool["function"]["name"] for tool in asked.body.get("tools") or []]
    return Request(phase_of(system["content"]), system["content"], messages, tools)


__all__ = ["Line", "Play", "Wire", "at_the_wire", "play", "play_at", "reasoning_at"]
