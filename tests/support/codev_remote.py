"""The other side of `codev_process`: places and models of many sessions on one loopback server, which can hang.

A session is known by its marker: the name of its place, and a word in its requirement. Where it is to hang, it does so
once: before what is asked of it is done, or after, when only the answer is lost.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from headgate.agents.codev.domain import Change, Held
from headgate.agents.codev.errors import WriteConflict
from headgate.foundation.errors import HeadgateError
from headgate.graph.cases import TestCase
from tests.support.codev_place import FakePlace
from tests.support.codev_play import Wire
from tests.support.codev_script import ScriptedReasoning, phase_of
from tests.support.openai_server import OpenAIServer
from tests.support.scripted_server import Asked, Pause, Reply, Script, ScriptedServer, json_reply

MARKER = re.compile(r"session-(\w+)-marked")
HANG = Reply((Pause(3600),), chunked=True)


@dataclass(frozen=True, slots=True)
class Hang:
    """Where a session hangs: a phase of its model, or a method of its place, at which time it is asked."""

    what: str
    done: bool = False
    """Whether it was done, and only the answer is lost."""
    time: int = 1


@dataclass(slots=True)
class Marked:
    """One session: its place, its model, where it hangs, and what was asked."""

    name: str
    script: ScriptedReasoning
    hang: Hang | None = None
    place: FakePlace = field(default_factory=FakePlace)
    asked: Counter[str] = field(default_factory=Counter)
    hung: bool = False

    @property
    def requirement(self) -> str:
        return f"Greet people (session-{self.name}-marked)."

    def hangs(self, what: str) -> bool:
        """Count that something is asked, and whether it is not answered."""
        self.asked[what] += 1
        if self.hung or self.hang is None or self.hang.what != what or self.asked[what] != self.hang.time:
            return False
        self.hung = True
        return True


@dataclass(slots=True)
class Elsewhere:
    """The places and models of all sessions."""

    openai: OpenAIServer
    places: ScriptedServer
    sessions: dict[str, Marked] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.openai.sort, self.places.sort = self._model, self._place

    def _model(self, asked: Asked) -> Script:
        found = MARKER.search(str(asked.body["messages"]))
        assert found is not None, "a prompt that does not say what is wanted"
        session = self.sessions[found[1]]
        if session.hangs(phase_of(asked.body["messages"][0]["content"])):
            return lambda _asked: HANG
        return Wire(self.openai, session.script).answer(asked)

    def _place(self, asked: Asked) -> Script:
        _, name, method = asked.path.split("/")
        session = self.sessions[name]
        hangs = session.hangs(method)
        if not hangs or (session.hang is not None and session.hang.done):
            answer = _answer(lambda: DOES[method](session.place, asked.body))
        return lambda _asked: HANG if hangs else json_reply(answer)


def _answer(do: Callable[[], Any]) -> dict[str, Any]:
    try:
        return {"value": do()}
    except HeadgateError as error:
        return {"error": type(error).__name__, "message": error.detail}


def _write(place: FakePlace, given: dict[str, Any]) -> Any:
    before = Held(**given["before"]) if given["before"] is not None else None
    if before is not None and place.flows[before.flow_id].mark != before.mark:
        raise WriteConflict(before.name)
    return asdict(asyncio.run(place.write(Change(**given["change"]), before, given["token"])))


def _find(place: FakePlace, given: dict[str, Any]) -> Any:
    found = asyncio.run(place.find_written(given["token"]))
    return asdict(found) if found is not None else None


def _run(place: FakePlace, given: dict[str, Any]) -> Any:
    case = TestCase(name="case", text=given["text"])
    return asdict(asyncio.run(place.run_case(given["flow_id"], case, session=given["session"])))


DOES: dict[str, Callable[[FakePlace, dict[str, Any]], Any]] = {
    "open": lambda _place, _given: None,
    "read": lambda place, given: asdict(asyncio.run(place.read(given["flow_id"]))),
    "write": _write,
    "find_written": _find,
    "missing_credentials": lambda _place, _given: None,
    "run_case": _run,
    "list_components": lambda _place, _given: {"components": ["Answer"]},
}
