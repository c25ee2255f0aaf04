"""The model of `benchmarks.assistant`, without latency, over OpenAI's protocol from another process.

`python -m benchmarks.assistant_model` is that process.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from tests.integration.agents.assistant.scenarios.model import is_classification
from tests.support.openai_server import OpenAIServer
from tests.support.scripted_server import Asked, Script

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

    def __init__(self, orders: IO[str], answers: IO[str]) -> None:
        self._orders, self._answers = orders, answers
        self.base_url: str = json.loads(answers.readline())

    def bodies(self) -> list[dict[str, Any]]:
        """Return what it was sent since the last call."""
        print("bodies", file=self._orders, flush=True)
        bodies: list[dict[str, Any]] = json.loads(self._answers.readline())
        return bodies


@contextmanager
def wire_model() -> Iterator[WireModel]:
    """A server that speaks OpenAI's protocol, in its own process; it ends with its standard input."""
    command = [sys.executable, "-m", "benchmarks.assistant_model"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield WireModel(process.stdin, process.stdout)


def _serve() -> None:
    with OpenAIServer() as server:
        server.sort = lambda asked: _next(server, asked)
        print(json.dumps(server.base_url), flush=True)
        while sys.stdin.readline():
            print(json.dumps([asked.body for asked in server.asked]), flush=True)
            server.asked.clear()


def _next(server: OpenAIServer, asked: Asked) -> Script:
    if is_classification(asked):
        return server.structured({"translation": "build an echo", "intent": "build_flow"})
    done = sum(message["role"] == "tool" for message in asked.body["messages"])
    if done < TOOLS:
        return server.tool_call(*call_number(done))
    return server.text(BUILT)


if __name__ == "__main__":
    _serve()
