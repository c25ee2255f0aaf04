"""The relay of compiled libraries: it reaches the servers it was made for, for who holds its token."""

import base64
import socket
from collections.abc import Iterator
from ipaddress import ip_network
from threading import Thread
from urllib.parse import urlsplit

import pytest
from pydantic import SecretStr

from headgate.features.files.s3_storage import _servers
from headgate.foundation.guarded_http import AddressPolicy
from headgate.foundation.guarded_http.relay import HEAD_BYTES, Relay, server_of
from headgate.foundation.settings import StorageSettings
from tests.support.direct import DIRECT

LOOPBACK = AddressPolicy([ip_network("127.0.0.0/8")])


@pytest.fixture
def echo() -> Iterator[int]:
    """A server that says back what comes; its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            with client:
                while piece := client.recv(65536):
                    client.sendall(b"echo:" + piece)

    thread = Thread(target=serve, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(10)


def asked(relay: Relay, first: bytes, *, key: bytes | None = None, more: bytes = b"") -> bytes:
    """What the relay sends back, to its end."""
    parts = urlsplit(relay.url)
    known = base64.b64encode(f"{parts.username}:{parts.password}".encode())
    head = first + b"\r\nProxy-Authorization: Basic " + (known if key is None else key) + b"\r\n\r\n"
    with socket.create_connection(("127.0.0.1", relay.port), 10) as line:
        line.sendall(head)
        said = b""
        if more:
            said = line.recv(65536)
            line.sendall(more)
        line.shutdown(socket.SHUT_WR)
        while piece := line.recv(65536):
            said += piece
    return said


class TestRelay:
    def test_connects_to_its_server(self, echo: int) -> None:
        relay = Relay({("store.test", echo): LOOPBACK}.get, resolver=_loopback)
        said = asked(relay, b"CONNECT store.test:%d HTTP/1.1" % echo, more=b"hello")
        assert said == b"HTTP/1.1 200 Connected\r\n\r\necho:hello"

    def test_passes_a_plain_request_on_with_its_path_and_without_the_token(self, echo: int) -> None:
        relay = Relay({("127.0.0.1", echo): LOOPBACK}.get)
        said = asked(relay, b"GET http://127.0.0.1:%d/a?b=/c HTTP/1.1\r\nHost: x\r\nConnection: keep-alive" % echo)
        assert said == b"echo:GET /a?b=/c HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

    def test_ends_when_servers_have_sent_enough(self, echo: int) -> None:
        relay = Relay({("store.test", echo): LOOPBACK}.get, resolver=_loopback, most_bytes=20)
        first = b"CONNECT store.test:%d HTTP/1.1" % echo
        assert asked(relay, first, more=b"x" * 15).endswith(b"echo:" + b"x" * 15)
        assert asked(relay, first, more=b"hello") == b"HTTP/1.1 200 Connected\r\n\r\n"

    def test_ends_when_it_is_closed(self, echo: int) -> None:
        relay = Relay({("store.test", echo): LOOPBACK}.get, resolver=_loopback)
        known = base64.b64encode(urlsplit(relay.url).netloc.partition("@")[0].encode())
        with socket.create_connection(("127.0.0.1", relay.port), 10) as line:
            line.sendall(b"CONNECT store.test:%d HTTP/1.1\r\nProxy-Authorization: Basic %s\r\n\r\n" % (echo, known))
            assert line.recv(100) == b"HTTP/1.1 200 Connected\r\n\r\n"
            relay.close()
            assert line.recv(100) == b""

    @pytest.mark.parametrize(
        "first",
        [
            b"CONNECT 127.0.0.1:1 HTTP/1.1",
            b"CONNECT other.test:443 HTTP/1.1",
            b"CONNECT [::1]:443 HTTP/1.1",
            b"GET http://169.254.169.254/latest HTTP/1.1",
            b"GET http://store.test@other.test/ HTTP/1.1",
        ],
    )
    def test_reaches_nothing_else(self, first: bytes) -> None:
        relay = Relay({("store.test", 443): LOOPBACK}.get, resolver=_loopback)
        assert asked(relay, first).startswith(b"HTTP/1.1 403 ")

    def test_checks_the_address_of_its_server(self) -> None:
        relay = Relay({("store.test", 443): AddressPolicy()}.get, resolver=_loopback)
        assert asked(relay, b"CONNECT store.test:443 HTTP/1.1").startswith(b"HTTP/1.1 502 ")

    @pytest.mark.parametrize("key", [b"", b"x", base64.b64encode(b"headgate:")])
    def test_wants_its_token(self, key: bytes) -> None:
        relay = Relay({("store.test", 443): LOOPBACK}.get, resolver=_loopback)
        assert asked(relay, b"CONNECT store.test:443 HTTP/1.1", key=key).startswith(b"HTTP/1.1 407 ")

    @pytest.mark.parametrize("first", [b"", b"\xff", b"CONNECT a:b HTTP/1.1", b"GET", b"CONNECT a:99999 HTTP/1.1"])
    def test_refuses_what_is_no_request(self, first: bytes) -> None:
        relay = Relay({("store.test", 443): LOOPBACK}.get, resolver=_loopback)
        assert asked(relay, first)[:13] in {b"HTTP/1.1 400 ", b"HTTP/1.1 403 "}

    def test_reads_a_bounded_head(self) -> None:
        relay = Relay({("store.test", 443): LOOPBACK}.get, resolver=_loopback)
        with socket.create_connection(("127.0.0.1", relay.port), 10) as line:
            line.sendall(b"GET " + b"a" * (HEAD_BYTES - 4))
            assert line.recv(100).startswith(b"HTTP/1.1 407 ")


async def _loopback(_host: str, _port: int) -> list[str]:
    return ["127.0.0.1"]


class TestServersOfTheStore:
    def test_are_the_store_alone_where_its_keys_are_set(self) -> None:
        keys = {"access_key_id": SecretStr("a"), "secret_access_key": SecretStr("b")}
        store = StorageSettings(kind="s3", bucket="b", endpoint_url="https://minio.example.org:9000", **keys)
        assert set(_servers(store, DIRECT)) == {("minio.example.org", 9000), ("b.minio.example.org", 9000)}

    def test_are_those_of_aws_and_of_roles_where_nothing_is_set(self) -> None:
        found = _servers(StorageSettings(kind="s3", bucket="b", region="eu-north-1"), DIRECT)
        assert {("s3.eu-north-1.amazonaws.com", 443), ("b.s3.eu-north-1.amazonaws.com", 443)} <= set(found)
        assert ("sts.eu-north-1.amazonaws.com", 443) in found
        assert ("169.254.169.254", 80) in found

    def test_are_read_from_an_address(self) -> None:
        assert server_of("https://Minio.Example.org") == ("minio.example.org", 443)
        assert server_of("http://[::1]:9000/x") == ("::1", 9000)
