"""Hosts that fail repeatedly are not asked by flows of their organisation, until one request succeeds again."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from pydantic import JsonValue

from headgate.features.access.principal import LOCAL
from headgate.features.mcptools.errors import McpServerFailed, McpToolFailed
from headgate.features.runs.circuits import service
from headgate.features.runs.circuits.errors import CircuitNotFound, CircuitOpen
from headgate.features.runs.circuits.service import Circuits, CircuitState
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.steps.circuits import CircuitHttp, host_of
from headgate.features.runs.steps.servers import StepServers
from headgate.features.runs.transitions import RunKey
from headgate.foundation.database import Database
from headgate.foundation.errors import Forbidden, HeadgateError, UpstreamFailed
from headgate.foundation.ids import new_id
from headgate.foundation.settings import HttpSettings
from headgate.sdk import HttpAnswer
from tests.integration.features.runs.conformance import until
from tests.support.rows import execute
from tests.unit.features.runs.steps.test_servers import UNMARKED

URL = "https://Example.org/orders"
HOST = "example.org:443"


class Server:
    """A client whose answers are given."""

    def __init__(self) -> None:
        self.answers: list[int | Exception] = []
        self.asked = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | str | None = None,
        timeout_seconds: float = 30.0,
    ) -> HttpAnswer:
        self.asked += 1
        await self.gate.wait()
        answer = self.answers.pop(0) if self.answers else 200
        if isinstance(answer, Exception):
            raise answer
        return HttpAnswer(status=answer, url=url, headers={}, content=b"", media_type="text/plain")


@pytest.fixture
def server() -> Server:
    return Server()


def client(database: Database, server: Server, tenant_id: str = LOCAL.tenant_id, **settings: Any) -> CircuitHttp:
    """A client of a process, as a step has it."""
    limits = HttpSettings(**{"circuit_failures": 3, **settings})
    return CircuitHttp(server, Circuits(database, limits), tenant_id)


async def ask(http: CircuitHttp) -> int | str:
    """Return the status of the answer, or the code of the error."""
    try:
        return (await http.request("GET", URL)).status
    except UpstreamFailed as error:
        return error.code
    except CircuitOpen as error:
        return error.code


async def let_time_pass(database: Database) -> None:
    """End the pause."""
    await execute(database, "UPDATE host_circuits SET open_until = 1 WHERE open_until IS NOT NULL")


class TestOpening:
    async def test_after_so_many_failures_in_a_row_the_host_is_not_asked(
        self, database: Database, server: Server
    ) -> None:
        server.answers = [503, UpstreamFailed("It is gone."), 500]
        http = client(database, server)
        assert [await ask(http) for _ in range(5)] == [503, "upstream_failed", 500, "circuit_open", "circuit_open"]
        assert server.asked == 3
        with pytest.raises(
            CircuitOpen, match=r"example\.org:443 failed 3 times in a row, last with http_500"
        ) as refused:
            await http.request("GET", URL)
        assert 1 <= int(str(refused.value.extra["retry_after_seconds"])) <= 30

    async def test_a_success_in_between_starts_the_count_again(self, database: Database, server: Server) -> None:
        server.answers = [500, 500, 404, 500, 500, 200]
        http = client(database, server)
        assert [await ask(http) for _ in range(6)] == [500, 500, 404, 500, 500, 200]

    async def test_failures_outside_the_window_do_not_count(self, database: Database, server: Server) -> None:
        server.answers = [500, 500, 500, 200]
        http = client(database, server)
        for _ in range(2):
            await ask(http)
        await execute(database, "UPDATE host_circuits SET since = 1")
        assert [await ask(http) for _ in range(2)] == [500, 200]

    async def test_a_refused_address_is_no_failure_of_the_host(self, database: Database, server: Server) -> None:
        server.answers = [Forbidden("This address is not allowed.")] * 4
        http = client(database, server, circuit_failures=1)
        for _ in range(4):
            with pytest.raises(Forbidden):
                await http.request("GET", URL)

    async def test_others_and_other_processes(self, database: Database, server: Server) -> None:
        server.answers = [500] * 3
        for _ in range(3):
            await ask(client(database, server))
        assert await ask(client(database, server)) == "circuit_open", "another process of the tenant"
        other = client(database, server, "another tenant")
        assert await ask(other) == 200

    async def test_can_be_switched_off(self, database: Database, server: Server) -> None:
        server.answers = [500] * 5
        http = client(database, server, circuit_failures=0)
        assert [await ask(http) for _ in range(5)] == [500] * 5

    async def test_counts_every_failure_of_many_at_once(self, database: Database, server: Server) -> None:
        server.answers = [500] * 10
        clients = [client(database, server, circuit_failures=100) for _ in range(10)]
        await asyncio.gather(*(ask(http) for http in clients))
        async with database.reading() as session:
            (circuit,) = await service.list_circuits(session, LOCAL)
        assert circuit.failures == 10


class TestHalfOpen:
    async def test_one_request_of_many_tries_again(self, database: Database, server: Server) -> None:
        server.answers = [500] * 3
        http = client(database, server)
        for _ in range(3):
            await ask(http)
        await let_time_pass(database)
        server.gate.clear()
        asking = [asyncio.create_task(ask(client(database, server))) for _ in range(8)]
        await until(lambda: asyncio.sleep(0, sum(task.done() for task in asking) == 7))
        assert server.asked == 4
        server.gate.set()
        outcomes = await asyncio.gather(*asking)
        assert sorted(map(str, outcomes)) == ["200"] + ["circuit_open"] * 7
        assert await ask(client(database, server)) == 200, "its success closes the circuit"

    async def test_the_success_of_a_request_from_before_it_opened_does_not_close_it(
        self, database: Database, server: Server
    ) -> None:
        circuits = Circuits(database, HttpSettings(circuit_failures=3))
        for _ in range(3):
            await circuits.enter(LOCAL.tenant_id, HOST)
            await circuits.failed(LOCAL.tenant_id, HOST, "http_500")
        with pytest.raises(CircuitOpen):
            await circuits.enter(LOCAL.tenant_id, HOST)
        await circuits.succeeded(LOCAL.tenant_id, HOST)
        assert await ask(client(database, server)) == "circuit_open"

    async def test_its_failure_opens_the_circuit_again(self, database: Database, server: Server) -> None:
        server.answers = [500] * 4
        http = client(database, server)
        for _ in range(3):
            await ask(http)
        await let_time_pass(database)
        assert [await ask(client(database, server)) for _ in range(2)] == [500, "circuit_open"]


class TestReset:
    async def test_by_a_user_lets_the_host_be_asked_again(self, database: Database, server: Server) -> None:
        server.answers = [500] * 3
        for _ in range(3):
            await ask(client(database, server))
        async with database.reading() as session:
            (circuit,) = await service.list_circuits(session, LOCAL)
        assert (circuit.host, circuit.state, circuit.failures, circuit.last_error) == (
            HOST,
            CircuitState.OPEN,
            3,
            "http_500",
        )
        async with database.writing() as session:
            await service.reset_circuit(session, LOCAL, HOST)
        assert await ask(client(database, server)) == 200
        with pytest.raises(CircuitNotFound):
            async with database.writing() as session:
                await service.reset_circuit(session, replace(LOCAL), HOST)


class ToolServer:
    """A connection to an MCP server whose answers are given."""

    def __init__(self, answers: list[Exception], url: str = "https://Tools.example.org/mcp") -> None:
        self.tools = [ToolOf("say")]
        self.url = url
        self.sampling = None
        self.answers = answers
        self.asked = 0

    async def connection(self, origin: Origin, server: str) -> "ToolServer":
        return self

    async def call(self, tool: str, arguments: Mapping[str, JsonValue], answers: object = None) -> JsonValue:
        self.asked += 1
        if self.answers:
            raise self.answers.pop(0)
        return "said"

    async def close(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True)
class ToolOf:
    """A tool as described by its server."""

    name: str
    description: str = ""
    input_schema: Mapping[str, JsonValue] = field(default_factory=dict)
    read_only: bool = True
    changed: bool = False


class TestMcpServers:
    @pytest.mark.parametrize(
        ("url", "host"), [("https://Tools.example.org/mcp", "tools.example.org:443"), ("", "mcp voice")]
    )
    async def test_that_fail_are_not_called_until_they_are_reset(self, database: Database, url: str, host: str) -> None:
        server = ToolServer([McpServerFailed("It is gone.")] * 3, url)
        assert [await self.say(database, server) for _ in range(5)] == ["mcp_server_failed"] * 3 + ["circuit_open"] * 2
        assert server.asked == 3
        async with database.writing() as session:
            await service.reset_circuit(session, LOCAL, host)
        assert await self.say(database, server) == "said"

    async def test_whose_tools_refuse_have_answered(self, database: Database) -> None:
        server = ToolServer([McpToolFailed("No such city.")] * 5)
        assert [await self.say(database, server) for _ in range(6)] == ["mcp_tool_failed"] * 5 + ["said"]

    async def say(self, database: Database, server: ToolServer) -> JsonValue:
        """Call the tool in a new step; return its answer, or the code of the error."""

        async def not_cancelled() -> None:
            """Continue."""

        circuits = Circuits(database, HttpSettings(circuit_failures=3))
        origin = Origin(RunKey(new_id(), LOCAL.tenant_id, new_id(), 1), "ask")
        (tool,) = await StepServers(origin, server, not_cancelled, UNMARKED, circuits=circuits).tools("voice")
        try:
            return await tool.call({})
        except HeadgateError as error:
            return error.code


def test_a_host_is_named_with_its_port() -> None:
    assert host_of("http://Example.org/a") == "example.org:80"
    assert host_of("https://example.org:8443") == "example.org:8443"
    assert host_of("http://[::1") == ""
