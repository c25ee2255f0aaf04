"""Each outgoing client against redirects, spellings of internal addresses, rebinding names and proxies.

127.0.0.2 is the only public address. Names resolve through `socket.getaddrinfo`, whose answers are the attacker's. An
audit hook of the interpreter sees every connection that the process opens, by whichever library.
"""

import socket
import sys
from collections.abc import AsyncIterator, Iterable, Iterator
from itertools import cycle, product
from typing import Any, Self

import pytest

from headgate.features.models.local import sources
from headgate.features.models.providers import PROVIDERS
from headgate.foundation.guarded_http import AddressPolicy
from headgate.foundation.guarded_http.addresses import Network
from headgate.foundation.guarded_http.outgoing import OUTGOING, Redirects
from headgate.foundation.settings import OutgoingSettings
from tests.integration.foundation.ways_out import FAR, OPEN, PUBLIC, WAYS, Way, said_by, through
from tests.support.connect_proxy import ConnectProxy, connect_proxy
from tests.support.properties import THOROUGH
from tests.support.web_server import WebServer, answer, redirect, web_server

STATUSES = (301, 302, 303, 307, 308)
METADATA = (
    "169.254.169.254", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "0xa9.0xfe.43518", "[::ffff:169.254.169.254]",
    "[::ffff:a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]", "[fd00:ec2::254]", "[fe80::1]", "168.63.129.16", "100.100.100.200",
    "metadata.attacker.example", "mapped-metadata.attacker.example",
)  # fmt: skip
"""Link-local and the clouds' own services: closed to everybody, the operator's endpoints too."""
INTERNAL = (
    "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001", "0", "[::1]",
    "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[2002:7f00:1::]", "10.0.0.1", "167772161", "172.16.0.1", "192.168.1.1",
    "100.64.0.1", "[fc00::1]", "[fec0::1]", "localhost", "inside.attacker.example", "half.attacker.example",
)  # fmt: skip
NAMES = {
    "public.example": [[PUBLIC]],
    "metadata.attacker.example": [["169.254.169.254"]],
    "mapped-metadata.attacker.example": [["::ffff:169.254.169.254"]],
    "inside.attacker.example": [["10.0.0.1"]],
    "half.attacker.example": [[PUBLIC, "127.0.0.1"]],
    "localhost": [["127.0.0.1"]],
}
REBINDINGS = {
    "rebind-loopback.attacker.example": ["127.0.0.1"],
    "rebind-private.attacker.example": ["10.0.0.1"],
    "rebind-metadata.attacker.example": ["169.254.169.254"],
    "rebind-mapped.attacker.example": ["::ffff:127.0.0.1"],
    "rebind-six.attacker.example": ["::1"],
}
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
PROXY = "127.0.0.9"


RELAYED = {"127.0.0.1"}
"""Where the S3 library, which is compiled, finds the relay."""


class OpenToPublic(AddressPolicy):
    """That of a client that no setting opens a network to, with the one address that is public here."""

    @classmethod
    def of(cls, outgoing: OutgoingSettings, allowed: Iterable[Network] = ()) -> Self:
        return super().of(outgoing, [*allowed, *OPEN])


_watching: list[list[str]] = []


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.connect" and _watching and isinstance(arguments[1], tuple):
        _watching[-1].append(str(arguments[1][0]))


sys.addaudithook(_hook)


@pytest.fixture
def opened() -> Iterator[list[str]]:
    """Addresses that the process connects to."""
    _watching.append([])
    yield _watching[-1]
    _watching.pop()


