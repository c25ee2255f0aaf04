"""Agent steps against a scripted provider, in this process or in one of its own."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headgate.components.agent import Agent
from headgate.components.ai import AIStep
from headgate.components.classify import Classify
from headgate.components.clock import Wait
from headgate.components.structured import StructuredOutput
from headgate.components.web.requests import HTTPRequest
from headgate.features.models import service
from headgate.features.models.inputs import check_inputs
from headgate.features.runs.ports.origin import Origin
from headgate.foundation.settings import HttpSettings
from headgate.graph.model import Flow
from headgate.sdk import Component, File, Model, Recording, Text, Transcript, field, output
from tests.support.engine import COMPONENTS, make_flow
from tests.support.keys import GivenKeys
from tests.support.web import open_web


class Book(Component):
    """Books something outside: one line in a file, and the number of lines there."""

    effect = True

    what: str = field(default="", tool_mode=True)
    path: str = field(port=False)

    @output()
    def text(self) -> Text:
        with Path(self.path).open("a") as file:
            file.write(f"{self.what} {self.ctx.idempotency_key()}\n")
        return f"booking {len(Path(self.path).read_text().splitlines())} of {self.what}"


AGENT_COMPONENTS: tuple[type[Component], ...] = (
    *COMPONENTS,
    Agent,
    AIStep,
    StructuredOutput,
    Classify,
    Book,
    HTTPRequest,
    Wait,
)
MODEL = {"provider": "openai", "name": "gpt-5-mini", "params": {"max_retries": 0}}


class ServerModels:
    """Chat models of a provider at an address."""

    def __init__(self, base_url: str, http: HttpSettings | None = None) -> None:
        self._http = http
        self._keys = GivenKeys(OPENAI_API_KEY="sk-test-0123456789abcdef", OPENAI_BASE_URL=base_url)

    async def chat_model(self, origin: Origin, model: Model) -> Any:
        return await service.create_chat_model(model, self._keys, web=open_web(self._http))

    async def transcribe(self, origin: Origin, model: Model, audio: Recording) -> Transcript:
        raise NotImplementedError

    async def embed(self, origin: Origin, model: Model, texts: Sequence[str]) -> Any:
        raise NotImplementedError

    async def rerank(self, origin: Origin, model: Model, query: str, texts: Sequence[str]) -> Any:
        raise NotImplementedError

    def check_inputs(self, model: Model, files: Sequence[File], *, unreadable: bool = False) -> frozenset[str]:
        return check_inputs(model, files, unreadable=unreadable)


def agent_flow(folder: Path, **params: Any) -> Flow:
    """`start -> agent -> end`, the agent with a tool that has an outside effect."""
    return make_flow(
        {"start": "Start", "agent": "Agent", "book": "Book", "end": "Echo"},
        ["start.text -> agent.input", "book.tool -> agent.tools", "agent.response -> end.input"],
        agent={"model": MODEL, "instructions": "Book what is asked for.", **params},
        book={"path": str(folder / "bookings")},
    )


def bookings(folder: Path) -> list[str]:
    """What was booked, in order."""
    path = folder / "bookings"
    return [line.split()[0] for line in path.read_text().splitlines()] if path.exists() else []
