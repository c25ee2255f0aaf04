import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from headgate.foundation.errors import Invalid
from headgate.foundation.guarded_http.addresses import AddressPolicy
from headgate.graph.manifest import Manifest
from headgate.sandbox import libraries
from headgate.sandbox.broker.rules import NetworkRules
from headgate.sandbox.errors import CodeFailed, CodeTimedOut, CodeTooBig
from headgate.sandbox.hosts import read_pattern
from headgate.sandbox.limits import MIB, Limits, PoolSize
from headgate.sandbox.pool import SandboxPool
from headgate.sandbox.reading.manifest import derive_manifest
from headgate.sdk import CodeRunner
from headgate.sdk.crossing import DESCRIBE, PRODUCE
from tests.integration.sandbox.conftest import LIMITS
from tests.integration.sandbox.test_host_calls import GIVE, HOSTING
from tests.support.certificates import tls_pair
from tests.support.web_server import Received, WebServer, answer, redirect, web_server

pytestmark = [pytest.mark.isolated, pytest.mark.asyncio(loop_scope="module")]

LOOPBACK = AddressPolicy([ip_network("127.0.0.0/8")])
NAMES = {"api.test": ["127.0.0.1"], "other.test": ["127.0.0.1"], "inner.test": ["10.0.0.7"], "six.test": ["::1"]}


async def resolve(host: str, port: int) -> Sequence[str]:
    """A DNS of the tests' own."""
    if host not in NAMES:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")
    return NAMES[host]


def rules(*hosts: str, addresses: AddressPolicy = LOOPBACK) -> NetworkRules:
    """An operator who opens some hosts."""
    return NetworkRules(tuple(read_pattern(host) for host in hosts or ("*:*",)), addresses, resolve)


@asynccontextmanager
async def connected_pool(network: NetworkRules, limits: Limits = LIMITS) -> AsyncIterator[SandboxPool]:
    """A pool whose components may connect."""
    pool = SandboxPool(
        scan=False,
        limits=limits,
        size=PoolSize(running=2, spare=1, idle=2),
        hosts=(GIVE,),
        import_paths=(*libraries.installed_packages(), str(HOSTING)),
        network=network,
    )
    try:
        yield pool
    finally:
        await pool.aclose()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def open_pool() -> AsyncIterator[SandboxPool]:
    """Every host, as far as this machine."""
    async with connected_pool(rules()) as pool:
        yield pool


@pytest_asyncio.fixture(loop_scope="module")
async def server() -> AsyncIterator[WebServer]:
    async with web_server() as server:
        server.on("/", answer(200, "hello", content_type="text/plain"))
        yield server


async def give(
    pool: SandboxPool | CodeRunner, code: str, inputs: Any = None, *hosts: str, seconds: float = 10.0
) -> Any:
    """What `run(inputs)` gives; the manifest names these hosts, and what the code imports."""
    manifest = Manifest(derive_manifest(code).imports, tuple(hosts))
    runner = pool.runner("alice") if isinstance(pool, SandboxPool) else pool
    return await runner.call_host(code, GIVE, {"inputs": inputs}, manifest=manifest, timeout_seconds=seconds)


FETCHES = {
    "urllib": "import urllib.request\ndef run(url): return urllib.request.urlopen(url, timeout=5).read().decode()",
    "httpx": "import httpx\ndef run(url): return httpx.get(url).text",
    "httpx2": "import httpx2\ndef run(url): return httpx2.get(url).text",
    "httpx2, asynchronous": """
import httpx2
async def run(url):
    async with httpx2.AsyncClient() as client:
        return (await client.get(url)).text
""",
    "requests": "import requests\ndef run(url): return requests.get(url, timeout=5).text",
    "asyncio streams": """
import asyncio, urllib.parse
async def run(url):
    parts = urllib.parse.urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port, ssl=parts.scheme == "https" or None)
    writer.write(b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
    await writer.drain()
    head = await reader.readuntil(b"\\r\\n\\r\\n")
    writer.close()
    return (await reader.readexactly(5)).decode()
""",
    "http.client": """
import http.client, urllib.parse
def run(url):
    parts = urllib.parse.urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname, parts.port, timeout=5)
    connection.request("GET", "/")
    return connection.getresponse().read().decode()
""",
}
CLIENTS = pytest.mark.parametrize("client", sorted(FETCHES))


