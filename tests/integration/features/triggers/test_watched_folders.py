"""Folder triggers whose server reports new files, in the real application, on both databases."""

import asyncio
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from headgate.features.triggers.polling import folders, listening, watching
from headgate.foundation import extras
from headgate.foundation.errors import HeadgateError, UpstreamFailed
from tests.integration.features.triggers.conftest import add, occurrences, published, until
from tests.integration.features.triggers.test_polls import (
    connection,
    first_poll,
    has_occurrences,
    is_listening,
    polled,
    texts,
    us,
)
from tests.support.team import Team

__all__ = ["us"]
LOCAL = {"kind": "folder", "folder": "in", "pattern": "**/*.txt", "text_from": "path", "every_seconds": 86_400}


@pytest.fixture(autouse=True)
def settled_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "SETTLE_SECONDS", 1)
    monkeypatch.setattr(listening, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(watching, "QUIET_SECONDS", 0.05)


@pytest.fixture
def opened(tmp_path: Path) -> Path:
    (tmp_path / "opened" / "in").mkdir(parents=True)
    return tmp_path / "opened"


async def watched(us: Team, **changes: Any) -> dict[str, Any]:
    """A trigger that listens to a folder of the server."""
    await connection(us, "store", "local_folder", {"folder": "opened"})
    trigger: dict[str, Any] = await add(us, await published(us), config=LOCAL | {"connection": "store"} | changes)
    await until(partial(is_quiet, us, trigger))
    return trigger


async def is_quiet(us: Team, trigger: dict[str, Any]) -> bool:
    """Whether it listens with nothing left to poll: its next poll is that of the interval."""
    async with us.database.reading() as session:
        query = text("SELECT next_at - polled_at FROM triggers WHERE id = :id AND worker_id IS NULL")
        wait = (await session.execute(query, {"id": trigger["id"]})).scalar()
    return wait is not None and wait > 80_000_000_000 and await is_listening(trigger)


class TestFolders:
    async def test_a_dropped_file_starts_its_run_at_once(self, us: Team, opened: Path) -> None:
        trigger = await watched(us)
        (opened / "in" / "other.csv").write_text("1")
        (opened / "in" / "a.txt").write_text("a")
        await until(lambda: has_occurrences(us, trigger, 1))
        (opened / "b.part").write_text("b")
        (opened / "b.part").rename(opened / "in" / "b.txt")
        await until(lambda: has_occurrences(us, trigger, 2))
        assert await texts(us, trigger) == ["in/a.txt", "in/b.txt"]
        assert (await us.get("publisher", f"/triggers/{trigger['id']}"))["only_polled"] == ""

    async def test_in_the_workspace(self, us: Team) -> None:
        trigger = await add(us, await published(us), config=LOCAL)
        await until(partial(is_quiet, us, trigger))
        params = {"path": "in/deep/new.txt", "area": "flows"}
        await us.ask("publisher", "PUT", "/workspace/files/content", params=params, json={"text": "1"})
        await until(lambda: has_occurrences(us, trigger, 1))
        assert await texts(us, trigger) == ["in/deep/new.txt"]

    async def test_many_at_once_in_new_folders_are_one_run_each(self, us: Team, opened: Path) -> None:
        trigger = await watched(us)
        for folder in range(4):
            (opened / "in" / f"f{folder}" / "deep").mkdir(parents=True)
            for number in range(15):
                (opened / "in" / f"f{folder}" / "deep" / f"{number}.txt").write_text(f"{folder} {number}")
        await until(lambda: has_occurrences(us, trigger, 60))
        keys = {row["key"] for row in await occurrences(us, trigger["id"])}
        assert len(keys) == 60

    async def test_a_folder_that_vanishes_and_returns(self, us: Team, opened: Path) -> None:
        trigger = await watched(us)
        shutil.rmtree(opened / "in")

        async def waits_for() -> bool:
            shown = await us.get("publisher", f"/triggers/{trigger['id']}")
            return bool(shown["waits_for"] == "in")

        await until(waits_for)
        await until(partial(is_quiet, us, trigger))
        (opened / "new").mkdir()
        (opened / "new" / "a.txt").write_text("a")
        (opened / "new").rename(opened / "in")
        await until(lambda: has_occurrences(us, trigger, 1))
        await until(partial(is_quiet, us, trigger))
        (opened / "in").rename(opened / "old")
        await until(waits_for)
        assert await texts(us, trigger) == ["in/a.txt"]

    async def test_is_polled_without_the_extra_and_says_so(
        self, us: Team, opened: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(extras.EXTRAS, "watch", ("no_such_module",))
        await connection(us, "store", "local_folder", {"folder": "opened"})
        trigger = await add(us, await published(us), config=LOCAL | {"connection": "store"})
        await first_poll(us, trigger)

        async def reason() -> Any:
            return (await us.get("publisher", f"/triggers/{trigger['id']}"))["only_polled"]

        assert "pip install 'headgate[watch]'" in await until(reason)
        (opened / "in" / "a.txt").write_text("a")
        await polled(us, trigger)
        await until(lambda: has_occurrences(us, trigger, 1))
        monkeypatch.undo()
        await polled(us, trigger)

        async def is_cleared() -> bool:
            return bool(await reason() == "")

        await until(is_cleared)

    async def test_switched_off_is_only_polled(self, us: Team, opened: Path) -> None:
        await connection(us, "store", "local_folder", {"folder": "opened"})
        trigger = await add(us, await published(us), config=LOCAL | {"connection": "store", "watch": False})
        await first_poll(us, trigger)
        await polled(us, trigger)
        assert not await is_listening(trigger)


class TestWatching:
    async def wait(
        self, root: Path, known: str, *, folder: str = "", pattern: str = "**/*", seconds: float = 20
    ) -> str:
        return await watching.wait_for_change(watching.LocalFolder(root, folder, pattern), known, seconds)

    async def test_ends_after_the_time_and_when_cancelled(self, tmp_path: Path) -> None:
        state = await self.wait(tmp_path, "")
        assert await self.wait(tmp_path, state, seconds=0.1) == state
        waiting = asyncio.create_task(self.wait(tmp_path, state))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    async def test_follows_no_link(self, tmp_path: Path) -> None:
        (tmp_path / "root" / "in").mkdir(parents=True)
        (tmp_path / "outside").mkdir()
        (tmp_path / "root" / "in" / "link").symlink_to(tmp_path / "outside")
        (tmp_path / "root" / "other").symlink_to(tmp_path / "outside")
        state = await self.wait(tmp_path / "root", "")
        missing = await self.wait(tmp_path / "root", "", folder="other")
        (tmp_path / "outside" / "a.txt").write_text("a")
        assert await self.wait(tmp_path / "root", "") == state
        assert await self.wait(tmp_path / "root", "", folder="other") == missing

    async def test_is_bounded(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(watching, "MOST_FOLDERS", 3)
        for name in ("a", "b", "c"):
            (tmp_path / name).mkdir()
        with pytest.raises(HeadgateError, match="3 folders are not watched"):
            await self.wait(tmp_path, "")
        assert await self.wait(tmp_path, "", pattern="*.txt")

    async def test_of_a_root_that_is_gone_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(UpstreamFailed, match="does not exist"):
            await self.wait(tmp_path / "gone", "")

    async def test_an_event_without_a_change_that_counts_ends_nothing(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        listed = asyncio.Event()
        loop, list_folder = asyncio.get_running_loop(), watching._list

        def count(local: watching.LocalFolder) -> Any:
            result = list_folder(local)
            if (tmp_path / "a.csv").exists():
                loop.call_soon_threadsafe(listed.set)
            return result

        state = await self.wait(tmp_path, "", pattern="*.txt")
        monkeypatch.setattr(watching, "_list", count)
        waiting = asyncio.create_task(self.wait(tmp_path, state, pattern="*.txt"))
        (tmp_path / "a.csv").write_text("1")
        await listed.wait()
        assert not waiting.done()
        (tmp_path / "a.txt").write_text("1")
        assert await waiting != state
