"""A local model fetched over REST by the real code, from a loopback HTTP server with ranges that is killed."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headgate.features.models.local import store, weights
from headgate.features.models.local.fetching import LocalFetches
from headgate.foundation.settings import ModelSettings, Settings
from tests.support.direct import DIRECT
from tests.support.range_server import RangeServer
from tests.support.team import Team, team

NAME = "qwen2.5-coder-0.5b"
CONTENT = b"GGUF" + bytes(range(256)) * 20_000
HALF = 2 << 20  # a whole number of the blocks that are written
PATIENCE = 60
FETCH = f"/local-models/{NAME}/fetch"


@pytest.fixture
def mirror() -> Iterator[RangeServer]:
    with RangeServer(len(CONTENT), lambda start, end: CONTENT[start:end]) as server:
        yield server


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The table's weights with five megabytes in place of half a gigabyte, in a folder of the test."""
    known = replace(weights.WEIGHTS[NAME], size=len(CONTENT), sha256=hashlib.sha256(CONTENT).hexdigest())
    for module in (weights, store):
        monkeypatch.setattr(module, "WEIGHTS", {NAME: known})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
async def house(settings: Settings, mirror: RangeServer) -> AsyncIterator[Team]:
    address = f"{mirror.origin}/weights/"
    async with team(settings, models=ModelSettings(mirror=address)) as people:
        yield people


def fetches_of(house: Team) -> LocalFetches:
    fetches: LocalFetches = house.app.state.local_fetches
    return fetches


async def start(house: Team) -> None:
    answer = await house.ask("admin", "POST", FETCH)
    assert answer.status_code == 202, answer.text


async def ended(house: Team) -> dict[str, Any]:
    """The model once its fetch is over."""
    fetch = fetches_of(house).find(NAME)
    assert fetch is not None
    assert await asyncio.to_thread(fetch.ended.wait, PATIENCE)
    return await shown(house)


async def shown(house: Team) -> dict[str, Any]:
    (model,) = await house.get("viewer", "/local-models")
    return dict(model)


async def entries(house: Team) -> list[tuple[str, str]]:
    page = await house.get("admin", "/audit?limit=50")
    return [
        (one["action"], one["resource"]["id"])
        for one in reversed(page["items"])
        if one["action"].startswith("model.fetch")
    ]


class TestFetchingOverREST:
    async def test_continues_by_range_when_the_server_was_killed_in_the_middle(
        self, house: Team, mirror: RangeServer
    ) -> None:
        mirror.holds_at = HALF
        await start(house)
        assert await asyncio.to_thread(mirror.halfway.wait, PATIENCE)
        assert (await shown(house))["fetching"]
        mirror.kill()
        mirror.holds_at = None
        mirror.start()
        model = await ended(house)
        assert (model["ready"], model["failed"], model["done"]) == (True, False, len(CONTENT))
        assert mirror.asked[0] == (f"/weights/{NAME}.gguf", "")
        assert mirror.asked[-1] == (f"/weights/{NAME}.gguf", f"bytes={HALF}-")
        file = store.find_local(store.default_models_dir(), NAME)
        assert file.read_bytes() == CONTENT

    async def test_one_that_was_stopped_keeps_its_bytes_and_another_process_continues(
        self, house: Team, mirror: RangeServer
    ) -> None:
        mirror.holds_at = HALF
        await start(house)
        assert await asyncio.to_thread(mirror.halfway.wait, PATIENCE)
        assert (await house.ask("admin", "DELETE", FETCH)).status_code == 204
        mirror.kill()
        stopped = await ended(house)
        assert (stopped["fetching"], stopped["failed"]) == (False, False)
        assert 0 < stopped["done"] <= HALF
        assert stopped["detail"] == "Stopped. The downloaded part is kept."
        mirror.holds_at = None
        mirror.start()
        other = LocalFetches(house.app.state.local_models, DIRECT, f"{mirror.origin}/weights")
        assert await asyncio.to_thread(other.start(NAME).ended.wait, PATIENCE)
        assert (await shown(house))["ready"]
        assert mirror.asked[-1][1] == f"bytes={stopped['done']}-"

    async def test_wrong_bytes_are_thrown_away_and_the_next_fetch_has_the_right_ones(
        self, house: Team, mirror: RangeServer
    ) -> None:
        mirror.piece = lambda start, end: b"?" * (end - start)
        await start(house)
        wrong = await ended(house)
        assert (wrong["ready"], wrong["failed"], wrong["done"]) == (False, True, 0)
        assert "SHA-256 differs" in wrong["detail"]
        mirror.piece = lambda start, end: CONTENT[start:end]
        await start(house)
        assert (await ended(house))["ready"]


class TestTheAuditLog:
    async def test_has_who_started_and_who_stopped_a_fetch(self, house: Team, mirror: RangeServer) -> None:
        mirror.holds_at = HALF
        await start(house)
        assert await asyncio.to_thread(mirror.halfway.wait, PATIENCE)
        assert (await house.ask("admin", "DELETE", FETCH)).status_code == 204
        mirror.kill()
        await ended(house)
        assert (await house.ask("admin", "DELETE", FETCH)).status_code == 204
        target = f"local/{NAME}"
        assert await entries(house) == [("model.fetched", target), ("model.fetch_stopped", target)]

    async def test_has_nothing_of_who_may_not(self, house: Team, mirror: RangeServer) -> None:
        for method in ("POST", "DELETE"):
            assert (await house.ask("owner", method, FETCH)).status_code == 403
        assert await entries(house) == []
        assert mirror.asked == []
