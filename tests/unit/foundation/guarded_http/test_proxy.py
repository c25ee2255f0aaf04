"""The operator's proxy: what goes through it, what it is sent, and what its answers are told as."""

import base64
import socket
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ipaddress import ip_network
from pathlib import Path
from threading import Thread

import pytest
from pydantic import SecretStr, ValidationError

from headgate.foundation.errors import Unavailable
from headgate.foundation.guarded_http import AddressPolicy, AddressRefused, ConnectFailed, HostNotFound, ProxyFailed
from headgate.foundation.guarded_http.checked_socket import connect_checked, probe_proxy
from headgate.foundation.guarded_http.errors import ProxyRefused
from headgate.foundation.guarded_http.proxy import OutgoingProxy, Tunnel
from headgate.foundation.guarded_http.resolving import Hop, checked_hops
from headgate.foundation.settings import OutgoingSettings
from tests.support.connect_proxy import connect_proxy

PRIVATE = ip_network("10.1.0.0/16")
OK = b"HTTP/1.1 200 Connection established\r\n\r\n"


async def resolver(host: str, port: int) -> Sequence[str]:
    """Two names that are known here."""
    known = {"far.example": ["10.1.0.7", "10.1.0.8"], "inside.example": ["192.168.0.1"], "here.example": ["127.0.0.1"]}
    if host not in known:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")
    return known[host]


def policy(**settings: object) -> AddressPolicy:
    """Through a proxy on 127.0.0.9:3128; 10.1.0.0/16 and loopback are open."""
    outgoing = OutgoingSettings.model_validate({"proxy_url": "http://127.0.0.9:3128", **settings})
    return AddressPolicy.of(outgoing, [PRIVATE, ip_network("127.0.0.0/8"), ip_network("169.254.169.254/32")])


async def hops(host: str, **settings: object) -> list[Hop]:
    return await checked_hops(host, 443, policy=policy(**settings), resolver=resolver)


def sent(found: list[Hop]) -> list[str]:
    """What the proxy is asked for; the address itself where the connection is direct."""
    return [hop.address if hop.tunnel is None else f"proxy:{hop.tunnel.host}" for hop in found]


class TestHops:
    async def test_send_the_checked_addresses(self) -> None:
        assert sent(await hops("far.example")) == ["proxy:10.1.0.7", "proxy:10.1.0.8"]
        assert {(hop.address, hop.port) for hop in await hops("far.example")} == {("127.0.0.9", 3128)}

    @pytest.mark.parametrize("by_name", [True, False])
    async def test_refuse_what_is_refused_without_a_proxy(self, *, by_name: bool) -> None:
        for host in ("inside.example", "192.168.0.1", "::1", "100.100.100.200"):
            with pytest.raises(AddressRefused):
                await hops(host, proxy_resolves_names=by_name)

    async def test_send_the_name_when_the_operator_says_so(self) -> None:
        assert sent(await hops("far.example", proxy_resolves_names=True)) == ["proxy:far.example"]
        assert sent(await hops("unknown.example", proxy_resolves_names=True)) == ["proxy:unknown.example"]

    async def test_need_a_name_that_this_machine_knows_otherwise(self) -> None:
        with pytest.raises(HostNotFound):
            await hops("unknown.example")

    @pytest.mark.parametrize("by_name", [True, False])
    async def test_never_send_loopback_and_link_local(self, *, by_name: bool) -> None:
        for host, address in (("here.example", "127.0.0.1"), ("169.254.169.254", "169.254.169.254")):
            assert sent(await hops(host, proxy_resolves_names=by_name)) == [address]

    @pytest.mark.parametrize("direct", ["far.example", ".example", "*.example", "10.1.0.0/24", "10.1.0.7"])
    async def test_are_direct_where_the_operator_lists_the_host(self, direct: str) -> None:
        assert "10.1.0.7" in sent(await hops("far.example", direct_hosts=[direct]))

    @pytest.mark.parametrize("other", ["ar.example", "example", ".ar.example", "10.2.0.0/24"])
    async def test_are_not_direct_for_names_that_only_look_alike(self, other: str) -> None:
        assert sent(await hops("far.example", direct_hosts=[other])) == ["proxy:10.1.0.7", "proxy:10.1.0.8"]

    async def test_check_a_direct_host_too(self) -> None:
        with pytest.raises(AddressRefused):
            await hops("inside.example", direct_hosts=["inside.example"])

    async def test_name_the_setting_when_the_proxy_has_no_address(self) -> None:
        with pytest.raises(ProxyFailed, match=r"proxy\.example:3128 was not found") as raised:
            await hops("far.example", proxy_url="http://proxy.example:3128")
        assert "HEADGATE_OUTGOING__PROXY_URL" in raised.value.remedy


class TestTunnel:
    def test_asks_with_the_user(self) -> None:
        outgoing = OutgoingSettings(proxy_url="http://p:1", proxy_user="å", proxy_password=SecretStr("a:b"))
        proxy = OutgoingProxy.of(outgoing)
        assert proxy is not None
        key = base64.b64encode("å:a:b".encode()).decode()
        expected = f"CONNECT [2001:db8::1]:443 HTTP/1.1\r\nHost: [2001:db8::1]:443\r\nProxy-Authorization: Basic {key}"
        assert Tunnel(proxy, "2001:db8::1", 443, "x").request == f"{expected}\r\n\r\n".encode()
        assert key not in repr(proxy)
        assert "a:b" not in repr(outgoing)


