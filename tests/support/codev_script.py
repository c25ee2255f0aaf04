"""A model that works as the development agent's, by phase: at the wire, or in its place."""

import json
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from headgate.agents.codev.domain import DomainTool
from headgate.agents.codev.ports import ModelAnswer

CLEAR = "SCORE: 1"
FOUND = "There is a component Answer.\n\nCREDENTIALS_STATUS: OK"
WRITTEN = "It is written."
DONE = "DONE"


@dataclass(frozen=True, slots=True)
class Calls:
    """The model calls tools: name and arguments of each."""

    calls: tuple[tuple[str, dict[str, Any]], ...]


Line = str | Calls | Exception
PHASES = ("clarify", "discover", "plan", "patch", "converge")


def calls(name: str, /, **arguments: Any) -> Calls:
    """The model calls one tool."""
    return Calls(((name, arguments),))


def plan_of(*cases: dict[str, Any], text: str = "# Plan\n\nAnswer what is wanted.") -> str:
    """A plan with its tests."""
    return f"{text}\n\n```tests\n{json.dumps(list(cases))}\n```"


def case(name: str, *contains: str, text: str = "Hi") -> dict[str, Any]:
    """A test case that wants texts in the answer."""
    return {"name": name, "text": text, "expect": {"contains": list(contains)}}


def iterate(category: str, reason: str = "it answers wrongly", fix: str = "answer rightly") -> str:
    """A verdict that it is not done."""
    return f"ITERATE\nCategory: {category}\nReason: {reason}\nFix: {fix}"


@dataclass(frozen=True, slots=True)
class Request:
    """What the model was asked."""

    phase: str
    system: str
    messages: list[dict[str, Any]]
    tools: list[str]

    @property
    def text(self) -> str:
        """Everything it was sent but the system prompt."""
        return "\n".join(str(message["data"]["content"]) for message in self.messages)


@dataclass(slots=True)
class ScriptedReasoning:
    """Answers each phase's next line; the last of a phase stays. Keeps what it was asked."""

    script: dict[str, deque[Line]]
    asked: list[Request] = field(default_factory=list)
    tokens: tuple[int, int] = (10, 5)
    model_id: str = "scripted/model"

    async def complete(
        self,
        messages: Sequence[dict[str, Any]],
        *,
        system: str,
        tools: Sequence[DomainTool] = (),
        on_token: Callable[[str], None] = lambda _text: None,
    ) -> ModelAnswer:
        phase = phase_of(system)
        self.asked.append(Request(phase, system, list(messages), [tool.name for tool in tools]))
        line = next_line(self.script[phase])
        if isinstance(line, Exception):
            raise line
        if isinstance(line, str):
            on_token(line)
            return ModelAnswer(line, [], *self.tokens)
        made = [
            {"id": f"call_{number}", "name": name, "args": arguments}
            for number, (name, arguments) in enumerate(line.calls)
        ]
        return ModelAnswer("", made, *self.tokens)

    def phases(self) -> list[str]:
        """The phases in which it was asked, in their order."""
        return [request.phase for request in self.asked]


def scripted(**lines: Line | Iterable[Line]) -> ScriptedReasoning:
    """A model that says one thing after another in each phase; what a phase lacks is the usual."""
    usual: dict[str, Line] = {
        "clarify": CLEAR,
        "discover": FOUND,
        "plan": plan_of(case("greets", "hello")),
        "patch": WRITTEN,
        "converge": DONE,
    }
    return ScriptedReasoning({phase: _queue(lines.get(phase, usual[phase])) for phase in PHASES})


def phase_of(system: str) -> str:
    """The phase that a system prompt is of."""
    return next(phase for phase in PHASES if f"# Phase: {phase}\n" in system)


def next_line(lines: "deque[Line]") -> Line:
    """The next line; the last one stays."""
    return lines.popleft() if len(lines) > 1 else lines[0]


def _queue(lines: Line | Iterable[Line]) -> "deque[Line]":
    return deque([lines] if isinstance(lines, str | Calls | Exception) else lines)
