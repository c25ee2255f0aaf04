"""The real server on a real socket: heads and bodies that are too large, too many or too slow."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.types import Receive, Scope, Send

from headgate.foundation.settings import ServerSettings
from tests.integration.http.asking import listening

READ_SECONDS = "0.5"
REST_SECONDS = 1


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A server that waits for half a second, as `headgate serve` starts it."""
    folder = tmp_path_factory.mktemp("bounded")
    environment = {
        **os.environ,
        "HEADGATE_DATA_DIR": str(folder),
        "HEADGATE_SERVER__READ_SECONDS": READ_SECONDS,
        "HEADGATE_SERVER__KEEP_ALIVE_SECONDS": str(REST_SECONDS),
        "HEADGATE_SERVER__MAX_BODY_BYTES": "10000",
    }
    command = [sys.executable, "-m", "headgate", "serve", "--port", "0", "--json"]
    with Path(folder / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, cwd=folder, stdout=subprocess.PIPE, stderr=log)
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, (folder / "log").read_text()
        yield int(json.loads(line)["url"].rpartition(":")[2])
        process.terminate()
        process.communicate(timeout=20)


def answer_to(port: int, *parts: bytes) -> bytes:
    """Everything that comes back until the server closes; parts are sent a quarter of a second apart."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        for number, part in enumerate(parts):
            if number:
                time.sleep(0.25)
            try:
                connection.sendall(part)
            except ConnectionError:
                break
        found = b""
        try:
            while part := connection.recv(65_536):
                found += part
        except ConnectionResetError:
            pass
        return found


def head(*lines: str, method: str = "GET", path: str = "/health") -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *lines, "", ""]).encode()


class TestHeads:
    def test_of_common_size_are_answered(self, port: int) -> None:
        many = [f"x-{number}: {'v' * 500}" for number in range(80)]
        assert answer_to(port, head(*many, "Connection: close")).startswith(b"HTTP/1.1 200 ")

    @pytest.mark.parametrize(
        "sent",
        [
            head("x: " + "v" * 70_000),
            head(*(f"x-{number}: v" for number in range(101))),
            head(path="/" + "p" * 70_000),
            b"GET / HTTP/1.1\r\nx: " + b"v" * 300_000,
            b"GET /" + b"p" * 300_000,
        ],
        ids=["one long header", "many headers", "a long address", "a header without end", "an address without end"],
    )
    def test_that_are_too_large_are_refused(self, port: int, sent: bytes) -> None:
        answer = answer_to(port, sent)
        # The system resets a connection of which not everything was read, and may throw the answer away.
        assert answer == b"" or answer.startswith(b"HTTP/1.1 431 ")
        if answer:
            assert b"content-security-policy: default-src 'none'" in answer

    @pytest.mark.parametrize(
        "parts",
        [[b""], [b"GET / HT"], [b"\r\n"] * 6, [b"G", b"E", b"T", b" ", b"/", b" "]],
        ids=["nothing", "a part", "empty lines", "a drip"],
    )
    def test_that_are_too_slow_are_refused(self, port: int, parts: list[bytes]) -> None:
        assert answer_to(port, *parts).startswith(b"HTTP/1.1 408 ")

    def test_that_follow_an_answer_are_bounded_too(self, port: int) -> None:
        answer = answer_to(port, head(), b"\r\n", b"GET / HTTP/1.1\r\nx: ")
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert b"HTTP/1.1 408 " in answer

    def test_that_are_no_http_are_refused(self, port: int) -> None:
        assert answer_to(port, b"\x16\x03\x01 nonsense\r\n\r\n").startswith(b"HTTP/1.1 400 ")


async def slow_app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers in three parts, each later than a head may be."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(3):
        await asyncio.sleep(0.15)
        await send({"type": "http.response.body", "body": b"part", "more_body": True})
    await send({"type": "http.response.body"})


class TestAnswers:
    @pytest.mark.parametrize("halved", [0, 1, 8], ids=["nothing", "a byte", "half a request"])
    @pytest.mark.parametrize("between", [b"", b"\r\n"], ids=["no line", "an empty line"])
    async def test_take_what_they_take(self, between: bytes, halved: int) -> None:
        following = between + head("Connection: close")
        async with listening(slow_app, seconds=0.05) as address:
            port = int(address.rpartition(":")[2])
            answer = await asyncio.to_thread(answer_to, port, head(), following[:halved], following[halved:])
        assert answer.count(b"part") >= 3, "a timer that is meant for heads cut the answer short"


class TestConnections:
    def test_rest_between_requests_for_as_long_as_the_setting_says(self, port: int) -> None:
        began = time.monotonic()
        answer = answer_to(port, head())
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert b"connection: close" not in answer.lower()
        assert time.monotonic() - began >= REST_SECONDS

    def test_rest_for_longer_than_the_common_proxies_let_them(self) -> None:
        nginx, load_balancer = 60, 60  # seconds, unless they are told otherwise
        assert ServerSettings().keep_alive_seconds > max(nginx, load_balancer)


class TestBodies:
    def test_that_stop_coming_are_given_up(self, port: int) -> None:
        lines = ("Content-Type: application/json", "Content-Length: 100")
        answer = answer_to(port, head(*lines, method="POST", path="/api/v1/flows") + b'{"spec": ')
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b'"body_too_slow"' in answer

    def test_that_hide_their_length_are_bounded(self, port: int) -> None:
        lines = ("Content-Type: application/json", "Transfer-Encoding: chunked")
        chunk = b"1000\r\n" + b"x" * 0x1000 + b"\r\n"
        answer = answer_to(port, head(*lines, method="POST", path="/api/v1/flows") + chunk * 4 + b"0\r\n\r\n")
        assert answer == b"" or answer.startswith(b"HTTP/1.1 413 ")

    def test_come_in_one_form_only(self, port: int) -> None:
        both = ("Content-Length: 3", "Transfer-Encoding: chunked")
        answer = answer_to(
            port, head(*both, method="POST", path="/api/v1/flows") + b"0\r\n\r\nGET /health HTTP/1.1\r\n"
        )
        assert answer.startswith(b"HTTP/1.1 400 "), "two lengths are how requests are smuggled past a proxy"


class TestUpgrades:
    def test_to_a_web_socket_are_not_taken(self, port: int) -> None:
        lines = (
            "Connection: Upgrade, close",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: eA==",
        )
        assert b"101" not in answer_to(port, head(*lines)).split(b"\r\n")[0]