@contextmanager
def scripted(reply: Callable[[bytes], bytes]) -> Iterator[int]:
    """A server on 127.0.0.9 that reads a head, answers and closes; its port."""
    with socket.create_server(("127.0.0.9", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                with client:
                    head = b""
                    while not head.endswith(b"\r\n\r\n") and (piece := client.recv(1)):
                        head += piece
                    client.sendall(reply(head))

        thread = Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(10)


def connect(port: int, host: str = "far.example") -> socket.socket:
    return connect_checked(host, 443, policy=policy(proxy_url=f"http://127.0.0.9:{port}"), resolver=resolver)


class TestConnecting:
    def test_leaves_to_the_tunnel_what_follows_the_head(self) -> None:
        with scripted(lambda _: OK + b"220 mail") as port, connect(port) as connection:
            assert connection.recv(100) == b"220 mail"

    @pytest.mark.parametrize(
        ("reply", "kind", "words"),
        [
            (b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", ProxyFailed, "HEADGATE_OUTGOING__PROXY_USER"),
            (b"HTTP/1.1 403 Forbidden\r\n\r\n", ProxyRefused, "HEADGATE_OUTGOING__DIRECT_HOSTS"),
            (b"SSH-2.0-OpenSSH\r\n\r\n", ProxyFailed, "HEADGATE_OUTGOING__PROXY_URL"),
            (b"HTTP/1.1 200", ProxyFailed, "HEADGATE_OUTGOING__PROXY_URL"),
            (b"x" * 20_000, ProxyFailed, "HEADGATE_OUTGOING__PROXY_URL"),
            (b"", ProxyFailed, "HEADGATE_OUTGOING__PROXY_URL"),
        ],
    )
    def test_says_what_is_wrong_and_names_the_setting(self, reply: bytes, kind: type[Exception], words: str) -> None:
        with scripted(lambda _: reply) as port, pytest.raises(ProxyFailed) as raised:
            connect(port)
        assert type(raised.value) is kind
        assert words in raised.value.remedy
        assert f"127.0.0.9:{port}" in raised.value.detail

    def test_tries_the_next_address_when_the_proxy_cannot_connect(self) -> None:
        asked: list[bytes] = []

        def reply(head: bytes) -> bytes:
            asked.append(head.split()[1])
            return OK if b"10.1.0.8" in head else b"HTTP/1.1 502 Bad Gateway\r\n\r\n"

        with scripted(reply) as port, connect(port):
            assert asked == [b"10.1.0.7:443", b"10.1.0.8:443"]

    def test_names_the_server_when_the_proxy_reaches_none_of_its_addresses(self) -> None:
        with scripted(lambda _: b"HTTP/1.1 504 Timeout\r\n\r\n") as port:
            with pytest.raises(ConnectFailed, match=r"cannot connect to far\.example \(504\)") as raised:
                connect(port)
            assert not isinstance(raised.value, ProxyFailed)

    def test_names_the_setting_when_nothing_listens(self) -> None:
        with pytest.raises(ProxyFailed, match=r"127\.0\.0\.9:1 does not accept connections"):
            connect(1)


class TestProbing:
    """As `headgate doctor` asks, against a proxy in a separate process."""

    def test_accepts_a_proxy_that_cannot_reach_what_is_not_there(self, tmp_path: Path) -> None:
        with connect_proxy(tmp_path, user="u", password="p") as running:
            proxy = OutgoingProxy.of(running.settings(proxy_user="u", proxy_password="p"))
            assert proxy is not None
            probe_proxy(proxy)
            assert running.targets == ["headgate.invalid:443"]

    def test_accepts_one_that_forbids_it(self, tmp_path: Path) -> None:
        with connect_proxy(tmp_path, answers={"headgate.invalid": 403}) as running:
            proxy = OutgoingProxy.of(running.settings())
            assert proxy is not None
            probe_proxy(proxy)

    def test_refuses_a_wrong_password(self, tmp_path: Path) -> None:
        with connect_proxy(tmp_path, user="u", password="p") as running:
            proxy = OutgoingProxy.of(running.settings(proxy_user="u", proxy_password="wrong"))
            assert proxy is not None
            with pytest.raises(ProxyFailed, match="rejected the user name or password"):
                probe_proxy(proxy)


class TestSettings:
    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({"proxy_url": "https://p:1"}, "TLS to the proxy"),
            ({"proxy_url": "socks5://p:1"}, "SOCKS"),
            ({"proxy_url": "http://u:p@p:1"}, "set proxy_user"),
            ({"proxy_url": "http://p:1/path"}, "without a path"),
            ({"proxy_url": "http://:1"}, "without a path"),
            ({"proxy_url": "http://p:1", "proxy_password": "x"}, "proxy_password requires proxy_user"),
            ({"direct_hosts": ["http://x"]}, "write a host name"),
            ({"direct_hosts": ["10.0.0.1/8"]}, "write a host name"),
            ({"ca_file": "/nowhere.pem"}, "there is no file"),
        ],
    )
    def test_refuse_what_cannot_work(self, given: dict[str, object], words: str) -> None:
        with pytest.raises(ValidationError, match=words):
            OutgoingSettings.model_validate(given)

    def test_name_no_proxy_by_default(self) -> None:
        assert AddressPolicy.of(OutgoingSettings()).proxy is None

    def test_name_the_file_that_holds_no_certificates(self, tmp_path: Path) -> None:
        file = tmp_path / "ca.pem"
        file.write_text("nothing")
        with pytest.raises(Unavailable, match=r"ca\.pem cannot be read"):
            AddressPolicy.of(OutgoingSettings(ca_file=file)).trust(ssl.create_default_context())
