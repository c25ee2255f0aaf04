"""Where connections really go: one look-up, every address checked, TLS for the name."""

import asyncio
import socket
import ssl
from collections.abc import Sequence
from pathlib import Path

import httpcore2
import pytest

from headgate.foundation.guarded_http import AddressRefused, CertificateRefused, ConnectFailed, HostNotFound
from tests.support.certificates import tls_pair
from tests.support.web_server import WebServer, answer, redirect, web_server
from tests.unit.foundation.guarded_http.conftest import MakeClient


class ScriptedNames:
    """A resolver that answers in turn and remembers what it was asked; the last answer stays."""

    def __init__(self, *answers: list[str] | OSError) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(found, OSError):
            raise found
        return found


@pytest.fixture
def dialled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Addresses that were dialled. Public ones are not really called: they do not answer."""
    found: list[str] = []
    connect = httpcore2.AnyIOBackend.connect_tcp

    async def note(self: httpcore2.AnyIOBackend, host: str, *args: object) -> httpcore2.AsyncNetworkStream:
        found.append(host)
        if not host.startswith("127."):
            raise httpcore2.ConnectError("not called in tests")
        return await connect(self, host, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(httpcore2.AnyIOBackend, "connect_tcp", note)
    return found


class TestResolution:
    async def test_dials_the_checked_address_although_the_name_changed_meanwhile(
        self, make_client: MakeClient, dialled: list[str]
    ) -> None:
        names = ScriptedNames(["93.184.216.34"], ["127.0.0.1"])
        client = make_client(open_to="", client={"resolver": names, "pauses": ()})
        with pytest.raises(ConnectFailed):
            await client.request("GET", "http://rebinding.example/")
        assert (names.asked, dialled) == (["rebinding.example"], ["93.184.216.34"])

    async def test_reaches_the_server_of_the_first_answer_and_not_that_of_the_second(
        self, make_client: MakeClient
    ) -> None:
        names = ScriptedNames(["127.0.0.2"], ["127.0.0.1"])
        client = make_client(open_to="127.0.0.2/32", client={"resolver": names})
        async with web_server("127.0.0.2") as allowed:
            allowed.on("/", answer(200, "allowed"))
            found = await client.request("GET", f"http://rebinding.example:{allowed.port}/")
        assert found.text == "allowed"
        assert allowed.requests[0].headers["host"] == f"rebinding.example:{allowed.port}"
        assert names.asked == ["rebinding.example"]

    async def test_refuses_a_name_that_turned_to_loopback_before_a_retry(
        self, make_client: MakeClient, dialled: list[str]
    ) -> None:
        names = ScriptedNames(["93.184.216.34"], ["127.0.0.1"])
        with pytest.raises(AddressRefused):
            await make_client(open_to="", client={"resolver": names}).request("GET", "http://rebinding.example/")
        assert dialled == ["93.184.216.34"]

    async def test_refuses_a_name_that_turned_to_loopback_before_a_redirect(self, make_client: MakeClient) -> None:
        names = ScriptedNames(["127.0.0.2"], ["127.0.0.1"])
        client = make_client(open_to="127.0.0.2/32", client={"resolver": names})
        async with web_server("127.0.0.2") as allowed:
            allowed.on("/", redirect("http://rebinding.example:1/"))
            with pytest.raises(AddressRefused):
                await client.request("GET", f"http://rebinding.example:{allowed.port}/")

    @pytest.mark.parametrize("inner", ["127.0.0.1", "10.0.0.1", "::1", "::ffff:10.0.0.1", "fe80::1%eth0", "fd00::1"])
    async def test_refuses_a_name_with_a_single_refused_address(
        self, make_client: MakeClient, dialled: list[str], inner: str
    ) -> None:
        names = ScriptedNames(["93.184.216.34", "2606:4700::1", inner])
        client = make_client(open_to="", client={"resolver": names})
        with pytest.raises(AddressRefused, match=r"mixed\.example"):
            await client.request("GET", "http://mixed.example/")
        assert dialled == []

    async def test_tries_the_next_address_when_one_does_not_answer(
        self, server: WebServer, make_client: MakeClient, dialled: list[str]
    ) -> None:
        server.on("/", answer(200, "second"))
        client = make_client(client={"resolver": ScriptedNames(["93.184.216.34", "127.0.0.1"])})
        assert (await client.request("GET", f"http://two.example:{server.port}/")).text == "second"
        assert dialled == ["93.184.216.34", "127.0.0.1"]

    async def test_looks_nothing_up_for_an_address(self, server: WebServer, make_client: MakeClient) -> None:
        names = ScriptedNames(["93.184.216.34"])
        server.on("/", answer())
        await make_client(client={"resolver": names}).request("GET", server.url("/"))
        assert names.asked == []

    @pytest.mark.parametrize("addresses", [[], ["93.184.216.34"] * 33])
    async def test_refuses_no_address_and_absurdly_many(
        self, make_client: MakeClient, addresses: list[str], dialled: list[str]
    ) -> None:
        client = make_client(client={"resolver": ScriptedNames(addresses), "pauses": ()})
        with pytest.raises(HostNotFound):
            await client.request("GET", "http://odd.example/")
        assert dialled == []

    async def test_asks_again_when_the_look_up_failed_for_the_moment(
        self, server: WebServer, make_client: MakeClient, slept: list[float]
    ) -> None:
        server.on("/", answer())
        names = ScriptedNames(socket.gaierror(socket.EAI_AGAIN, "try again"), ["127.0.0.1"])
        await make_client(client={"resolver": names}).request("GET", f"http://slow.example:{server.port}/")
        assert len(slept) == 1


class TestTls:
    async def test_checks_the_certificate_against_the_name(self, tmp_path: Path, make_client: MakeClient) -> None:
        for_server, for_client = tls_pair(tmp_path, "good.example")
        asked: list[str | None] = []
        for_server.sni_callback = lambda _socket, name, _context: asked.append(name)
        client = make_client(client={"resolver": ScriptedNames(["127.0.0.1"]), "tls": for_client})
        async with web_server(tls=for_server) as server:
            server.on("/", answer(200, "safe"))
            found = await client.request("GET", f"https://good.example:{server.port}/")
        assert (found.text, asked) == ("safe", ["good.example"])

    @pytest.mark.parametrize("host", ["other.example", "127.0.0.1"])
    async def test_refuses_the_certificate_of_another_name(
        self, tmp_path: Path, make_client: MakeClient, slept: list[float], host: str
    ) -> None:
        for_server, for_client = tls_pair(tmp_path, "good.example")
        client = make_client(client={"resolver": ScriptedNames(["127.0.0.1"]), "tls": for_client})
        async with web_server(tls=for_server) as server:
            with pytest.raises(CertificateRefused, match=host):
                await client.request("GET", f"https://{host}:{server.port}/")
        assert (server.requests, slept) == ([], [])

    async def test_trusts_no_unknown_authority(self, tmp_path: Path, make_client: MakeClient) -> None:
        for_server, _ = tls_pair(tmp_path, "good.example")
        client = make_client(client={"resolver": ScriptedNames(["127.0.0.1"])})
        async with web_server(tls=for_server) as server:
            with pytest.raises(CertificateRefused):
                await client.request("GET", f"https://good.example:{server.port}/")
        assert server.requests == []

    async def test_reports_a_server_that_speaks_no_tls(self, make_client: MakeClient) -> None:
        async def speak_http(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(answer(400))
            writer.close()

        client = make_client(client={"tls": ssl.create_default_context(), "pauses": ()})
        async with await asyncio.start_server(speak_http, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            with pytest.raises(ConnectFailed, match="No TLS connection"):
                await client.request("GET", f"https://127.0.0.1:{port}/")
