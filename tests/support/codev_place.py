"""A place in memory for the development agent, and what a session works with there. Every flow answers what it says.

A flow's definition is `{"answer": "...", "model": "..."}`: running it answers `answer`, in which `{text}` is the input;
an answer that begins with `!` is an error. `place.somebody_writes(id, answer)` is somebody else; what `place.meanwhile`
holds happens just before the next writes.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from pydantic import JsonValue

from headgate.agents.codev.domain import (
    Answer,
    Change,
    CredentialField,
    DomainTool,
    Fault,
    Held,
    NeededCredential,
    Phase,
    TrialResult,
    mark_of,
)
from headgate.agents.codev.errors import WriteConflict
from headgate.agents.codev.ports import Reasoning, Working, WriteNote, Written
from headgate.agents.codev.state import Conflicted
from headgate.foundation.errors import HeadgateError, Invalid, NotFound
from headgate.graph.cases import TestCase

_READING = frozenset({Phase.DISCOVER, Phase.PATCH})
_PATCH = frozenset({Phase.PATCH})


class FakePlace:
    """Flows in memory. Keeps what was written, read and run."""

    def __init__(self, **flows: str) -> None:
        self.flows: dict[str, Held] = {}
        self.credentials: set[str] = set()
        self.written: list[tuple[str, str]] = []
        """Flow and answer, of each write."""
        self.runs: list[tuple[str, TestCase, str]] = []
        """Flow, case and chat, of each run."""
        self.answers: deque[str] = deque()
        """Answers of the next runs, instead of what the flow would answer."""
        self.meanwhile: deque[Callable[[], None]] = deque()
        """What happens just before the next writes, one each."""
        self.reads: list[str] = []
        self.failing: HeadgateError | None = None
        """Raised by the next reading tool."""
        self.closed = False
        self._tokens: dict[str, str] = {}
        self._numbers = count(1)
        self._saves = count(1)
        for flow_id, answer in flows.items():
            self._put(flow_id, flow_id.title(), {"answer": answer})

    @property
    def tools(self) -> Sequence[DomainTool]:
        answer = {"answer": {"type": "string"}}
        name = {"name": {"type": "string"}}
        return (
            DomainTool("list_components", "Components.", _schema(), _READING, read=self._list),
            DomainTool("read_flow", "The flow.", _schema({"flow_id": {"type": "string"}}), _READING, read=self._read),
            DomainTool("make_flow", "Make the flow.", _schema(name | answer), _PATCH, change=self._make),
            DomainTool("set_answer", "What it answers.", _schema(answer), _PATCH, change=self._set),
        )

    def knowledge(self, phase: Phase) -> str:
        return f"Knowledge of the phase {phase}."

    async def read(self, flow_id: str) -> Held:
        self.reads.append(flow_id)
        if flow_id not in self.flows:
            raise NotFound(f"There is no flow {flow_id}.")
        return self.flows[flow_id]

    def preflight(self, change: Change) -> Sequence[Fault]:
        if not change.definition.get("answer"):
            return [Fault("answer", "It is empty.", "Write one.")]
        return []

    async def write(self, change: Change, before: Held | None, token: str) -> Held:
        if self.meanwhile:
            self.meanwhile.popleft()()
        if before is not None and self.flows[before.flow_id].mark != before.mark:
            raise WriteConflict(before.name)
        flow_id = before.flow_id if before is not None else f"flow-{next(self._numbers)}"
        self._tokens[token] = flow_id
        self.written.append((flow_id, str(change.definition["answer"])))
        return self._put(flow_id, change.name or (before.name if before else "Flow"), change.definition)

    async def find_written(self, token: str) -> Held | None:
        flow_id = self._tokens.get(token)
        return self.flows.get(flow_id) if flow_id is not None else None

    async def remove(self, flow_id: str, expected_mark: str) -> None:
        if self.flows[flow_id].mark != expected_mark:
            raise WriteConflict(flow_id)
        del self.flows[flow_id]

    def compare(self, before: dict[str, JsonValue] | None, after: dict[str, JsonValue]) -> list[str]:
        lines = [f"- {name}: {value}" for name, value in (before or {}).items() if after.get(name) != value]
        return lines + [f"+ {name}: {value}" for name, value in after.items() if (before or {}).get(name) != value]

    async def missing_credentials(self, types: Sequence[str]) -> Sequence[NeededCredential]:
        fields = (CredentialField("apiKey", "API key"),)
        return [NeededCredential(one, one.title(), fields) for one in types if one not in self.credentials]

    async def add_credential(self, type: str, name: str, values: Mapping[str, str]) -> None:  # noqa: A002 - its name
        if not values.get("apiKey"):
            raise Invalid(f"{name} needs a key.")
        self.credentials.add(type)

    async def run_case(self, flow_id: str, case: TestCase, *, session: str) -> TrialResult:
        self.runs.append((flow_id, case, session))
        says = self.answers.popleft() if self.answers else str(self.flows[flow_id].definition["answer"])
        run_id = f"run-{len(self.runs)}"
        if says.startswith("!"):
            return TrialResult("", run_id, error=says[1:], duration_ms=5)
        return TrialResult(says.replace("{text}", case.text), run_id, duration_ms=5, link=f"/runs/{run_id}")

    def link(self, flow_id: str) -> str:
        return f"/flows/{flow_id}"

    async def close(self) -> None:
        self.closed = True

    def somebody_writes(self, flow_id: str, answer: str) -> None:
        """Somebody else changes a flow."""
        held = self.flows[flow_id]
        self._put(flow_id, held.name, {**held.definition, "answer": answer})

    def _put(self, flow_id: str, name: str, definition: dict[str, JsonValue]) -> Held:
        saved = str(next(self._saves))
        self.flows[flow_id] = Held(flow_id, name, dict(definition), mark_of(definition), saved=saved)
        return self.flows[flow_id]

    async def _list(self, _: dict[str, Any]) -> Answer:
        if self.failing is not None:
            error, self.failing = self.failing, None
            raise error
        return {"components": ["Answer", "Prompt"]}

    async def _read(self, arguments: dict[str, Any]) -> Answer:
        held = self.flows.get(str(arguments.get("flow_id")))
        if held is None:
            return {"error": "There is no such flow.", "remedy": "Name the session's flow."}
        return {"name": held.name, "definition": held.definition}

    async def _make(self, held: Held | None, arguments: dict[str, Any]) -> Change | Answer:
        if held is not None:
            return {"error": "The flow is there already.", "remedy": "Change it."}
        answer = str(arguments.get("answer", ""))
        return Change({"answer": answer}, f"Makes a flow that answers {answer!r}", name=str(arguments.get("name", "F")))

    async def _set(self, held: Held | None, arguments: dict[str, Any]) -> Change | Answer:
        if held is None:
            return {"error": "There is no flow yet.", "remedy": "Make one."}
        answer = str(arguments.get("answer", ""))
        return Change({**held.definition, "answer": answer}, f"Answers {answer!r}")


@dataclass(slots=True)
class FakeJournal:
    """Carries out what tools would write, once each, in memory."""

    place: FakePlace
    carried: dict[str, Written] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    """Every call that was to be carried out, again and again."""
    first: Held | None = None
    made: list[WriteNote] = field(default_factory=list)

    async def execute(
        self,
        call_id: str,
        tool: DomainTool,
        arguments: dict[str, Any],
        *,
        flow_id: str | None,
        expected_mark: str | None,
        iteration: int,
    ) -> Written:
        self.asked.append(call_id)
        if call_id not in self.carried:
            held = self.place.flows.get(flow_id) if flow_id else None
            if held is not None and expected_mark not in {None, held.mark}:
                return _conflict(held.name)
            self.carried[call_id] = await self._write(call_id, tool, arguments, held, iteration)
        return self.carried[call_id]

    async def notes(self) -> Sequence[WriteNote]:
        return list(self.made)

    async def beginning(self) -> Held | None:
        return self.first

    async def _write(
        self, call_id: str, tool: DomainTool, arguments: dict[str, Any], held: Held | None, iteration: int
    ) -> Written:
        assert tool.change is not None
        change = await tool.change(held, arguments)
        if isinstance(change, dict):
            return Written(change)
        faults: list[JsonValue] = [str(fault) for fault in self.place.preflight(change)]
        if faults:
            return Written({"error": "The flow would not be well formed.", "remedy": "Correct it.", "faults": faults})
        try:
            after = await self.place.write(change, held, call_id)
        except WriteConflict:
            return _conflict(held.name if held else "")
        if not self.made:
            self.first = held
        self.made.append(WriteNote(len(self.made) + 1, tool.name, change.summary, "done", iteration))
        return Written({"ok": True, "flow_id": after.flow_id}, after)


@dataclass(slots=True)
class FakePatterns:
    """Keeps what was kept; finds everything."""

    kept: list[tuple[str, Held]] = field(default_factory=list)
    failing: HeadgateError | None = None

    def building_tools(self, own: Sequence[DomainTool]) -> Sequence[DomainTool]:
        return ()

    def tools(self) -> Sequence[DomainTool]:
        schema = _schema({"words": {"type": "string"}})
        return (DomainTool("search_patterns", "Patterns.", schema, frozenset({Phase.DISCOVER}), read=self._search),)

    async def keep(self, *, requirement: str, held: Held, session_id: str) -> str:
        if self.failing is not None:
            raise self.failing
        self.kept.append((requirement, held))
        return f"pattern-of-{session_id}"

    async def _search(self, _: dict[str, Any]) -> Answer:
        return {"patterns": [requirement for requirement, _ in self.kept]}


@dataclass(slots=True)
class FakeTestSets:
    """Keeps the cases that were kept."""

    kept: dict[str, list[TestCase]] = field(default_factory=dict)
    failing: HeadgateError | None = None

    async def keep(self, flow_id: str, cases: Sequence[TestCase]) -> None:
        if self.failing is not None:
            raise self.failing
        self.kept[flow_id] = list(cases)


@dataclass(slots=True)
class Told:
    """What happened, as it was told."""

    events: list[tuple[str, dict[str, JsonValue]]] = field(default_factory=list)

    def __call__(self, kind: str, data: dict[str, JsonValue]) -> None:
        self.events.append((kind, data))

    def of(self, kind: str) -> list[dict[str, JsonValue]]:
        """What was told of a kind."""
        return [data for told, data in self.events if told == kind]


def working(place: FakePlace, reasoning: Reasoning, **changes: Any) -> Working:
    """What a session works with in the place."""
    given: dict[str, Any] = {
        "session_id": "session-1",
        "workplace": place,
        "reasoning": reasoning,
        "journal": FakeJournal(place),
        "patterns": FakePatterns(),
        "emit": Told(),
        "test_sets": FakeTestSets(),
    }
    return Working(**{**given, **changes})


def _conflict(name: str) -> Written:
    message = f"'{name}' was changed by another user."
    return Written({"error": message, "remedy": "Nothing was written."}, conflict=Conflicted(message=message, lines=[]))


def _schema(properties: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"type": "object", "properties": properties or {}}
