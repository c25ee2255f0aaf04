"""A model behind the real OpenAI client and a scripted server, and components checked in the real sandbox."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import pytest_asyncio
from langchain_core.language_models import BaseChatModel

from headgate.agents.assistant.generation.pipeline import Generation
from headgate.agents.assistant.turn.turn import Turn
from headgate.components import BUILTINS
from headgate.features.access.principal import LOCAL
from headgate.features.catalog.own.check import ComponentChecker
from headgate.features.catalog.own.overlay import Overlay
from headgate.features.catalog.registry import Registry
from headgate.features.catalog.search import component_index
from headgate.features.models.service import create_chat_model
from headgate.graph.model import Flow
from headgate.sandbox.limits import PoolSize
from headgate.sandbox.pool import SandboxPool
from headgate.sdk import Model
from headgate.sdk.crossing import DESCRIBE, PRODUCE
from headgate.toolkit.workbench import Workbench
from tests.support.keys import GivenKeys
from tests.support.openai_server import OpenAIServer
from tests.support.web import open_web

REGISTRY = Registry(BUILTINS)
INDEX = component_index(REGISTRY)


@pytest.fixture
async def model(openai: OpenAIServer) -> BaseChatModel:
    keys = GivenKeys(OPENAI_API_KEY="sk-test-0123456789abcdef", OPENAI_BASE_URL=openai.base_url)
    return await create_chat_model(
        Model(provider="openai", name="gpt-5-mini", params={"max_retries": 0}), keys, web=open_web()
    )


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def checker() -> AsyncIterator[ComponentChecker]:
    pool = SandboxPool(size=PoolSize(running=2, spare=1, idle=2), hosts=(DESCRIBE, PRODUCE))
    yield ComponentChecker(pool, REGISTRY)
    await pool.aclose()


@dataclass
class TurnFlow:
    """A turn with what it told."""

    turn: Turn
    told: list[dict[str, Any]] = field(default_factory=list)

    @property
    def steps(self) -> list[str]:
        return [event["step"] for event in self.told if event["event"] == "progress"]

    def event(self, step: str, number: int = 0) -> dict[str, Any]:
        return [event for event in self.told if event.get("step") == step][number]


@pytest.fixture
def desk() -> TurnFlow:
    flow = Flow()
    told: list[dict[str, Any]] = []
    bench = Workbench(principal=LOCAL, space_id=LOCAL.space_id, flow=flow, registry=Overlay(REGISTRY, INDEX))
    return TurnFlow(Turn(request="", principal=LOCAL, bench=bench, emit=told.append, before=flow), told)


@pytest.fixture
def generation(model: BaseChatModel, checker: ComponentChecker, desk: TurnFlow) -> Generation:
    return Generation(model, checker, desk.turn)
