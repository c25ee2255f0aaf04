"""The SSRF suite: hostile addresses and redirect chains against servers that are really there; legitimate ones too.

The victim listens on 127.0.0.1 and, where the machine has it, on ::1, and counts whoever connects. The attacker listens
on 127.0.0.2, the only address that may be reached, and is what public names resolve to. Every hostile address carries
the victim's port: a guard with a hole would reach it. Names resolve as the attacker's own name server says, which may
say something else each time.
"""

import socket
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from ipaddress import ip_network
from itertools import product

import httpx2
import pytest

from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http import GuardedHttp
from headgate.foundation.settings import HttpSettings
from tests.support.direct import DIRECT
from tests.support.web_server import WebServer, answer, redirect, web_server
from tests.unit.foundation.guarded_http.test_hostile_urls import HOSTS, NAMES
from tests.unit.foundation.guarded_http.test_targets import LOOPBACK_FORMS, MALFORMED

LOOPBACK_V6 = [
    "[::1]", "[0:0:0:0:0:0:0:1]", "[0000:0000:0000:0000:0000:0000:0000:0001]", "[::0001]", "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]", "[::FFFF:7F00:0001]", "[0:0:0:0:0:ffff:127.0.0.1]", "[::127.0.0.1]", "[::7f00:1]",
    "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::127.0.0.1]", "[2002:7f00:1::]", "[2002:7f00:1::1]",
    "[2001:0:7f00:1::]", "[2001:0:4136:e378:8000:63bf:80ff:fffe]", "[::ffff:0:127.0.0.1]", "[2a00::5efe:127.0.0.1]",
    "[2a00::200:5efe:7f00:1]", "[::]", "[0::0]", "[::ffff:0.0.0.0]", "[fe80::1]", "[fec0::1]", "[fc00::1]",
]  # fmt: skip
LOOPBACK_V4 = [
    *LOOPBACK_FORMS, "0", "0.0.0.0", "0x0", "00.00.00.00", "127.0.0.3", "127.255.255.254", "127.127.1", "0x7F.1",
    "0177.1", "0x7f.0.0.0x1", "017700000001", "00000000177.0.0.1", "127.00.0x0.1", "LOCALHOST", "LocalHost",
]  # fmt: skip
LOOPBACK_NAMES = {
    "localhost": ["127.0.0.1", "::1"],
    "localtest.me": ["127.0.0.1"],
    "127.0.0.1.nip.io": ["127.0.0.1"],
    "v6only.attacker.example": ["::1"],
    "mapped.attacker.example": ["::ffff:127.0.0.1"],
    "nat64.attacker.example": ["64:ff9b::7f00:1"],
    "sixtofour.attacker.example": ["2002:7f00:1::"],
    "half.attacker.example": ["127.0.0.2", "127.0.0.1"],
    "scoped.attacker.example": ["fe80::1%lo"],
    "unspecified.attacker.example": ["0.0.0.0"],
    "xn--rksmrgs-5wao1o.example": ["127.0.0.1"],
}
"""`räksmörgås.example` in its two spellings, and names whose records point inside."""
SCHEMES = ["http", "HTTP", "hTTp"]
STATUSES = [301, 302, 303, 307, 308]
REBINDINGS = 12
CLIENTS = ["request", "post_once", "streaming"]


@dataclass
class NameServer:
    """The attacker's own: each name has a list of answers, given in turn, the last one for ever."""

    answers: dict[str, list[list[str]]] = field(default_factory=dict)
    asked: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked[host] += 1
        turns = self.answers.get(host, [LOOPBACK_NAMES.get(host) or NAMES.get(host) or ["127.0.0.2"]])
        return turns.pop(0) if len(turns) > 1 else turns[0]


@dataclass
class Range:
    """The servers, and the clients that may reach the attacker only."""

    victims: list[WebServer]
    attacker: WebServer
    names: NameServer
    http: GuardedHttp

    @property
    def port(self) -> int:
        return self.victims[0].port

    @property
    def hits(self) -> int:
        return sum(victim.connections for victim in self.victims)

    async def send(self, client: str, url: str) -> str:
        """One request by one of the three ways to send one: what came back, or the code of the refusal."""
        try:
            if client == "request":
                return (await self.http.request("GET", url)).text
            if client == "post_once":
                return str(await self.http.post_once(url, headers={}, body=b"{}"))
            async with self.http.streaming_client() as streaming:
                return (await streaming.get(url, follow_redirects=True)).text
        except HeadgateError as error:
            return error.code
        except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
            return type(error).__name__


@pytest.fixture
async def range_() -> AsyncIterator[Range]:
    names = NameServer()
    async with AsyncExitStack() as stack:
        victims = [await stack.enter_async_context(web_server("127.0.0.1"))]
        port = victims[0].port
        if socket.has_ipv6:
            with suppress(OSError):  # a machine without IPv6
                victims.append(await stack.enter_async_context(web_server("::1", port=port)))
        for victim in victims:
            victim.on("/secret", answer(200, "SECRET"))
        attacker = await stack.enter_async_context(web_server("127.0.0.2"))
        attacker.on("/", answer(200, "public"))

        async def at_once(_seconds: float) -> None:
            return None

        settings = HttpSettings(allowed_internal_cidrs=[ip_network("127.0.0.2/32")])
        http = GuardedHttp(settings, DIRECT, resolver=names, sleep=at_once)
        stack.push_async_callback(http.close)
        yield Range(victims, attacker, names, http)


