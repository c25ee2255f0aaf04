"""What an anonymous visitor types never chooses which secret a flow sends, on both databases and a real wire."""

import asyncio
import json
from collections.abc import AsyncIterator
from ipaddress import ip_network
from typing import Any

import httpx2
import pytest

from headgate.foundation.settings import HttpSettings, RateLimitSettings, Settings
from tests.integration.features.runs.test_widget import GREET, Visitor
from tests.support.patience import PATIENCE_SECONDS
from tests.support.people import BASE
from tests.support.team import Team, team
from tests.support.web_server import WebServer, answer, web_server

VALUE = "the-organisations-own-token-0123456789"
FORM = [{"id": "customer", "label": "Customer", "required": True}]
TYPED = ["MY_TOKEN", "Bearer MY_TOKEN", '{"secret": "MY_TOKEN"}', '{"secret": "MY_TOKEN", "scheme": "Bearer"}']
HEADERS: list[dict[str, Any]] = [
    {"X-Customer": "{{flow_input.customer}}"},
    {"X-Customer": "Bearer {{flow_input.customer}}"},
    {"Authorization": "{{flow_input.customer}}"},
    {"Authorization": "Bearer {{flow_input.customer}}"},
    {"Cookie": "{{earlier.output}}"},
    {"X-Api-Key": "{{earlier.output}}"},
    {"Authorization": "Token {{earlier.output}}"},
]
POLICIES = {"input": ("http_get", "input_config"), "output": ("http_post", "output_config")}


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with web_server() as found:
        found.anything = answer(200, "ok", content_type="text/plain")
        yield found


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    http = HttpSettings(allowed_internal_cidrs=[ip_network("127.0.0.0/8")])
    async with team(settings, http=http, rate_limits=RateLimitSettings(widget_per_minute=1000)) as found:
        stored = await found.ask("admin", "PUT", "/variables/MY_TOKEN", json={"value": VALUE})
        assert stored.status_code == 200
        yield found


@pytest.fixture
async def http(us: Team) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(app=us.app, raise_app_exceptions=False, client=("192.0.2.7", 5))
    async with httpx2.AsyncClient(transport=transport, base_url=BASE.removesuffix("/api/v1")) as made:
        yield made


def requesting(component: str, server: WebServer, headers: dict[str, Any]) -> list[dict[str, Any]]:
    """The step that makes a request: a component, or any step by its policy."""
    if component in POLICIES:
        source, member = POLICIES[component]
        rule = {"input_source": source} if component == "input" else {"output_mode": source}
        call = {"url": server.url("/hook"), "headers": headers}
        return [{"id": "call", "type": "ChatOutput", "policy": {**rule, member: call}}]
    return [{"id": "call", "type": component, "params": {"url": server.url("/hook"), "headers": headers}}]


def flow(component: str, server: WebServer, headers: dict[str, Any]) -> dict[str, Any]:
    earlier = {"id": "earlier", "type": "TextInput", "params": {"text": "{{flow_input.customer}}"}}
    into = {"HTTPRequest": "body", "WebhookOut": "payload"}.get(component, "input")
    edge = {"source": "earlier", "output": "text", "target": "call", "input": into}
    return GREET | {"nodes": [earlier, *requesting(component, server, headers)], "edges": [edge], "form": FORM}


class TestVisitors:
    @pytest.mark.parametrize("component", ["HTTPRequest", "WebhookOut", "input", "output"])
    async def test_get_no_secret_sent_by_typing_its_name(
        self, us: Team, http: httpx2.AsyncClient, server: WebServer, component: str
    ) -> None:
        for headers in HEADERS:
            await self.visit(us, http, server, component, headers)

    async def visit(
        self, us: Team, http: httpx2.AsyncClient, server: WebServer, component: str, headers: dict[str, Any]
    ) -> None:
        server.requests.clear()
        made = await us.make("editor", "/flows", definition=flow(component, server, headers))
        await us.make("publisher", f"/flows/{made['id']}/publish")
        visitor = Visitor(http, str(made["id"]))
        await visitor.load()
        for typed in TYPED:
            events = await visitor.events(await visitor.run(form_data={"customer": typed}))
            assert VALUE not in events.text
        async with asyncio.timeout(PATIENCE_SECONDS):
            await server.received(len(TYPED))
        ((name, template),) = headers.items()
        prefix = template.partition("{{")[0]
        assert {one.headers[name.lower()] for one in server.requests} == {prefix + typed for typed in TYPED}
        assert VALUE not in "".join(json.dumps(one.headers) + one.body.decode() for one in server.requests)
