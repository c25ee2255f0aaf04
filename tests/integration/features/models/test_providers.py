"""The conformance suite on every provider whose package is installed here."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

import pytest

from headgate.features.models.providers import PROVIDERS, is_installed
from tests.integration.features.models.conformance import Adapter, ChatModelConformance, ProviderServer, Rig
from tests.support.anthropic_server import AnthropicServer
from tests.support.openai_server import OpenAIServer
from tests.support.scripted_server import Script


class ToollessServer(OpenAIServer):
    """A server that knows no tool calls and holds to the JSON schema it is given."""

    def tool_call(self, name: str, arguments: Mapping[str, Any], *, tokens: tuple[int, int] = (9, 5)) -> Script:
        return self.text(json.dumps({"name": name, "arguments": dict(arguments)}), tokens=tokens)


class GroqServer(OpenAIServer):
    """OpenAI's protocol with Groq's way of counting; its package asks for structured output as a tool call."""

    usage_beside_the_end = True

    def structured(self, value: Mapping[str, Any]) -> Script:
        return lambda asked: self.tool_call(asked.body["tools"][0]["function"]["name"], value)(asked)


ADAPTERS = [
    Adapter(
        name="openai",
        server=OpenAIServer,
        provider="openai",
        model="gpt-4o-mini",
        key_variable="OPENAI_API_KEY",
        address_variable="OPENAI_BASE_URL",
        key_header="authorization",
        key_prefix="Bearer ",
    ),
    Adapter(
        name="anthropic",
        server=AnthropicServer,
        provider="anthropic",
        model="claude-haiku-4-5",
        key_variable="ANTHROPIC_API_KEY",
        address_variable="ANTHROPIC_BASE_URL",
        key_header="authorization",
        key_prefix="Bearer ",
    ),
    Adapter(
        name="openai_compatible",
        server=OpenAIServer,
        provider="openai_compatible",
        model="house-model",
        key_variable="OPENAI_COMPATIBLE_API_KEY",
        address_variable="OPENAI_COMPATIBLE_BASE_URL",
        key_header="authorization",
        key_prefix="Bearer ",
    ),
    Adapter(
        name="openai_compatible_with_tool_shim",
        server=ToollessServer,
        provider="openai_compatible",
        model="house-model",
        key_variable="OPENAI_COMPATIBLE_API_KEY",
        address_variable="OPENAI_COMPATIBLE_BASE_URL",
        key_header="authorization",
        key_prefix="Bearer ",
        params={"tool_shim": True},
    ),
    Adapter(
        name="groq",
        server=GroqServer,
        provider="groq",
        model="llama-3.1-8b-instant",
        key_variable="GROQ_API_KEY",
        address_variable="GROQ_BASE_URL",
        key_header="authorization",
        key_prefix="Bearer ",
    ),
]
INSTALLED = [adapter for adapter in ADAPTERS if is_installed(PROVIDERS[adapter.provider])]


@pytest.fixture(params=INSTALLED, ids=lambda adapter: str(adapter.name))
def rig(request: pytest.FixtureRequest) -> Iterator[Rig]:
    adapter: Adapter = request.param
    with adapter.server() as server:
        yield Rig(adapter, cast("ProviderServer", server))


class TestProviders(ChatModelConformance):
    """Every adapter."""
