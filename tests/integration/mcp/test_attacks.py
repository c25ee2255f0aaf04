"""Clients of /mcp that mean harm: what they get, and that the server answers the next one."""

from typing import Any

import httpx2
import orjson
import pytest
from fastapi import FastAPI

from headgate.entrypoints.mcp import resources
from tests.support.mcp_client import connected, refused

HEADERS = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": "2025-11-25",
}


def request(method: str, **params: Any) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


async def post(url: str, body: bytes) -> httpx2.Response:
    async with httpx2.AsyncClient(timeout=30, headers=HEADERS) as client:
        answered = await client.post(f"{url}/mcp", content=body)
        assert (await client.post(f"{url}/mcp", content=request("tools/list"))).status_code == 200
    return answered


class TestAHostileRequest:
    @pytest.mark.parametrize(
        ("body", "status"),
        [
            (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400),
            (b"[" + b",".join([request("tools/list")] * 5_000) + b"]", 400),
            (b'{"jsonrpc":"2.0","id":' + b"9" * 5_000 + b',"method":"ping"}', 400),
            (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\ud800"}}', 400),
            (orjson.dumps({"jsonrpc": "2.0", "method": "notifications/x" * 10_000}), 202),
        ],
    )
    async def test_is_refused_whole(self, url: str, body: bytes, status: int) -> None:
        assert (await post(url, body)).status_code == status

    @pytest.mark.parametrize("cursor", ["\0", "' OR 1=1", "x" * 100_000, "\U0010ffff" * 36])
    async def test_names_no_page_with_a_cursor_of_its_own(self, url: str, cursor: str) -> None:
        said = (await post(url, request("resources/list", cursor=cursor))).text
        assert "bad_cursor" in said
        assert "SELECT" not in said

    async def test_is_not_told_what_a_driver_says(
        self, app: FastAPI, url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def broken(*_: object) -> None:
            raise RuntimeError("SELECT secrets FROM flows")

        monkeypatch.setattr(resources, "list_flows", broken)
        said = (await post(url, request("resources/list"))).text
        assert "internal_error" in said
        assert "SELECT" not in said

    async def test_walks_into_nothing_but_what_was_answered(self, url: str) -> None:
        async with connected(url) as client:
            for path in ("$0.__class__", "$0.components.real", "$0.by_category.__len__", "$1.done", "$9.x"):
                actions = [{"tool": "count_components"}, {"tool": "list_flows", "arguments": {"query": path}}]
                assert (await refused(client, "batch", actions=actions))["code"] == "bad_reference"

    async def test_cannot_make_much_of_little(self, url: str) -> None:
        actions = [
            {"tool": "search_components", "arguments": {"query": "text"}},
            {"tool": "create_flow", "arguments": {"name": "x", "description": ["$0.components"] * 100_000}},
        ]
        async with connected(url) as client:
            said = await refused(client, "batch", actions=actions)
        assert "more than 1000000 bytes" in said["error"]
