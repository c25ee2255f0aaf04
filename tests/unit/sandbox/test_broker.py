import socket
from collections.abc import Sequence
from ipaddress import ip_network

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.foundation.guarded_http.addresses import AddressPolicy
from headgate.foundation.guarded_http.errors import AddressRefused, BadUrl, ConnectFailed, HostNotFound
from headgate.graph.manifest import Manifest
from headgate.sandbox.broker.connecting import CONNECT_SECONDS, connect
from headgate.sandbox.broker.rules import NO_NETWORK, Grant, NetworkRules
from headgate.sandbox.broker.session import LEAST_SECONDS, Question, bytes_transferred, read_question
from headgate.sandbox.errors import HostRefused
from headgate.sandbox.hosts import read_pattern


def question(**changed: object) -> bytes:
    return orjson.dumps({"id": 1, "host": "a.org", "port": 443, "seconds": 5.0} | changed)


class TestReadQuestion:
    def test_reads_what_workers_ask(self) -> None:
        assert read_question(question()) == Question(1, "a.org", 443, 5.0)

    @pytest.mark.parametrize(
        ("seconds", "expected"), [(None, CONNECT_SECONDS), (-1, LEAST_SECONDS), (0.001, LEAST_SECONDS), (3, 3)]
    )
    def test_waits_neither_forever_nor_less_than_a_look_up_takes(self, seconds: object, expected: float) -> None:
        found = read_question(question(seconds=seconds))
        assert found is not None
        assert found.seconds == expected

    @given(packet=st.one_of(st.binary(max_size=300), st.text(max_size=100).map(str.encode)))
    def test_takes_nothing_else(self, packet: bytes) -> None:
        found = read_question(packet)
        assert found is None or isinstance(found, Question)

    @pytest.mark.parametrize("host", ["", "a b", "a.org/x", "a@b", "a.org.", "[::1]", "a.org:80"])
    def test_finds_no_target_in_what_is_no_host(self, host: str) -> None:
        found = read_question(question(host=host))
        assert found is not None
        with pytest.raises(BadUrl):
            found.target()

    def test_reads_numbers_as_the_system_would(self) -> None:
        targets = [Question(1, host, 80, 1).target().host for host in ("0x7f.1", "2130706433", "::FFFF:7f00:1")]
        assert targets == ["127.0.0.1", "127.0.0.1", "::ffff:7f00:1"]


class TestGrant:
    RULES = NetworkRules.of(["*.example.org", "example.net"], AddressPolicy())

    def test_needs_the_manifest_and_the_operator(self) -> None:
        grant = Grant.of(Manifest(hosts=("api.example.org", "other.com")), self.RULES)
        grant.require("api.example.org", 443)
        with pytest.raises(HostRefused, match="manifest"):
            grant.require("example.net", 443)
        with pytest.raises(HostRefused, match="operator"):
            grant.require("other.com", 443)

    def test_opens_nothing_by_default(self) -> None:
        with pytest.raises(HostRefused):
            Grant.of(Manifest(hosts=("api.example.org",)), NO_NETWORK).require("api.example.org", 443)


class TestConnect:
    """Checked on loopback, which is opened for it."""

    async def test_goes_to_the_address_that_was_checked_and_looks_up_once(self) -> None:
        asked: list[str] = []

        async def resolve(host: str, port: int) -> Sequence[str]:
            asked.append(host)
            return ["127.0.0.1"] if len(asked) == 1 else ["10.0.0.7"]

        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            with await connect(self.grant(port, resolve), Question(1, "a.test", port, 1).target(), 5) as connection:
                assert connection.getpeername() == ("127.0.0.1", port)
                assert connection.gettimeout() is None
            assert asked == ["a.test"]
            with pytest.raises(AddressRefused):
                await connect(self.grant(port, resolve), Question(1, "a.test", port, 1).target(), 5)

    async def test_refuses_a_name_of_which_one_address_is_bad(self) -> None:
        async def resolve(host: str, port: int) -> Sequence[str]:
            return ["127.0.0.1", "169.254.169.254"]

        with pytest.raises(AddressRefused):
            await connect(self.grant(80, resolve), Question(1, "a.test", 80, 1).target(), 5)

    async def test_says_when_nobody_is_there(self) -> None:
        async def resolve(host: str, port: int) -> Sequence[str]:
            return ["127.0.0.1"]

        async def unknown(host: str, port: int) -> Sequence[str]:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")

        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
            target = Question(1, "a.test", port, 1).target()
            with pytest.raises(ConnectFailed):
                await connect(self.grant(port, resolve), target, 5)
            with pytest.raises(HostNotFound):
                await connect(self.grant(port, unknown), target, 5)

    def grant(self, port: int, resolver: object) -> Grant:
        addresses = AddressPolicy([ip_network("127.0.0.0/8")])
        rules = NetworkRules((read_pattern("*:*"),), addresses, resolver)  # type: ignore[arg-type]
        return Grant.of(Manifest(hosts=(f"a.test:{port}",)), rules)


class TestBytesCarried:
    def test_counts_both_ways(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as ours:
            theirs, _ = server.accept()
            with theirs:
                ours.sendall(b"x" * 1000)
                theirs.recv(1000, socket.MSG_WAITALL)
                theirs.sendall(b"y" * 500)
                ours.recv(500, socket.MSG_WAITALL)
                assert 1500 <= bytes_transferred(ours) <= 1510

    def test_is_nothing_where_the_system_does_not_say(self) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            assert bytes_transferred(ours) == 0
