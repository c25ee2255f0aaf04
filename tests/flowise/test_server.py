"""The server itself: that it is the one that was asked for, and what it takes."""

import json
from collections.abc import Callable

import httpx2

from tests.flowise.server.process import ROOT, FlowiseProcess


class TestServer:
    def test_is_the_one_that_was_asked_for(self, wire: httpx2.Client) -> None:
        wanted = json.loads((ROOT / "tests/flowise/server/package.json").read_text())["dependencies"]["flowise"]
        assert wire.get("/api/v1/version").json() == {"version": wanted}

    def test_starts(self, flowise: FlowiseProcess, record_property: Callable[[str, object], None]) -> None:
        assert 0 < flowise.seconds_to_start < 300
        record_property("figures", f"started in {flowise.seconds_to_start:.1f} s, {flowise.megabytes:.0f} MB resident")

    def test_knows_the_key(self, wire: httpx2.Client) -> None:
        assert wire.get("/api/v1/chatflows").status_code == 200
        assert wire.get("/api/v1/chatflows", headers={"authorization": "Bearer nothing"}).status_code == 401
