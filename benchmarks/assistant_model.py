"""The model of `benchmarks.assistant`, without latency: over OpenAI's protocol from another process, or in this one."""

import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

from tests.integration.agents.assistant.scenarios.model import is_classification
from tests.support.openai_server import OpenAIServer
from tests.support.scripted_model import ScriptedModel, calls, says
from tests.support.scripted_server import Asked, Script

from headgate.agents.assistant.intent.intents import Intent

TOOLS = 12
SPEC = """name: Echo
nodes:
  heard: ChatInput
  frame: PromptTemplate
    template: "{text}"
  said: ChatOutput
edges:
  heard.text -> frame.text
  frame.text -> said.input
"""
BUILT = "The flow is built."


def call_number(done: int) -> tuple[str, dict[str, Any]]:
    """The tool call after so many: a flow is built, then one of its values set anew each time."""
    if done == 0:
        return "build_flow", {"spec": SPEC}
    return "configure_component", {"node_id": "frame", "params": {"template": "{text} " + "!" * done}}


class WireModel:
    """The server's process: where it listens, and the bodies that it was sent."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self.base_url: str = pipe.recv()

    def bodies(self) -> list[dict[str, Any]]:
        """What it was sent since this was last asked."""
        self._pipe.send("bodies")
        found: list[dict[str, Any]] = self._pipe.recv()
        return found


@contextmanager
def wire_model() -> Iterator[WireModel]:
    """A server that speaks OpenAI's protocol, in a process of its own."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    try:
        yield WireModel(ours)
    finally:
        ours.send("end")
        process.join(10)


def _serve(pipe: Connection) -> None:
    with OpenAIServer() as server:
        server.sort = lambda asked: _next(server, asked)
        pipe.send(server.base_url)
        while pipe.recv() == "bodies":
            pipe.send([asked.body for asked in server.asked])
            server.asked.clear()


def _next(server: OpenAIServer, asked: Asked) -> Script:
    if is_classification(asked):
        return server.structured({"translation": "build an echo", "intent": "build_flow"})
    done = sum(message["role"] == "tool" for message in asked.body["messages"])
    if done < TOOLS:
        return server.tool_call(*call_number(done))
    return server.text(BUILT)


class InProcessModel(ScriptedModel):
    """Says the same without any wire, and knows what a request is."""

    def intent_of(self, _text: str) -> Intent:
        """Always a build."""
        return "build_flow"


def in_process(tools: int = TOOLS) -> InProcessModel:
    """A model for one turn of so many tool calls."""
    steps = [(name, given) for name, given in map(call_number, range(tools))]
    return InProcessModel(script=[*(calls(name, **given) for name, given in steps), says(BUILT)])