def hostile_urls(port: int) -> list[str]:
    """Every notation of an address inside, with the port of the server that is really there."""
    hosts = [*LOOPBACK_V4, *LOOPBACK_V6, *LOOPBACK_NAMES, "r\u00e4ksm\u00f6rg\u00e5s.example", *HOSTS]
    plain = [f"http://{host}:{port}/secret" for host in dict.fromkeys(hosts)]
    schemes = [f"{scheme}://{host}:{port}/secret" for scheme, host in product(SCHEMES[1:], ("127.0.0.1", "localhost"))]
    tricks = [
        f"http://public.example@127.0.0.1:{port}/secret",
        f"http://public.example:80@127.0.0.1:{port}/secret",
        f"http://127.0.0.1:{port}\\@public.example/secret",
        f"http://public.example\\@127.0.0.1:{port}/secret",
        f"http://127.0.0.1:{port}#@public.example/",
        f"http://127.0.0.1:{port}?@public.example/",
        f"http://127.0.0.1:{port}/secret#public.example",
        f"http://127.0.0.1.:{port}/secret",
        f"http://localhost.:{port}/secret",
        f"http://127.0.0.1%2e:{port}/secret",
        f"http://127.0.0.%31:{port}/secret",
        f"http://%6c%6f%63%61%6c%68%6f%73%74:{port}/secret",
        f"http://127.0.0.1%00.public.example:{port}/secret",
        f"http://127.0.0.1\t:{port}/secret",
        f"http://127.0.0.1\n:{port}/secret",
        f"http://127.0.0.1\r\nHost: public.example:{port}/secret",
        f"\thttp://127.0.0.1:{port}/secret",
        f"http:\\\\127.0.0.1:{port}\\secret",
        f"http:/127.0.0.1:{port}/secret",
        f"http:127.0.0.1:{port}/secret",
        f"http:///127.0.0.1:{port}/secret",
        f"http://[::1%25lo]:{port}/secret",
        f"http://[::1%lo]:{port}/secret",
        f"http://[fe80::1%25lo]:{port}/secret",
        f"http://127.0.0.1:0{port}/secret",
        f"http://127。0。0。1:{port}/secret",
        f"http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:{port}/secret",
        f"http://loc\u00adalhost:{port}/secret",
        f"http://loc\u200balhost:{port}/secret",
        f"https://127.0.0.1:{port}/secret",
        f"gopher://127.0.0.1:{port}/_GET%20/secret",
        f"dict://127.0.0.1:{port}/secret",
        f"ftp://127.0.0.1:{port}/secret",
        f"ws://127.0.0.1:{port}/secret",
        f"url:http://127.0.0.1:{port}/secret",
        f"http+unix://127.0.0.1:{port}/secret",
    ]
    return [*dict.fromkeys([*plain, *schemes, *tricks, *MALFORMED])]


