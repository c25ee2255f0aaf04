"""The model of a conversation: a server that speaks a provider's protocol and answers as the scenario says."""

import json
import re
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from tests.integration.agents.assistant.scenarios.script import Answer, Intent, Protocol, components
from tests.support.anthropic_server import AnthropicServer
from tests.support.openai_server import OpenAIServer
from tests.support.scripted_server import Asked, Reply, Script

INTENTS = "off_topic"
"""Stands in every question what a request is, whichever way an answer is asked for, and nowhere else."""
NEVER = {"x-should-retry": "false"}
"""Both client libraries heed it: a fault of a scenario is told once."""
_RUN = re.compile(r'"run_id": ?"([0-9a-f-]{36})"')
_COMPONENT = re.compile(r"@component:(\w+)")


class Model:
    """Answers what it is asked; counts, and keeps what it was sent."""

    def __init__(self, protocol: Protocol, server: OpenAIServer | AnthropicServer) -> None:
        self.protocol = protocol
        self.server = server
        self.classified: list[Asked] = []
        self.asked: list[Asked] = []
        self._intent = Intent(intent="build_flow")
        self._answers: deque[Answer] = deque()
        server.sort = self._sort

    @property
    def left(self) -> list[Answer]:
        """Answers that nobody asked for."""
        return [answer for answer in self._answers if not answer.always]

    def begin(self, intent: Intent, answers: list[Answer]) -> None:
        """What to answer in the turn that follows."""
        self._intent, self._answers = intent, deque(answers)
        self.classified, self.asked = [], []

    def _sort(self, asked: Asked) -> Script:
        if is_classification(asked):
            self.classified.append(asked)
            return self._classification()
        self.asked.append(asked)
        if not self._answers:
            return lambda _asked: _named(self.server, "nothing is scripted for this request")
        return self._answer(self._answers[0] if self._answers[0].always else self._answers.popleft(), asked)

    def _classification(self) -> Script:
        if self._intent.raw is not None:
            ending = {True: "length", False: "stop"} if self.protocol == "openai" else {False: "end_turn"}
            return self.server.text(self._intent.raw, finish=ending[self._intent.cut])
        return self.server.structured({"translation": self._intent.translation, "intent": self._intent.intent})

    def _answer(self, answer: Answer, asked: Asked) -> Script:
        given = {name: _run_in(asked) if value == "@run" else filled(value) for name, value in answer.given.items()}
        if answer.fault is not None or answer.cut:
            call = answer.call or ""
            made = self.server.cut_in_call(call, given) if answer.cut else _fault(self.server, answer.fault or "")
            return lambda _asked: made
        if answer.together:
            assert isinstance(self.server, OpenAIServer)
            return self.server.tool_calls([(one.call or "", one.given) for one in answer.together])
        if answer.ends:
            return self._half(answer, given)
        if answer.thinks:
            return self._thought(answer, given)
        if answer.call is not None:
            return self.server.tool_call(answer.call, given)
        return self.server.text(filled(answer.says or ""))

    def _half(self, answer: Answer, given: dict[str, Any]) -> Script:
        """An answer that stops in the middle; a call in the last text of its arguments."""
        openai = self.protocol == "openai"
        limit = "length" if openai else "max_tokens"
        if answer.call is None:
            return self.server.text(filled(answer.says or ""), finish=limit)
        finish = limit if answer.ends == "at the limit" else "tool_calls" if openai else "tool_use"
        return self.server.half_call(answer.call, json.dumps(given)[:-6], finish=finish)

    def _thought(self, answer: Answer, given: dict[str, Any]) -> Script:
        """Thoughts come before the answer in Anthropic's protocol; a scenario with some is for that alone."""
        assert isinstance(self.server, AnthropicServer)
        if answer.call is not None:
            return self.server.tool_call(answer.call, given, thought=answer.thinks)
        return self.server.text(filled(answer.says or ""), thought=answer.thinks)


@contextmanager
def speaking(protocol: Protocol) -> Iterator[Model]:
    """A model that speaks a provider's protocol."""
    with OpenAIServer() if protocol == "openai" else AnthropicServer() as server:
        yield Model(protocol, server)


def is_classification(asked: Asked) -> bool:
    """Whether the model is asked what a request is."""
    body = asked.body
    if any(name == "search_components" for name in tool_names(asked)):
        return False
    system = [message for message in body.get("messages", ()) if message.get("role") in {"system", "developer"}]
    return INTENTS in words(
        {"system": system, **{one: body.get(one) for one in ("system", "tools", "response_format")}}
    )


def tool_names(asked: Asked) -> list[str]:
    """Names of the tools that the model was offered."""
    tools = asked.body.get("tools") or []
    return [(tool.get("function") or tool).get("name", "") for tool in tools]


def read_by(asked: Asked) -> str:
    """Every text that the model was sent, the descriptions of tools aside."""
    return words([asked.body.get("system"), asked.body.get("messages")])


def words(value: Any) -> str:
    """Every text in a JSON value, keys too, a line each."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "\n".join(f"{name}\n{words(item)}" for name, item in value.items())
    if isinstance(value, list):
        return "\n".join(words(item) for item in value)
    return "" if value is None else str(value)


def _run_in(asked: Asked) -> str:
    """The run that the model heard of last."""
    return str(_RUN.findall(read_by(asked))[-1])


def filled(value: Any) -> Any:
    """The value with the source of each component that it names."""
    if not isinstance(value, str):
        return value
    return _COMPONENT.sub(lambda match: components()[match[1]], value)


def _named(server: OpenAIServer | AnthropicServer, message: str) -> Reply:
    return server.error(400, message, headers=NEVER)


def _fault(server: OpenAIServer | AnthropicServer, kind: str) -> Reply:
    if kind == "malformed":
        return Reply((b'{"choices": [{"delta": ',), media_type="application/json", headers=NEVER)
    if kind == "hangs":
        return server.slow_stream(60)
    if kind == "no_such_model":
        return _for_once(server.no_such_model("gone"))
    if kind == "rate_limited":
        return _for_once(server.rate_limited(1))
    if kind == "wrong_key":
        return _for_once(server.wrong_key("Incorrect API key provided."))
    made: Reply = _for_once(getattr(server, kind)())
    return made


def _for_once(reply: Reply) -> Reply:
    return replace(reply, headers={**reply.headers, **NEVER})
