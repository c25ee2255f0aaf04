"""TLS, certificate authorities and custom code through the operator's proxy, which runs in a separate process."""

import asyncio
import socket
from collections.abc import Sequence
from ipaddress import ip_network
from pathlib import Path

import pytest
import requests

from headgate.foundation.guarded_http import AddressPolicy, CertificateRefused, GuardedHttp, ProxyFailed
from headgate.foundation.guarded_http.requests_session import guarded_session
from headgate.foundation.guarded_http.targets import parse_target
from headgate.foundation.settings import HttpSettings, OutgoingSettings
from headgate.sandbox.broker.connecting import connect
from headgate.sandbox.broker.rules import Grant, NetworkRules
from headgate.sandbox.hosts import read_pattern
from tests.support.certificates import tls_pair
from tests.support.connect_proxy import connect_proxy
from tests.support.web_server import answer, web_server

FAR = "10.99.0.1"


async def nobody(host: str, port: int) -> Sequence[str]:
    """A machine that cannot look names up."""
    raise socket.gaierror(socket.EAI_NONAME, "unknown")


async def far(host: str, port: int) -> Sequence[str]:
    return [FAR]


async def fetch(outgoing: OutgoingSettings, url: str) -> str:
    http = GuardedHttp(HttpSettings(), outgoing, resolver=nobody, pauses=())
    try:
        return (await http.request("GET", url)).text
    finally:
        await http.close()


class TestTls:
    async def test_reaches_from_end_to_end_and_trusts_the_authorities_of_the_operator(self, tmp_path: Path) -> None:
        served, _ = tls_pair(tmp_path, "api.test")
        authority = tmp_path / "api.test.pem"
        with connect_proxy(tmp_path, names={"api.test": "127.0.0.1"}) as proxy:
            async with web_server(tls=served) as server:
                server.on("/", answer(200, "hello"))
                url = f"https://api.test:{server.port}/"
                trusting = proxy.settings(proxy_resolves_names=True, ca_file=authority)
                assert await fetch(trusting, url) == "hello"
                with pytest.raises(CertificateRefused):
                    await fetch(proxy.settings(proxy_resolves_names=True), url)
                with guarded_session([], trusting, resolver=nobody) as session:
                    assert (await asyncio.to_thread(session.get, url, timeout=10)).text == "hello"
                with (
                    guarded_session([], proxy.settings(proxy_resolves_names=True), resolver=nobody) as session,
                    pytest.raises(requests.exceptions.SSLError),
                ):
                    await asyncio.to_thread(session.get, url, timeout=10)
                assert set(proxy.targets) == {f"api.test:{server.port}"}


class TestCustomCode:
    """The broker hands over a socket that is already through the proxy."""

    async def test_is_given_a_connection_through_the_proxy(self, tmp_path: Path) -> None:
        with connect_proxy(tmp_path, names={FAR: "127.0.0.1"}) as proxy:
            async with web_server() as server:
                server.on("/", answer(200, "hello"))
                connection = await self._connect(proxy.settings(), server.port)
                with connection:
                    connection.settimeout(10)
                    connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                    assert b"200" in await asyncio.to_thread(connection.recv, 100)
                assert proxy.targets == [f"{FAR}:{server.port}"]

    async def test_is_told_of_the_proxy_that_is_down(self) -> None:
        with pytest.raises(ProxyFailed, match=r"127\.0\.0\.9:1 does not accept"):
            await self._connect(OutgoingSettings(proxy_url="http://127.0.0.9:1"), 80)

    @staticmethod
    async def _connect(outgoing: OutgoingSettings, port: int) -> socket.socket:
        pattern = (read_pattern(f"api.test:{port}"),)
        policy = AddressPolicy.of(outgoing, [ip_network(f"{FAR}/32")])
        grant = Grant(pattern, NetworkRules(pattern, policy, far))
        return await connect(grant, parse_target(f"http://api.test:{port}/"), 10)
