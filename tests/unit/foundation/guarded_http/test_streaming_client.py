import asyncio
import gzip
from collections.abc import Sequence

import httpx2
import pytest

from headgate.foundation.guarded_http import AddressRefused, BadUrl, GuardedHttp, HeaderRefused
from tests.support.web_server import Received, WebServer, answer, redirect
from tests.unit.foundation.guarded_http.conftest import MakeClient

STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


class TestStreamingClient:
    async def test_gives_events_while_the_answer_is_still_open(self, server: WebServer, client: GuardedHttp) -> None:
        heard = asyncio.Event()

        async def events(_request: Received, writer: asyncio.StreamWriter) -> None:
            writer.write(STREAM_HEAD + b"data: one\n\n")
            await heard.wait()
            writer.write(b"data: two\n\n")
            writer.close()

        server.on("/events", events)
        found: list[str] = []
        async with client.streaming_client() as streaming, streaming.sse(server.url("/events")) as stream:
            async for event in stream:
                found.append(event.data)
                heard.set()
        assert found == ["one", "two"]

    async def test_sends_method_body_and_headers(self, server: WebServer, client: GuardedHttp) -> None:
        server.on("/", answer(202))
        async with client.streaming_client(headers={"X-Key": "k", "User-Agent": "mine"}) as streaming:
            assert (await streaming.post(server.url("/"), json={"a": 1})).status_code == 202
        (request,) = server.requests
        assert (request.method, request.body) == ("POST", b'{"a":1}')
        assert request.headers["host"] == f"127.0.0.1:{server.port}"
        assert (request.headers["x-key"], request.headers["user-agent"]) == ("k", "mine")
        assert request.headers["accept-encoding"] == "identity"

    @pytest.mark.parametrize("host", ["127.0.0.1", "2130706433", "localhost", "[::1]", "[::ffff:127.0.0.1]"])
    async def test_reaches_no_refused_address(self, server: WebServer, make_client: MakeClient, host: str) -> None:
        guarded = make_client(open_to="")
        async with guarded.streaming_client() as streaming:
            with pytest.raises(httpx2.ConnectError) as caught:
                await streaming.get(f"http://{host}:{server.port}/")
        assert isinstance(caught.value.__cause__, AddressRefused)
        assert server.connections == 0

    async def test_reaches_none_after_a_redirect(self, server: WebServer, make_client: MakeClient) -> None:
        async with (
            make_client(open_to="127.0.0.1/32").streaming_client() as streaming,
        ):
            server.on("/", redirect(f"http://127.0.0.2:{server.port}/"))
            with pytest.raises(httpx2.ConnectError):
                await streaming.get(server.url("/"), follow_redirects=True)
        assert len(server.requests) == 1

    async def test_reaches_none_when_the_name_changes(self, server: WebServer, make_client: MakeClient) -> None:
        answers = [["127.0.0.1"], ["127.0.0.2"]]

        async def resolver(_host: str, _port: int) -> Sequence[str]:
            return answers.pop(0)

        server.on("/", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        guarded = make_client(open_to="127.0.0.1/32", client={"resolver": resolver})
        async with guarded.streaming_client() as streaming:
            assert (await streaming.get(f"http://rebind.example:{server.port}/")).status_code == 200
            with pytest.raises(httpx2.ConnectError):
                await streaming.get(f"http://rebind.example:{server.port}/")

    async def test_refuses_an_address_that_is_none(self, client: GuardedHttp) -> None:
        async with client.streaming_client() as streaming:
            with pytest.raises(httpx2.ConnectError) as caught:
                await streaming.get("ftp://127.0.0.1/")
        assert isinstance(caught.value.__cause__, BadUrl)

    async def test_takes_no_headers_of_the_connection(self, client: GuardedHttp) -> None:
        with pytest.raises(HeaderRefused):
            client.streaming_client(headers={"Host": "internal"})

    async def test_writes_its_own_host_header_whatever_a_library_sets(
        self, server: WebServer, client: GuardedHttp
    ) -> None:
        server.on("/", answer())
        async with client.streaming_client() as streaming:
            await streaming.get(server.url("/"), headers={"Host": "internal", "Connection": "upgrade"})
        assert server.requests[0].headers["host"] == f"127.0.0.1:{server.port}"
        assert "connection" not in server.requests[0].headers

    async def test_ends_an_event_stream_and_any_other_answer_at_their_caps(
        self, server: WebServer, make_client: MakeClient
    ) -> None:
        async def endless(_request: Received, writer: asyncio.StreamWriter) -> None:
            writer.write(STREAM_HEAD)
            while True:
                writer.write(b"data: " + b"x" * 1000 + b"\n\n")
                await writer.drain()

        server.on("/events", endless)
        server.on("/short", answer(200, b"data: " + b"x" * 5000, content_type="text/event-stream"))
        server.on("/json", answer(200, b"x" * 5000, content_type="application/json"))
        guarded = make_client(max_response_bytes=4096)
        async with guarded.streaming_client(max_stream_bytes=9000) as streaming:
            for path in ("/events", "/json"):
                with pytest.raises(httpx2.ReadError):
                    await streaming.get(server.url(path))
            assert (await streaming.get(server.url("/short"))).text == "data: " + "x" * 5000

    async def test_decompresses_nothing(self, server: WebServer, client: GuardedHttp) -> None:
        server.on("/", answer(200, gzip.compress(b"x" * 10_000_000), content_encoding="gzip"))
        async with client.streaming_client() as streaming:
            with pytest.raises(httpx2.DecodingError):
                await streaming.get(server.url("/"))

    async def test_ends_an_answer_that_falls_silent(self, server: WebServer, client: GuardedHttp) -> None:
        async def silent(_request: Received, writer: asyncio.StreamWriter) -> None:
            writer.write(STREAM_HEAD)
            await asyncio.sleep(60)

        server.on("/", silent)
        async with client.streaming_client(read_seconds=0.05) as streaming:
            with pytest.raises(httpx2.ReadTimeout):
                await streaming.get(server.url("/"))