def rebindings() -> dict[str, list[list[str]]]:
    """Names whose answers turn inside after the first: at the second look-up, the third, or half of the time."""
    inside = ["127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0", "127.0.0.3", "fe80::1%lo"]
    found = {}
    for number in range(REBINDINGS):
        turned = [inside[number % len(inside)]]
        found[f"rebind{number}.attacker.example"] = [["127.0.0.2"], *[["127.0.0.2"]] * (number // 6), turned]
    return found


class TestHostile:
    @pytest.mark.parametrize("client", CLIENTS)
    async def test_addresses_reach_nothing(
        self, range_: Range, client: str, record_property: Callable[[str, object], None]
    ) -> None:
        urls = hostile_urls(range_.port)
        said = [await range_.send(client, url) for url in urls]
        through = [url for url, word in zip(urls, said, strict=True) if "SECRET" in word or word in {"200", "public"}]
        assert through == []
        assert range_.hits == 0
        assert len(urls) >= 150
        record_property(
            "figures", f"{len(urls)} hostile addresses, {len(through)} got through, {range_.hits} connections"
        )

    @pytest.mark.parametrize("client", ["request", "streaming"])
    async def test_redirect_chains_reach_nothing(
        self, range_: Range, client: str, record_property: Callable[[str, object], None]
    ) -> None:
        urls = [url for url in hostile_urls(range_.port) if url.isprintable() and "://" in url]
        chains = 0
        for number, url in enumerate(urls):
            status, hops = STATUSES[number % len(STATUSES)], 1 + number % 4
            for hop in range(1, hops):
                onward = f"http://hop{hop}.example:{range_.attacker.port}/{number}/{hop + 1}"
                range_.attacker.on(f"/{number}/{hop}", redirect(onward, status))
            range_.attacker.on(f"/{number}/{hops}", redirect(url, status))
            said = await range_.send(client, f"http://public.example:{range_.attacker.port}/{number}/1")
            assert "SECRET" not in said, url
            chains += 1
        assert range_.hits == 0
        assert chains >= 150
        assert len(range_.attacker.requests) >= chains
        record_property("figures", f"{chains} redirect chains of 1 to 4 hops, {range_.hits} connections to the victim")

    @pytest.mark.parametrize("client", CLIENTS)
    @pytest.mark.parametrize("keep_alive", [True, False])
    async def test_rebinding_names_reach_nothing(
        self, range_: Range, client: str, *, keep_alive: bool, record_property: Callable[[str, object], None]
    ) -> None:
        range_.names.answers = rebindings()
        ending = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n" + (b"" if keep_alive else b"Connection: close\r\n")
        range_.attacker.on("/secret", ending + b"\r\npublic")
        for victim in range_.victims:
            victim.on("/secret", answer(200, "SECRET"))
        sent, ports = 0, (range_.attacker.port, range_.port)
        for name, port in product(list(range_.names.answers), ports):
            for _ in range(4):
                assert "SECRET" not in await range_.send(client, f"http://{name}:{port}/secret")
                sent += 1
        assert range_.hits == 0
        assert sum(range_.names.asked.values()) > REBINDINGS
        record_property(
            "figures", f"{sent} requests to {REBINDINGS} rebinding names, {range_.hits} connections to the victim"
        )

    async def test_rebinding_between_retries_and_redirects_reaches_nothing(self, range_: Range) -> None:
        broken = answer(503, connection="close")
        again = redirect(f"http://twice.attacker.example:{range_.attacker.port}/secret", 307, connection="close")
        for path, first in (("/busy", broken), ("/away", again)):
            range_.names.answers = {"twice.attacker.example": [["127.0.0.2"], ["127.0.0.1"]]}
            range_.attacker.on(path, first)
            said = await range_.send("request", f"http://twice.attacker.example:{range_.attacker.port}{path}")
            assert said == "address_refused"
        assert range_.hits == 0


class TestTheRangeItself:
    async def test_would_show_a_hole(self, range_: Range) -> None:
        open_ = GuardedHttp(
            HttpSettings(allowed_internal_cidrs=[ip_network("127.0.0.0/8"), ip_network("::1/128")]),
            DIRECT,
            resolver=range_.names,
        )
        reached = [
            host
            for host in ("127.0.0.1", "2130706433", "0x7f.1", "localtest.me")
            if (await open_.request("GET", f"http://{host}:{range_.port}/secret")).text == "SECRET"
        ]
        await open_.close()
        assert len(reached) == 4
        assert range_.hits > 0


LEGITIMATE = [
    "http://public.example:{port}/",
    "HTTP://Public.Example:{port}/",
    "http://sub_domain.example-site.org:{port}/?b=http://127.0.0.1/",
    "http://public.example:{port}/?next=http://localhost/&x=1",
    "http://public.example:{port}/#@127.0.0.1/",
    "http://public.example:{port}",
    "http://127.0.0.1.public.example:{port}/",
    "http://localhost.public.example:{port}/",
    "http://b\u00fccher.example:{port}/",
    "http://xn--bcher-kva.example:{port}/",
    "http://\u4f8b\u3048.example:{port}/",
    "http://a.b.c.d.e.f.example:{port}/",
    "http://10.example:{port}/",
    "http://1-2-3-4.example:{port}/",
    "http://127.0.0.2:{port}/",
    "http://2130706434:{port}/",
    "http://0x7f.0.0.2:{port}/",
    "  http://public.example:{port}/  ",
    "http://public.example:{port}/%2e%2e/r\u00e4v?q=\u00e5%20b",
    "http://public.example:{port}/a:b@c/d;e=f,g",
]


class TestLegitimate:
    @pytest.mark.parametrize("client", ["request", "streaming"])
    async def test_addresses_get_through(
        self, range_: Range, client: str, record_property: Callable[[str, object], None]
    ) -> None:
        urls = [url.format(port=range_.attacker.port) for url in LEGITIMATE]
        range_.attacker.anything = answer(200, "public")
        said = [await range_.send(client, url if client == "request" else url.strip()) for url in urls]
        assert [(url, word) for url, word in zip(urls, said, strict=True) if word != "public"] == []
        record_property("figures", f"{len(urls)} legitimate addresses, all got through")

    async def test_redirects_get_through(self, range_: Range) -> None:
        port = range_.attacker.port
        targets = [
            "/end",
            "end",
            "//other.example:{port}/end",
            "http://other.example:{port}/end",
            "?x=1",
            "./end#there",
        ]
        range_.attacker.anything = answer(200, "public")
        for number, target in enumerate(targets):
            range_.attacker.on(f"/go{number}", redirect(target.format(port=port), STATUSES[number % len(STATUSES)]))
            assert await range_.send("request", f"http://public.example:{port}/go{number}") == "public", target
