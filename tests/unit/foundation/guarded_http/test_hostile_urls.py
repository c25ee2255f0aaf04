"""Addresses by which others have reached what they should not; none may be dialled, straight or after a redirect."""

from collections.abc import Sequence

import httpcore2
import pytest

from headgate.foundation.guarded_http import AddressRefused, BadUrl, BrokenAnswer, ConnectFailed, TooManyRedirects
from tests.support.web_server import redirect, web_server
from tests.unit.foundation.guarded_http.conftest import MakeClient
from tests.unit.foundation.guarded_http.test_targets import LOOPBACK_FORMS, MALFORMED

NAMES = {
    "localhost": ["127.0.0.1", "::1"],
    "ip6-localhost": ["::1"],
    "localtest.me": ["127.0.0.1"],
    "127.0.0.1.nip.io": ["127.0.0.1"],
    "metadata.google.internal": ["169.254.169.254"],
    "instance-data": ["169.254.169.254"],
    "kubernetes.default.svc": ["10.96.0.1"],
    "printer.lan": ["192.168.1.9"],
    "router": ["192.168.0.1", "fe80::1%eth0"],
    "half-public.example": ["93.184.216.34", "10.0.0.1"],
    "mapped.example": ["::ffff:169.254.169.254"],
    "nat64.example": ["64:ff9b::a9fe:a9fe"],
    "sixtofour.example": ["2002:a9fe:a9fe::"],
    "wire-server.example": ["168.63.129.16"],
    "xn--rksmrgs-5wao1o.example": ["127.0.0.1"],
}
HOSTS = [
    *NAMES,
    *LOOPBACK_FORMS,
    "r\u00e4ksm\u00f6rg\u00e5s.example",
    "LOCALHOST",
    "0.0.0.0",
    "0",
    "0x0",
    "00",
    "10.0.0.1",
    "012.0.0.1",
    "0xa.1",
    "167772161",
    "100.64.0.1",
    "100.100.100.200",
    "127.127.127.127",
    "169.254.169.254",
    "169.254.43518",
    "0xa9fea9fe",
    "2852039166",
    "0251.0376.0251.0376",
    "0xA9.0xFE.0xA9.0xFE",
    "172.16.0.1",
    "172.31.255.254",
    "192.0.0.192",
    "192.168.0.1",
    "3232235521",
    "198.18.0.1",
    "224.0.0.1",
    "239.255.255.250",
    "255.255.255.255",
    "4294967295",
    "[::]",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[0000::1]",
    "[::127.0.0.1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:169.254.169.254]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b:1::10.0.0.1]",
    "[2002:7f00:1::]",
    "[2002:a00:1::1]",
    "[2001:0:a00:1::1]",
    "[2a00::5efe:127.0.0.1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[febf::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[100::1]",
    "[2001:db8::1]",
]
HOSTILE = [
    *MALFORMED,
    *(f"http://{host}/" for host in HOSTS),
    *(f"https://{host}:8443/latest/meta-data/?x=1#y" for host in ("127.1", "[::1]", "localhost", "169.254.169.254")),
    "http://127.0.0.1:6379/%0d%0aFLUSHALL",
    "http://localhost:2375/containers/json",
    "HTTP://LOCALHOST:11434/api/tags",
    "http:\\\\127.0.0.1/",
    "http://127.0.0.1#@example.org/",
    "http://127.0.0.1?@example.org/",
    "\thttp://127.0.0.1/",
    "url:http://127.0.0.1/",
]
LEGITIMATE = {
    "http://example.org/": "93.184.216.34",
    "https://sub_domain.example-site.org:8443/a?b=http://127.0.0.1/": "93.184.216.34",
    "http://example.org#@127.0.0.1/": "93.184.216.34",
    "http://1.1.1.1/": "1.1.1.1",
    "http://0x08.8.010.8/": "8.8.8.8",
    "http://16843009/": "1.1.1.1",
    "http://[2606:4700:4700::1111]:8080/": "2606:4700:4700::1111",
    "http://xn--bcher-kva.example/": "93.184.216.34",
    "http://b\u00fccher.example/": "93.184.216.34",
    "http://127.0.0.1.example.org/": "93.184.216.34",
}


async def known_names(host: str, _port: int) -> Sequence[str]:
    return NAMES.get(host, ["93.184.216.34"])


@pytest.fixture
def dialled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Addresses that were dialled, 127.0.0.2 excepted, where the test's own server is."""
    found: list[str] = []
    connect = httpcore2.AnyIOBackend.connect_tcp

    async def note(self: httpcore2.AnyIOBackend, host: str, *args: object) -> httpcore2.AsyncNetworkStream:
        if host == "127.0.0.2":
            return await connect(self, host, *args)  # type: ignore[arg-type]
        found.append(host)
        raise httpcore2.ConnectError("not called in tests")

    monkeypatch.setattr(httpcore2.AnyIOBackend, "connect_tcp", note)
    return found


def test_there_are_at_least_150_hostile_addresses() -> None:
    assert len(set(HOSTILE)) >= 150


class TestHostileUrls:
    @pytest.mark.parametrize("url", HOSTILE)
    async def test_are_never_dialled(self, url: str, make_client: MakeClient, dialled: list[str]) -> None:
        client = make_client(open_to="", client={"resolver": known_names, "pauses": ()})
        with pytest.raises((AddressRefused, BadUrl)):
            await client.request("GET", url)
        assert dialled == []

    async def test_are_never_dialled_after_a_redirect(self, make_client: MakeClient, dialled: list[str]) -> None:
        client = make_client(open_to="127.0.0.2/32", client={"resolver": known_names, "pauses": ()})
        async with web_server("127.0.0.2") as server:
            for number, url in enumerate(HOSTILE):
                if "://" not in url.strip()[:10] or not url.isprintable():
                    continue  # a relative address, or one that no header carries
                server.on(f"/{number}", redirect(f"/{number}/on", 307))
                server.on(f"/{number}/on", redirect(url))
                try:
                    found = await client.request("GET", server.url(f"/{number}"))
                except (AddressRefused, BadUrl, BrokenAnswer, TooManyRedirects):
                    continue
                assert found.url.startswith(server.origin + "/")  # no host in it: it means the server it came from
        assert dialled == []
        assert len(server.requests) > 200

    @pytest.mark.parametrize(("url", "address"), LEGITIMATE.items())
    async def test_leave_legitimate_ones_alone(
        self, url: str, address: str, make_client: MakeClient, dialled: list[str]
    ) -> None:
        client = make_client(open_to="", client={"resolver": known_names, "pauses": ()})
        with pytest.raises(ConnectFailed):
            await client.request("GET", url)
        assert dialled == [address]
