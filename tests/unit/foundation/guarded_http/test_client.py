import asyncio
import gzip
import subprocess
import sys
import time
import zlib

import pytest

from headgate.foundation.guarded_http import (
    AddressRefused,
    AnswerTooLarge,
    BadRequest,
    BadUrl,
    BrokenAnswer,
    ConnectFailed,
    ConnectionDropped,
    GuardedHttp,
    HeaderRefused,
    HostNotFound,
    RequestSlots,
    RequestTimedOut,
    TooManyRedirects,
)
from headgate.foundation.settings import HttpSettings
from tests.support.direct import DIRECT
from tests.support.patience import PATIENCE_SECONDS
from tests.support.web_server import Received, WebServer, answer, redirect
from tests.unit.foundation.guarded_http.conftest import MakeClient

CAP = 4096


async def hang(_request: Received, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(60)


async def drop(_request: Received, writer: asyncio.StreamWriter) -> None:
    writer.close()


class TestRequest:
    async def test_gives_status_headers_body_and_address(self, server: WebServer, client: GuardedHttp) -> None:
        server.on("/page?x=1", answer(200, "hé", content_type="Text/HTML; charset=utf-8", X_Two="2"))
        found = await client.request("get", server.url("/page?x=1"))
        assert (found.status, found.text, found.media_type) == (200, "hé", "text/html")
        assert found.headers["x-two"] == "2"
        assert found.url == server.url("/page?x=1")

    async def test_sends_method_headers_and_body(self, server: WebServer, client: GuardedHttp) -> None:
        server.on("/", answer(201))
        await client.request("POST", server.url("/"), headers={"X-Key": "å", "User-Agent": "mine"}, body="räv")
        (request,) = server.requests
        assert (request.method, request.body) == ("POST", "räv".encode())
        assert request.headers["host"] == f"127.0.0.1:{server.port}"
        assert request.headers["x-key"] == "å"
        assert request.headers["user-agent"] == "mine"
        assert request.headers["content-length"] == "4"

    async def test_sends_no_body_with_a_get_and_an_empty_one_with_a_post(
        self, server: WebServer, client: GuardedHttp
    ) -> None:
        server.on("/", answer())
        await client.request("GET", server.url("/"))
        await client.request("POST", server.url("/"))
        assert [request.headers.get("content-length") for request in server.requests] == [None, "0"]

    async def test_gives_error_statuses_as_answers(self, server: WebServer, client: GuardedHttp) -> None:
        server.on("/", answer(500, "broken"))
        assert (await client.request("GET", server.url("/"))).status == 500

    async def test_reads_no_body_of_a_head(self, server: WebServer, make_client: MakeClient) -> None:
        server.on("/", b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n")
        found = await make_client(max_response_bytes=CAP).request("HEAD", server.url("/"))
        assert (found.status, found.content) == (200, b"")

    async def test_carries_no_cookies_from_one_request_to_the_next(
        self, server: WebServer, client: GuardedHttp
    ) -> None:
        server.on("/", answer(200, set_cookie="session=secret"))
        await client.request("GET", server.url("/"))
        await client.request("GET", server.url("/"))
        assert "cookie" not in server.requests[1].headers

    async def test_ignores_proxies_of_the_environment(
        self, server: WebServer, client: GuardedHttp, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
        server.on("/", answer(204))
        assert (await client.request("GET", server.url("/"))).status == 204

    async def test_keeps_connections_for_what_may_be_repeated_only(
        self, server: WebServer, client: GuardedHttp
    ) -> None:
        server.on("/", answer())
        for method in ("GET", "GET", "POST", "POST"):
            await client.request(method, server.url("/"))
        assert server.connections == 3

    @pytest.mark.parametrize("method", ["CONNECT", "TRACE", "", "GET / HTTP/1.1\r\nX:", "PROPFIND"])
    async def test_refuses_other_methods(self, server: WebServer, client: GuardedHttp, method: str) -> None:
        with pytest.raises(BadRequest):
            await client.request(method, server.url("/"))
        assert server.connections == 0

    async def test_refuses_connection_headers(self, server: WebServer, client: GuardedHttp) -> None:
        with pytest.raises(HeaderRefused):
            await client.request("GET", server.url("/"), headers={"Host": "internal"})
        assert server.connections == 0

    async def test_refuses_a_body_that_is_no_text(self, server: WebServer, client: GuardedHttp) -> None:
        with pytest.raises(BadRequest):
            await client.request("POST", server.url("/"), body="\ud800")

    async def test_names_the_server_and_no_secret_in_errors(self, server: WebServer, client: GuardedHttp) -> None:
        server.on("/t0ken?key=abcdef", drop)
        with pytest.raises(ConnectionDropped) as caught:
            await client.request("POST", server.url("/t0ken?key=abcdef"), headers={"Authorization": "Bearer hunter22"})
        assert server.origin in caught.value.detail
        assert not any(secret in str(caught.value.problem()) for secret in ("t0ken", "abcdef", "hunter22"))


class TestRefusedAddresses:
    async def test_reaches_no_loopback_server_unless_listed(self, server: WebServer, make_client: MakeClient) -> None:
        server.on("/", answer())
        with pytest.raises(AddressRefused):
            await make_client(open_to="").request("GET", server.url("/"))
        assert server.connections == 0

    async def test_follows_no_redirect_to_a_refused_address(self, server: WebServer, make_client: MakeClient) -> None:
        server.on("/", redirect("http://169.254.169.254/latest/meta-data/"))
        with pytest.raises(AddressRefused, match=r"169\.254\.169\.254"):
            await make_client().request("GET", server.url("/"))

    @pytest.mark.parametrize(
        ("location", "error"),
        [("ftp://example.org/", BadUrl), ("http://a:b@example.org/", BadUrl), ("http://[::1/", BrokenAnswer)],
    )
    async def test_follows_no_redirect_to_what_is_no_web_address(
        self, server: WebServer, client: GuardedHttp, location: str, error: type[Exception]
    ) -> None:
        server.on("/", redirect(location))
        with pytest.raises(error):
            await client.request("GET", server.url("/"))

    async def test_does_not_try_again(self, make_client: MakeClient, slept: list[float]) -> None:
        with pytest.raises(AddressRefused):
            await make_client().request("GET", "http://10.0.0.1/")
        assert slept == []

    async def test_check_says_the_same_without_sending(self, server: WebServer, make_client: MakeClient) -> None:
        await make_client().check(server.url("/"))
        with pytest.raises(AddressRefused):
            await make_client(open_to="").check(server.url("/"))
        assert server.connections == 0


class TestRedirects:
    async def test_follows_relative_and_absolute_ones(
        self, server: WebServer, other_server: WebServer, client: GuardedHttp
    ) -> None:
        server.on("/a/b", redirect("../c"))
        server.on("/c", redirect(other_server.url("/d")))
        other_server.on("/d", answer(200, "there"))
        found = await client.request("GET", server.url("/a/b"))
        assert (found.text, found.url) == ("there", other_server.url("/d"))

    @pytest.mark.parametrize(
        ("status", "method", "becomes"),
        [
            (301, "POST", "GET"),
            (302, "POST", "GET"),
            (303, "POST", "GET"),
            (303, "PUT", "GET"),
            (303, "HEAD", "HEAD"),
            (301, "PUT", "PUT"),
            (307, "POST", "POST"),
            (308, "POST", "POST"),
            (302, "HEAD", "HEAD"),
        ],
    )
    async def test_changes_the_method_as_browsers_do(
        self, server: WebServer, client: GuardedHttp, status: int, method: str, becomes: str
    ) -> None:
        server.on("/", redirect("/next", status))
        server.on("/next", answer())
        body = None if method == "HEAD" else "body"
        await client.request(method, server.url("/"), body=body, headers={"Content-Type": "text/plain"})
        (request,) = server.seen("/next")
        assert request.method == becomes
        kept = becomes == method and body is not None
        assert request.body == (b"body" if kept else b"")
        assert ("content-type" in request.headers) is (becomes == method)

    async def test_leaves_credentials_behind_at_another_server(
        self, server: WebServer, other_server: WebServer, client: GuardedHttp
    ) -> None:
        server.on("/", redirect(other_server.url("/"), 307))
        other_server.on("/", answer())
        secret = {"Authorization": "Bearer x", "Cookie": "a=b", "X-Api-Key": "x", "Idempotency-Key": "x"}
        await client.request("POST", server.url("/"), headers={**secret, "Accept": "a/b", "Content-Type": "text/x"})
        (request,) = other_server.requests
        assert not request.headers.keys() & {name.lower() for name in secret}
        assert (request.headers["accept"], request.headers["content-type"]) == ("a/b", "text/x")

    async def test_keeps_credentials_at_the_same_server(self, server: WebServer, client: GuardedHttp) -> None:
        server.on("/", redirect("/next"))
        server.on("/next", answer())
        await client.request("GET", server.url("/"), headers={"Authorization": "Bearer x"})
        assert server.seen("/next")[0].headers["authorization"] == "Bearer x"

    async def test_stops_at_the_limit(self, server: WebServer, make_client: MakeClient) -> None:
        server.on("/", redirect("/"))
        with pytest.raises(TooManyRedirects):
            await make_client(max_redirects=3).request("GET", server.url("/"))
        assert len(server.requests) == 4

    async def test_takes_a_redirect_without_a_location_as_an_answer(
        self, server: WebServer, client: GuardedHttp
    ) -> None:
        server.on("/", answer(302, "no idea where"))
        assert (await client.request("GET", server.url("/"))).text == "no idea where"


class TestRetries:
    @pytest.mark.parametrize("status", [429, 502, 503, 504])
    async def test_tries_three_more_times(
        self, server: WebServer, client: GuardedHttp, slept: list[float], status: int
    ) -> None:
        server.on("/", answer(status, "busy"))
        found = await client.request("GET", server.url("/"))
        assert (found.status, found.text) == (status, "busy")
        assert len(server.requests) == 4
        assert slept == [pytest.approx(1, abs=0.2), pytest.approx(2, abs=0.4), pytest.approx(4, abs=0.8)]

    async def test_takes_the_first_answer_that_is_one(self, server: WebServer, client: GuardedHttp) -> None:
        server.on("/", answer(503), drop, answer(200, "now"))
        assert (await client.request("GET", server.url("/"))).text == "now"

    async def test_sends_a_post_once(self, server: WebServer, client: GuardedHttp, slept: list[float]) -> None:
        server.on("/", answer(503))
        server.on("/drop", drop)
        assert (await client.request("POST", server.url("/"))).status == 503
        with pytest.raises(ConnectionDropped):
            await client.request("POST", server.url("/drop"))
        assert len(server.requests) == 2
        assert slept == []

    async def test_repeats_a_post_that_carries_an_idempotency_key(self, server: WebServer, client: GuardedHttp) -> None:
        server.on("/", answer(503), answer(200))
        found = await client.request("POST", server.url("/"), headers={"idempotency-key": "1"}, body="x")
        assert found.status == 200
        assert [request.body for request in server.requests] == [b"x", b"x"]

    async def test_repeats_any_request_that_was_never_sent(
        self, server: WebServer, client: GuardedHttp, slept: list[float]
    ) -> None:
        unused = await asyncio.start_server(hang, "127.0.0.1", 0)  # type: ignore[arg-type]
        port = unused.sockets[0].getsockname()[1]
        unused.close()
        with pytest.raises(ConnectFailed, match=str(port)):
            await client.request("POST", f"http://127.0.0.1:{port}/")
        assert len(slept) == 3

    async def test_does_not_wait_beyond_the_deadline(
        self, server: WebServer, client: GuardedHttp, slept: list[float]
    ) -> None:
        server.on("/", answer(503, "busy", retry_after="5"))
        found = await client.request("GET", server.url("/"), timeout_seconds=2)
        assert (found.text, slept) == ("busy", [])

    async def test_looks_a_missing_host_up_once(self, make_client: MakeClient, slept: list[float]) -> None:
        with pytest.raises(HostNotFound, match=r"no-such-host\.invalid"):
            await make_client().request("GET", "http://no-such-host.invalid/")
        assert slept == []


class TestCaps:
    @pytest.fixture
    def small(self, make_client: MakeClient) -> GuardedHttp:
        return make_client(max_response_bytes=CAP)

    async def test_takes_an_answer_of_just_the_cap(self, server: WebServer, small: GuardedHttp) -> None:
        server.on("/", answer(200, b"x" * CAP))
        assert len((await small.request("GET", server.url("/"))).content) == CAP

    async def test_refuses_an_announced_size_without_reading(self, server: WebServer, small: GuardedHttp) -> None:
        server.on("/", b"HTTP/1.1 200 OK\r\nContent-Length: 4097\r\n\r\n")
        with pytest.raises(AnswerTooLarge, match="4096 bytes"):
            await small.request("GET", server.url("/"))

    async def test_stops_an_endless_body(self, server: WebServer, small: GuardedHttp) -> None:
        sent = 0

        async def endless(_request: Received, writer: asyncio.StreamWriter) -> None:
            nonlocal sent
            writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while not writer.is_closing():
                writer.write(b"400\r\n" + b"x" * 1024 + b"\r\n")
                sent += 1024
                await writer.drain()

        server.on("/", endless)
        with pytest.raises(AnswerTooLarge):
            await small.request("GET", server.url("/"))
        assert sent < 50_000_000

    async def test_stops_a_gzip_bomb(self, server: WebServer, small: GuardedHttp) -> None:
        bomb = gzip.compress(bytes(2_000_000))
        assert len(bomb) < CAP
        server.on("/", answer(200, bomb, content_encoding="gzip"))
        with pytest.raises(AnswerTooLarge):
            await small.request("GET", server.url("/"))

    async def test_stops_a_bomb_within_a_bomb(self, server: WebServer, small: GuardedHttp) -> None:
        bomb = gzip.compress(gzip.compress(bytes(200_000_000)))
        assert len(bomb) < CAP
        server.on("/", answer(200, bomb, content_encoding="gzip, gzip"))
        started = time.process_time()
        with pytest.raises(AnswerTooLarge):
            await small.request("GET", server.url("/"))
        assert time.process_time() - started < 2

    async def test_stops_a_compressed_body_that_inflates_to_nothing(
        self, server: WebServer, small: GuardedHttp
    ) -> None:
        stored_block_of_nothing = b"\x00\x00\x00\xff\xff"
        empty = gzip.compress(b"")[:10] + stored_block_of_nothing * CAP
        chunk = f"{len(empty):x}\r\n".encode() + empty + b"\r\n"
        server.on("/", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk)
        with pytest.raises(AnswerTooLarge):
            await small.request("GET", server.url("/"))

    async def test_decompresses_what_it_asked_for(self, server: WebServer, small: GuardedHttp) -> None:
        server.on("/gzip", answer(200, gzip.compress(b"packed"), content_encoding="GZIP"))
        server.on("/deflate", answer(200, zlib.compress(b"packed"), content_encoding="deflate"))
        for path in ("/gzip", "/deflate"):
            assert (await small.request("GET", server.url(path))).content == b"packed"
        assert server.requests[0].headers["accept-encoding"] == "gzip, deflate"

    @pytest.mark.parametrize("encoding", ["br", "zstd", "compress", "gzip, gzip, gzip", "gzip, br"])
    async def test_refuses_other_compressions(self, server: WebServer, small: GuardedHttp, encoding: str) -> None:
        server.on("/", answer(200, b"????", content_encoding=encoding))
        with pytest.raises(BrokenAnswer, match="compression"):
            await small.request("GET", server.url("/"))

    async def test_refuses_compressed_nonsense(self, server: WebServer, small: GuardedHttp) -> None:
        server.on("/", answer(200, b"not gzip", content_encoding="gzip"))
        with pytest.raises(BrokenAnswer, match="decompressed"):
            await small.request("GET", server.url("/"))

    async def test_refuses_an_endless_head(self, server: WebServer, small: GuardedHttp) -> None:
        async def endless(_request: Received, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\n")
            while not writer.is_closing():
                writer.write(b"X-More: " + b"x" * 1000 + b"\r\n")
                await writer.drain()

        server.on("/", endless)
        with pytest.raises(BrokenAnswer):
            await small.request("GET", server.url("/"))

    async def test_refuses_what_is_not_http(self, server: WebServer, small: GuardedHttp) -> None:
        server.on("/", b"220 mail.example ESMTP\r\n\r\n")
        with pytest.raises(BrokenAnswer, match="not HTTP"):
            await small.request("GET", server.url("/"))

    async def test_reports_a_body_cut_short(self, server: WebServer, small: GuardedHttp) -> None:
        async def cut(_request: Received, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")

        server.on("/", cut)
        with pytest.raises(ConnectionDropped):
            await small.request("POST", server.url("/"))


class TestDeadline:
    async def test_ends_a_request_that_is_never_answered(self, server: WebServer, client: GuardedHttp) -> None:
        server.on("/", hang)
        async with asyncio.timeout(PATIENCE_SECONDS):
            with pytest.raises(RequestTimedOut, match=r"0\.2 seconds"):
                await client.request("GET", server.url("/"), timeout_seconds=0.2)

    async def test_ends_a_slow_loris_that_always_sends_a_little(self, server: WebServer, client: GuardedHttp) -> None:
        async def drip(_request: Received, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            while True:
                writer.write(b"x")
                await asyncio.sleep(0.02)

        server.on("/", drip)
        with pytest.raises(RequestTimedOut):
            await client.request("GET", server.url("/"), timeout_seconds=0.3)

    async def test_is_never_longer_than_the_setting(self, server: WebServer, make_client: MakeClient) -> None:
        server.on("/", hang)
        with pytest.raises(RequestTimedOut, match=r"0\.2 seconds"):
            await make_client(timeout_seconds=0.2).request("GET", server.url("/"), timeout_seconds=300)

    async def test_does_not_begin_before_there_is_a_slot(self, server: WebServer, make_client: MakeClient) -> None:
        release = asyncio.Event()

        async def hold(_request: Received, writer: asyncio.StreamWriter) -> None:
            await release.wait()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

        server.on("/held", hold)
        server.on("/", answer(200))
        client = make_client(client={"slots": RequestSlots(1, 1)})
        first = asyncio.create_task(client.request("GET", server.url("/held"), timeout_seconds=30))
        while not server.seen("/held"):  # noqa: ASYNC110 - the server tells nobody
            await asyncio.sleep(0.01)
        others = [asyncio.create_task(client.request("GET", server.url("/"), timeout_seconds=0.5)) for _ in range(3)]
        await asyncio.sleep(0.8)  # longer than the time of those that wait for a place
        assert not any(task.done() for task in others)
        release.set()
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert [(await task).status for task in (first, *others)] == [200] * 4

    async def test_of_a_slow_host_leaves_slots_for_others(self, server: WebServer, make_client: MakeClient) -> None:
        server.on("/held", hang)
        client = make_client(client={"slots": RequestSlots(3, 2), "pauses": ()})
        held = [asyncio.create_task(client.request("GET", server.url("/held"), timeout_seconds=30)) for _ in range(4)]
        while len(server.seen("/held")) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        other = server.url("/").replace("127.0.0.1", "127.0.0.2")
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                with pytest.raises(ConnectFailed):  # it got a place; nobody listens there
                    await client.request("GET", other, timeout_seconds=30)
            assert len(server.seen("/held")) == 2
        finally:
            for task in held:
                task.cancel()
            await asyncio.gather(*held, return_exceptions=True)

    async def test_covers_retries_and_redirects_together(self, server: WebServer, make_client: MakeClient) -> None:
        server.on("/", redirect("/busy"))
        server.on("/busy", answer(503))
        client = make_client(client={"sleep": asyncio.sleep, "pauses": (0.05, 0.1, 60.0)})
        # The third pause does not fit into the time: the answer is returned, the request does not time out.
        assert (await client.request("GET", server.url("/"), timeout_seconds=30)).status == 503
        assert len(server.seen("/busy")) == 3

    async def test_leaves_no_connection_behind(self, server: WebServer, client: GuardedHttp) -> None:
        closed = asyncio.Event()

        async def watch(_request: Received, writer: asyncio.StreamWriter) -> None:
            while not writer.is_closing():
                writer.write(b" ")
                await asyncio.sleep(0.01)
            closed.set()

        client._load()  # the imports are not to take the time that the answer has
        server.on("/", watch)
        with pytest.raises((RequestTimedOut, BrokenAnswer)):
            await client.request("POST", server.url("/"), timeout_seconds=1)
        await asyncio.wait_for(closed.wait(), PATIENCE_SECONDS)


class TestStartUp:
    def test_does_not_import_the_http_library_before_the_first_request(self) -> None:
        code = (
            "import sys; from headgate.foundation.guarded_http import GuardedHttp;"
            "from headgate.foundation.settings import HttpSettings, OutgoingSettings;"
            "GuardedHttp(HttpSettings(), OutgoingSettings());"
            "sys.exit(any(name in sys.modules for name in ('httpx2', 'httpcore2', 'idna')))"
        )
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

    async def test_a_client_that_was_never_used_can_be_closed(self) -> None:
        await GuardedHttp(HttpSettings(), DIRECT).close()