@pytest.fixture(autouse=True)
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[list[str]]]:
    """The attacker's name server: each name's answers in turn, the last one for ever."""
    turns = {name: [list(one) for one in answers] for name, answers in NAMES.items()}
    real = socket.getaddrinfo

    def resolve(host: Any, port: Any, *_: Any, **__: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name not in turns:
            try:
                return real(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
            except OSError as error:
                raise socket.gaierror(socket.EAI_NONAME, "no such name") from error
        found = turns[name].pop(0) if len(turns[name]) > 1 else turns[name][0]
        families = [socket.AF_INET6 if ":" in one else socket.AF_INET for one in found]
        return [(kind, socket.SOCK_STREAM, 6, "", (one, port)) for kind, one in zip(families, found, strict=True)]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(sources, "AddressPolicy", OpenToPublic)
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
    return turns


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with web_server(PUBLIC) as found:
        yield found


def hosts_of(way: Way) -> tuple[str, ...]:
    """What may never be connected to when a flow, or a server, names it."""
    return METADATA if way.operator else METADATA + INTERNAL


every_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: str(way.id))


class TestTheBattery:
    def test_has_every_client_of_the_table(self) -> None:
        tried = {way.row.id for way in WAYS}
        assert {row.id for row in OUTGOING if row.through == "guard"} == tried

    def test_has_every_provider(self) -> None:
        own = {"anthropic", "watsonx"}  # by their library alone: they take no client
        tried = {way.id.rpartition("_")[0] for way in WAYS if way.row.id == "models"}
        assert {one.id for one in PROVIDERS.values() if one.client != "own"} - own <= tried

    @every_way
    async def test_reaches_what_is_public(self, way: Way, server: WebServer, opened: list[str]) -> None:
        server.anything = answer(200, "{}", content_type="application/json")
        await said_by(way.send, f"http://public.example:{server.port}")
        assert set(opened) == {PUBLIC}
        assert server.requests


@every_way
class TestEachClient:
    async def test_connects_to_no_internal_address(self, way: Way, opened: list[str]) -> None:
        for host in hosts_of(way):
            await said_by(way.send, f"http://{host}:1")
        assert opened == []

    async def test_is_led_nowhere_by_a_redirect(self, way: Way, server: WebServer, opened: list[str]) -> None:
        hosts = METADATA + INTERNAL
        for status, host in product(STATUSES, hosts) if THOROUGH else zip(cycle(STATUSES), hosts, strict=False):
            server.anything = redirect(f"http://{host}:1/secret", status)
            await said_by(way.send, f"http://{PUBLIC}:{server.port}")
        assert set(opened) == {PUBLIC}

    async def test_follows_redirects_as_the_table_says(self, way: Way, server: WebServer, opened: list[str]) -> None:
        server.anything = redirect(f"http://public.example:{server.port}/elsewhere", 307)
        await said_by(way.send, f"http://{PUBLIC}:{server.port}")
        followed = any(request.path == "/elsewhere" for request in server.requests)
        assert followed == (way.row.redirects is Redirects.CHECKED)

    async def test_is_not_fooled_by_a_name_that_turns(
        self, way: Way, server: WebServer, opened: list[str], names: dict[str, list[list[str]]]
    ) -> None:
        server.anything = answer(200, "{}", content_type="application/json", connection="close")
        for name, inside in REBINDINGS.items():
            for public_answers in (1, 2):
                names[name] = [*[[PUBLIC]] * public_answers, inside]
                await said_by(way.send, f"http://{name}:{server.port}")
        allowed = {PUBLIC} | ({"127.0.0.1", "10.0.0.1", "::1", "::ffff:127.0.0.1"} if way.operator else set())
        assert set(opened) <= allowed

    async def test_uses_no_proxy_of_the_environment(
        self, way: Way, server: WebServer, opened: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with web_server(PROXY) as proxy:
            for name in PROXIES:
                monkeypatch.setenv(name, proxy.origin)
            await said_by(way.send, f"http://public.example:{server.port}")
        assert set(opened) == {PUBLIC}


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectProxy]:
    folder, answers = tmp_path_factory.mktemp("proxy"), {"10.0.0.1": 502}
    with connect_proxy(
        folder, PROXY, user="headgate", password="pw:1", names={FAR: PUBLIC}, answers=answers
    ) as running:
        yield running


@pytest.fixture
def proxied(proxy: ConnectProxy, names: dict[str, list[list[str]]]) -> Iterator[ConnectProxy]:
    """Every client is made with the operator's proxy; it was asked for nothing yet."""
    proxy.record.write_text("")
    names["public.example"] = [[FAR]]
    with through(proxy.settings(proxy_user="headgate", proxy_password="pw:1")):
        yield proxy


def hosts_asked(proxy: ConnectProxy) -> set[str]:
    """The hosts that the proxy was asked to connect to."""
    return {target.rpartition(":")[0].strip("[]") for target in proxy.targets}


@every_way
class TestEachClientThroughTheProxyOfTheOperator:
    """The same attacks; what counts is whom the proxy was asked for, and that nothing went past it."""

    async def test_reaches_what_is_public_through_it_alone(
        self, way: Way, server: WebServer, proxied: ConnectProxy, opened: list[str]
    ) -> None:
        server.anything = answer(200, "{}", content_type="application/json")
        await said_by(way.send, f"http://public.example:{server.port}")
        assert server.requests
        assert (set(opened) - RELAYED, hosts_asked(proxied)) == ({PROXY}, {FAR})

    async def test_asks_it_for_no_internal_address(self, way: Way, proxied: ConnectProxy, opened: list[str]) -> None:
        for host in hosts_of(way):
            await said_by(way.send, f"http://{host}:1")
        assert (opened, proxied.targets) == ([], [])

    async def test_is_led_nowhere_by_a_redirect(
        self, way: Way, server: WebServer, proxied: ConnectProxy, opened: list[str]
    ) -> None:
        for status, host in zip(cycle(STATUSES), METADATA + INTERNAL, strict=False):
            server.anything = redirect(f"http://{host}:1/secret", status)
            await said_by(way.send, f"http://{FAR}:{server.port}")
        assert (set(opened) - RELAYED, hosts_asked(proxied)) == ({PROXY}, {FAR})

    async def test_is_not_fooled_by_a_name_that_turns(
        self,
        way: Way,
        server: WebServer,
        proxied: ConnectProxy,
        opened: list[str],
        names: dict[str, list[list[str]]],
    ) -> None:
        server.anything = answer(200, "{}", content_type="application/json", connection="close")
        for name, inside in REBINDINGS.items():
            names[name] = [[FAR], inside]
            await said_by(way.send, f"http://{name}:{server.port}")
        allowed = {FAR} | ({"10.0.0.1"} if way.operator else set())
        assert hosts_asked(proxied) <= allowed
        assert not any("example" in target for target in proxied.targets)

    async def test_goes_nowhere_else_when_it_is_down(
        self, way: Way, server: WebServer, opened: list[str], names: dict[str, list[list[str]]]
    ) -> None:
        names["public.example"] = [[FAR]]
        with through(OutgoingSettings(proxy_url=f"http://{PROXY}:1")):
            await said_by(way.send, f"http://public.example:{server.port}")
        assert set(opened) - RELAYED == {PROXY}
        assert server.requests == []
