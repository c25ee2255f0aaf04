# ruff: noqa: ARG001, ARG002 - it does what ports ask for and needs little of what they give
"""A place of the development agent that is in memory, and a model that answers at once: what is left is the session."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from headgate.agents.codev.domain import (
    Answer,
    Change,
    DomainTool,
    Fault,
    Held,
    NeededCredential,
    Phase,
    TrialResult,
    mark_of,
)
from headgate.agents.codev.errors import WriteConflict
from headgate.agents.codev.ports import ModelAnswer, Reasoning
from headgate.agents.codev.sessions.places import Place
from headgate.features.access.principal import Principal
from headgate.features.models.ports import KeySource
from headgate.foundation.ids import new_id
from headgate.graph.cases import TestCase

LOOKS, WRITES, CASES = 12, 3, 3
"""Tool calls that read and that write, and test cases, of one session."""
_PLAN = 'Write it.\n\n```tests\n[{"name": "a"}, {"name": "b"}, {"name": "c"}]\n```'


@dataclass
class MemoryPlace:
    """A workplace, and the domain that opens it: every session works on the same shelf of flows."""

    name: str = "memory"
    flows: dict[str, Held] = field(default_factory=dict)

    async def open(self, principal: Principal, space_id: str, instance_id: str) -> "MemoryPlace":
        """Itself."""
        return self

    @property
    def tools(self) -> Sequence[DomainTool]:
        """One that reads, one that writes."""
        schema: dict[str, Any] = {"type": "object", "properties": {"number": {"type": "integer"}}}
        return (
            DomainTool("look", "Look.", schema, frozenset({Phase.DISCOVER}), read=_look),
            DomainTool("write", "Write.", schema, frozenset({Phase.PATCH}), change=_change),
        )

    def knowledge(self, phase: Phase) -> str:
        """Nothing."""
        return ""

    async def read(self, flow_id: str) -> Held:
        """The flow."""
        return self.flows[flow_id]

    def preflight(self, change: Change) -> Sequence[Fault]:
        """All is well."""
        return ()

    async def write(self, change: Change, before: Held | None, token: str) -> Held:
        """Put it on the shelf."""
        flow_id = before.flow_id if before is not None else new_id()
        if before is not None and self.flows[flow_id].mark != before.mark:
            raise WriteConflict(before.name)
        self.flows[flow_id] = Held(flow_id, change.name or "flow", change.definition, mark_of(change.definition))
        return self.flows[flow_id]

    async def find_written(self, token: str) -> Held | None:
        """Nothing is ever lost."""
        return None

    async def remove(self, flow_id: str, expected_mark: str) -> None:
        """Take it off the shelf."""
        del self.flows[flow_id]

    def compare(self, before: dict[str, JsonValue] | None, after: dict[str, JsonValue]) -> list[str]:
        """A line."""
        return ["~ number"]

    async def missing_credentials(self, types: Sequence[str]) -> Sequence[NeededCredential]:
        """None."""
        return ()

    async def add_credential(self, type: str, name: str, values: Mapping[str, str]) -> None:  # noqa: A002 - the port's
        """Nobody asks."""

    async def run_case(self, flow_id: str, case: TestCase, *, session: str) -> TrialResult:
        """An answer at once."""
        return TrialResult(answer="fine")

    def link(self, flow_id: str) -> str:
        """None."""
        return ""

    async def close(self) -> None:
        """Nothing to close."""


async def _look(arguments: dict[str, Any]) -> Answer:
    return {"number": arguments["number"], "found": "A component that takes a text and gives a text. " * 10}


async def _change(held: Held | None, arguments: dict[str, Any]) -> Change:
    return Change(definition={"number": arguments["number"], "text": "x" * 2000}, summary="Writes.", name="flow")


@dataclass(frozen=True)
class AtOnce:
    """Answers by what it is asked, without a network or a word to think about."""

    model_id: str = "bench/at-once"

    async def complete(
        self,
        messages: Sequence[dict[str, Any]],
        *,
        system: str,
        tools: Sequence[DomainTool] = (),
        on_token: Callable[[str], None] = lambda _text: None,
    ) -> ModelAnswer:
        """Look around, plan, write, and find it good."""
        names = {tool.name for tool in tools}
        made = sum(1 for message in messages if message["type"] == "tool")
        for name, most, last in (("write", WRITES, "Written."), ("look", LOOKS, "Seen.\n\nCREDENTIALS_STATUS: OK")):
            if name in names:
                return _call(name, made) if made < most else _said(last)
        return _said("DONE" if "Phase: converge" in system else _PLAN)

    async def choose(self, principal: Principal, name: str | None = None, session_id: str = "") -> Reasoning:
        """Itself."""
        return self

    def keys_of(self, principal: Principal, session_id: str) -> KeySource:
        """None: it needs no key."""
        raise NotImplementedError


def _said(text: str) -> ModelAnswer:
    return ModelAnswer(text, input_tokens=100, output_tokens=10)


def _call(name: str, number: int) -> ModelAnswer:
    call = {"id": f"call_{number}", "name": name, "args": {"number": number}}
    return ModelAnswer("", [call], input_tokens=100, output_tokens=10)


class NoPatterns:
    """A library that is empty and stays so."""

    def tools(self) -> Sequence[DomainTool]:
        """None."""
        return ()

    def building_tools(self, own: Sequence[DomainTool]) -> Sequence[DomainTool]:
        """None."""
        return ()

    async def keep(self, *, requirement: str, held: Held, session_id: str) -> str:
        """Not kept."""
        return ""


def memory() -> Place:
    """The place as sessions know it."""
    return Place(MemoryPlace(), "Memory")