class TestClients:
    """What everybody fetches with works as it is."""

    @CLIENTS
    async def test_fetch(self, open_pool: SandboxPool, server: WebServer, client: str) -> None:
        assert await give(open_pool, FETCHES[client], f"http://api.test:{server.port}/", f"api.test:{server.port}") == (
            "hello"
        )

    async def test_fetch_over_tls(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        served, _ = tls_pair(tmp_path, "api.test")
        authority = Path("/tmp") / f"headgate-test-{tmp_path.name}.pem"  # workers' users cannot walk to tmp_path
        chain = (tmp_path / "api.test.pem").read_text()
        authority.write_text(chain[chain.index("-----BEGIN CERTIFICATE") :])
        monkeypatch.setenv("SSL_CERT_FILE", str(authority))
        try:
            async with web_server(tls=served) as server, connected_pool(rules()) as pool:
                server.on("/", answer(200, "hello"))
                host = f"api.test:{server.port}"
                for client in sorted(set(FETCHES) - {"requests"}):  # it brings its own authorities
                    assert await give(pool, FETCHES[client], f"https://{host}/", host) == "hello", client
                told = f"timeout=5, verify={str(authority)!r}"
                verify = f"import requests\ndef run(url): return requests.get(url, {told}).text"
                assert await give(pool, verify, f"https://{host}/", host) == "hello"
        finally:
            authority.unlink()

    async def test_are_told_when_a_certificate_is_not_trusted(self, open_pool: SandboxPool, tmp_path: Path) -> None:
        served, _ = tls_pair(tmp_path, "api.test")
        async with web_server(tls=served) as server:
            host = f"api.test:{server.port}"
            with pytest.raises(CodeFailed, match="CERTIFICATE_VERIFY_FAILED"):
                await give(open_pool, FETCHES["urllib"], f"https://{host}/", host)


class TestComponent:
    """The platform's own functions on a component that fetches with `self.ctx.http`."""

    CODE = """
from typing import ClassVar
from headgate.sdk import Component, Text, field, output

class Fetch(Component):
    'Fetches a page.'

    hosts: ClassVar[tuple[str, ...]] = ("api.test:{port}",)
    path: Text = field(label="Path")

    @output()
    async def page(self) -> Text:
        answer = await self.ctx.http.request("GET", "http://api.test:{port}" + self.path)
        return answer.text
"""

    async def test_fetches_what_its_manifest_names(self, server: WebServer) -> None:
        code = self.CODE.replace("{port}", str(server.port))
        manifest = derive_manifest(code)
        assert manifest == Manifest(("headgate", "typing"), (f"api.test:{server.port}",))
        pool = SandboxPool(network=rules())
        try:
            runner = pool.runner("alice")
            described = await runner.call_host(code, DESCRIBE, {}, manifest=manifest)
            assert isinstance(described, dict)
            assert described["class_name"] == "Fetch"
            asked: dict[str, Any] = {"values": {"path": {"json": "/"}}, "outputs": ["page"]}
            made = await runner.call_host(code, PRODUCE, asked, manifest=manifest)
            assert isinstance(made, dict)
            assert made["outputs"] == {"page": {"value": "hello"}}
            with pytest.raises(CodeFailed, match="is not one of the hosts in the code's manifest"):
                await runner.call_host(
                    code + "# 2", PRODUCE, asked, manifest=Manifest(("headgate", "typing"), ("b.test",))
                )
        finally:
            await pool.aclose()


class TestHosts:
    async def test_must_be_in_the_manifest(self, open_pool: SandboxPool, server: WebServer) -> None:
        with pytest.raises(
            CodeFailed, match=rf"other.test:{server.port} is not one of the hosts in the code's manifest"
        ):
            await give(open_pool, FETCHES["urllib"], f"http://other.test:{server.port}/", f"api.test:{server.port}")
        assert server.connections == 0

    async def test_must_be_allowed_by_the_operator(self, server: WebServer) -> None:
        host = f"api.test:{server.port}"
        async with connected_pool(rules("elsewhere.test")) as pool:
            with pytest.raises(CodeFailed, match=f"{host} is not one of the hosts that the operator allows"):
                await give(pool, FETCHES["urllib"], f"http://{host}/", host)
        assert server.connections == 0

    async def test_must_be_on_a_port_that_is_named(self, open_pool: SandboxPool, server: WebServer) -> None:
        with pytest.raises(CodeFailed, match="is not one of the hosts in the code's manifest"):
            await give(open_pool, FETCHES["urllib"], f"http://api.test:{server.port}/", "api.test")

    @pytest.mark.parametrize("host", ["inner.test", "10.0.0.7", "169.254.169.254", "[::ffff:10.0.0.7]", "six.test"])
    async def test_must_have_addresses_that_flows_may_reach(self, open_pool: SandboxPool, host: str) -> None:
        with pytest.raises(CodeFailed, match="are not allowed: its address is"):
            await give(open_pool, FETCHES["urllib"], f"http://{host}/", host)

    async def test_must_exist(self, open_pool: SandboxPool) -> None:
        with pytest.raises(CodeFailed, match=r"The host nowhere\.test does not exist"):
            await give(open_pool, FETCHES["urllib"], "http://nowhere.test/", "nowhere.test")

    async def test_must_answer(self, open_pool: SandboxPool, server: WebServer) -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            host = f"api.test:{unused.getsockname()[1]}"
            with pytest.raises(CodeFailed, match="does not accept a connection"):
                await give(open_pool, FETCHES["urllib"], f"http://{host}/", host)

    async def test_are_followed_to_others_of_the_manifest_only(self, open_pool: SandboxPool, server: WebServer) -> None:
        mine, other = f"api.test:{server.port}", f"other.test:{server.port}"
        server.on("/away", redirect(f"http://{other}/"))
        with pytest.raises(CodeFailed, match="is not one of the hosts in the code's manifest"):
            await give(open_pool, FETCHES["urllib"], f"http://{mine}/away", mine)
        assert await give(open_pool, FETCHES["urllib"], f"http://{mine}/away", mine, other) == "hello"

    async def test_that_are_none_are_refused_before_anything_runs(self, open_pool: SandboxPool) -> None:
        with pytest.raises(Invalid):
            await give(open_pool, "def run(inputs): return 1", None, "a b")


class TestNoNetwork:
    CODE = "import socket\ndef run(inputs): return socket.create_connection(tuple(inputs), 2).getpeername()"

    async def test_is_what_code_without_hosts_has(self, server: WebServer) -> None:
        async with connected_pool(rules()) as pool:
            with pytest.raises(CodeFailed, match=r"PermissionError.*HEADGATE_SANDBOX__HOSTS"):
                await give(pool, self.CODE, ["127.0.0.1", server.port])
            assert pool._connected._launcher is None

    async def test_is_the_default_whatever_the_manifest_says(self, server: WebServer) -> None:
        async with connected_pool(NetworkRules()) as pool:
            with pytest.raises(CodeFailed, match="PermissionError"):
                await give(pool, self.CODE, ["127.0.0.1", server.port], f"127.0.0.1:{server.port}")
        assert server.connections == 0


class TestLimits:
    async def test_hold_for_the_number_of_connections(self, server: WebServer) -> None:
        code = """
import socket
def run(port):
    kept = [socket.create_connection(("api.test", port), 5) for _ in range(3)]
    try:
        socket.create_connection(("api.test", port), 5)
    except PermissionError as error:
        return [len(kept), str(error)]
"""
        async with connected_pool(rules(), Limits(memory_bytes=256 * MIB, connections=3)) as pool:
            count, message = await give(pool, code, server.port, f"api.test:{server.port}")
            assert (count, "opened 3 connections" in message) == (3, True)
            again, _ = await give(pool, code, server.port, f"api.test:{server.port}")
            assert again == 3  # each call has its own

    async def test_hold_for_the_bytes(self, server: WebServer) -> None:
        async def endless(_request: Received, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                writer.write(b"x" * 65536)
                await writer.drain()

        server.on("/endless", endless)
        code = """
import urllib.request
def run(url):
    with urllib.request.urlopen(url) as body:
        while body.read(65536): pass
"""
        async with connected_pool(rules(), Limits(memory_bytes=256 * MIB, network_bytes=MIB)) as pool:
            with pytest.raises(CodeTooBig, match="connections transferred more than 1048576 bytes"):
                await give(pool, code, f"http://api.test:{server.port}/endless", f"api.test:{server.port}")

    async def test_hold_for_the_time_of_a_silent_server(self, open_pool: SandboxPool, server: WebServer) -> None:
        async def silent(_request: Received, _writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(30)

        server.on("/silent", silent)
        url, host = f"http://api.test:{server.port}/silent", f"api.test:{server.port}"
        with pytest.raises(CodeTimedOut):
            await give(
                open_pool, "import urllib.request\ndef run(url): urllib.request.urlopen(url)", url, host, seconds=0.3
            )

    async def test_end_connections_with_the_call(self, open_pool: SandboxPool, server: WebServer) -> None:
        code = """
import socket, os
kept = []
def run(port):
    if kept:
        return [os.getpid(), kept[0].recv(1).decode()]
    kept.append(socket.create_connection(("api.test", port), 5))
    return [os.getpid(), None]
"""
        runner = open_pool.runner("alice")
        first = await give(runner, code, server.port, f"api.test:{server.port}")
        second = await give(runner, code, server.port, f"api.test:{server.port}")
        assert second == [first[0], ""]  # the same worker, and its connection was closed
