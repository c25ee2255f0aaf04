import asyncio
import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from headgate.features.workspace import text
from headgate.features.workspace.folder import Folder
from headgate.features.workspace.user_workspace import UserWorkspace
from headgate.features.workspace.workspace import Workspace
from headgate.foundation.telemetry.prometheus import PrometheusInstruments
from tests.support.logs import captured_logs
from tests.support.workspaces import ALICE, NOBODY, everything, home, person, settings_in, workspace_in

LIMIT = 10_485_760


@pytest.fixture
def mine(tmp_path: Path) -> UserWorkspace:
    return workspace_in(tmp_path).for_agent(person(ALICE))


@pytest.fixture
def folder(mine: UserWorkspace, tmp_path: Path) -> Path:
    """Alice's folder on the disk."""
    with mine.binding.open():
        return home(tmp_path / "base", ALICE)


class TestReadFile:
    async def test_numbers_the_lines(self, mine: UserWorkspace) -> None:
        await mine.write_file("a.md", "one\n\nthree\n")
        assert await mine.read_file("a.md") == {
            "status": "ok",
            "path": "a.md",
            "content": "     1→one\n     2→\n     3→three",
            "total_lines": 3,
            "start_line": 1,
            "num_lines": 3,
        }

    async def test_gives_a_part(self, mine: UserWorkspace) -> None:
        await mine.write_file("a.md", "\n".join(f"line {number}" for number in range(1, 43)))
        found = await mine.read_file("a.md", offset=10, limit=2)
        assert found["content"] == "    10→line 10\n    11→line 11"
        assert (found["total_lines"], found["start_line"], found["num_lines"]) == (42, 10, 2)
        beyond = await mine.read_file("a.md", offset=100)
        assert (beyond["content"], beyond["total_lines"], beyond["num_lines"]) == ("", 42, 0)

    @pytest.mark.parametrize("part", [{"offset": 0}, {"offset": -1}, {"limit": 0}, {"limit": -5}])
    async def test_counts_from_one(self, mine: UserWorkspace, part: dict[str, int]) -> None:
        await mine.write_file("a.md", "x")
        assert await mine.read_file("a.md", **part) == {"error": "offset and limit count from 1", "path": "a.md"}

    async def test_of_an_empty_file_has_no_lines(self, mine: UserWorkspace) -> None:
        await mine.write_file("a.md", "")
        found = await mine.read_file("a.md")
        assert (found["content"], found["total_lines"], found["num_lines"]) == ("", 0, 0)

    async def test_refuses_binary_files_by_a_zero_in_their_first_8_kib(self, mine: UserWorkspace, folder: Path) -> None:
        (folder / "late.txt").write_bytes(b"x" * 8192 + b"\0")
        (folder / "early.bin").write_bytes(b"x" * 8191 + b"\0")
        assert (await mine.read_file("late.txt"))["status"] == "ok"
        assert await mine.read_file("early.bin") == {
            "error": "Refusing to read binary file: early.bin",
            "path": "early.bin",
        }

    async def test_refuses_files_over_10_mib(self, mine: UserWorkspace, folder: Path) -> None:
        with (folder / "large.txt").open("wb") as file:
            file.truncate(LIMIT + 1)
        assert (await mine.read_file("large.txt"))[
            "error"
        ] == f"Content size {LIMIT + 1} exceeds limit of {LIMIT} bytes"

    async def test_tells_what_is_no_file(self, mine: UserWorkspace, folder: Path) -> None:
        (folder / "docs").mkdir()
        assert await mine.read_file("missing.md") == {"error": "File not found: missing.md", "path": "missing.md"}
        assert (await mine.read_file("a/b/missing.md"))["error"] == "File not found: a/b/missing.md"
        for path in ("docs", ".", ""):
            assert "Path is a folder" in str((await mine.read_file(path))["error"])
        await mine.write_file("a.md", "x")
        assert "not a folder" in str((await mine.read_file("a.md/b"))["error"])

    async def test_opens_no_pipe_socket_or_device(self, mine: UserWorkspace, folder: Path) -> None:
        os.mkfifo(folder / "pipe")
        with socket.socket(socket.AF_UNIX) as line, Folder(os.open(folder, os.O_RDONLY)) as here:
            line.bind(f"/proc/self/fd/{here.descriptor}/s")  # the whole path is longer than a socket's may be
            for name in ("pipe", "s"):
                assert (await mine.read_file(name))["error"] == f"Refusing a special file: {name}"
                assert (await mine.write_file(name, "x"))["error"] == f"Refusing a special file: {name}"
        assert (await mine.glob_search("**"))["matches"] == []

    async def test_follows_no_link_of_any_kind(self, mine: UserWorkspace, folder: Path, tmp_path: Path) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "secret.txt").write_text("SECRET")
        (folder / "soft").symlink_to(outside / "secret.txt")
        (folder / "hard").hardlink_to(outside / "secret.txt")
        (folder / "dir").symlink_to(outside)
        (folder / "own").symlink_to(folder)
        for path in ("soft", "hard", "dir/secret.txt", "own/a.md"):
            refused = {"error": f"Path escapes workspace boundary: {path}", "path": path}
            assert await mine.read_file(path) == refused
            assert await mine.write_file(path, "x") == refused
            assert await mine.edit_file(path, "S", "s") == refused
        assert (await mine.glob_search("**"))["matches"] == ["hard"]
        assert (await mine.grep_search("SECRET"))["matches"] == []
        assert (await mine.grep_search("SECRET", "soft"))["error"] == "Path escapes workspace boundary: soft"
        assert (await mine.glob_search("*", "dir"))["error"] == "Path escapes workspace boundary: dir"
        assert (outside / "secret.txt").read_text() == "SECRET"


class TestWriteFile:
    async def test_makes_and_replaces(self, mine: UserWorkspace, folder: Path) -> None:
        assert await mine.write_file("docs/a.md", "héllo") == {
            "status": "created",
            "path": "docs/a.md",
            "bytes_written": 6,
        }
        assert (await mine.write_file("docs/a.md", "x"))["status"] == "updated"
        assert (folder / "docs" / "a.md").read_text() == "x"
        assert (folder / "docs" / "a.md").stat().st_mode & 0o777 == 0o600
        assert everything(folder) == ["docs/a.md"]

    async def test_takes_10_mib_and_no_more(self, mine: UserWorkspace, folder: Path) -> None:
        assert (await mine.write_file("a.txt", "x" * LIMIT))["bytes_written"] == LIMIT
        refused = await mine.write_file("b.txt", "x" * (LIMIT + 1))
        assert refused == {"error": f"Content size {LIMIT + 1} exceeds limit of {LIMIT} bytes", "path": "b.txt"}
        assert everything(folder) == ["a.txt"]

    async def test_leaves_the_old_content_when_the_disk_refuses(
        self, mine: UserWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await mine.write_file("a.md", "old")

        def full(*_: Any, **__: Any) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", full)
            assert "no space left" in str((await mine.write_file("a.md", "new"))["error"])
        assert (await mine.read_file("a.md"))["content"] == "     1→old"
        assert len(everything(tmp_path / "base")) == 1

    async def test_never_raises_for_what_a_model_says(self, mine: UserWorkspace) -> None:
        for path in ("\ud800", "a" * 5_000, "/" * 2_000, "a\0b", "CON", "..", "x/" * 500 + "y"):
            for answer in (
                await mine.read_file(path),
                await mine.write_file(path, "x"),
                await mine.edit_file(path, "a", "b"),
                await mine.glob_search(path),
                await mine.grep_search("x", path),
            ):
                assert set(answer) == {"error", "path"} or answer["status"] == "ok"
                assert json.dumps(answer).encode()
        assert "Unicode" in str((await mine.write_file("a.md", "\ud800"))["error"])


class TestQuota:
    async def test_bounds_what_a_person_keeps_in_bytes(self, tmp_path: Path) -> None:
        mine = workspace_in(tmp_path, max_bytes=2_000).for_agent(person(ALICE))
        await mine.write_file("a.md", "x" * 1_500)
        refused = await mine.write_file("b.md", "x" * 600)
        assert "600 bytes do not fit in addition to the 1500 bytes in use; the limit is 2000" in str(refused["error"])
        assert (await mine.write_file("a.md", "x" * 1_900))["status"] == "updated"
        assert "full" in str((await mine.edit_file("a.md", "x" * 100, "y" * 300, replace_all=True))["error"])
        assert (await mine.write_file("a.md", "x"))["status"] == "updated"
        assert (await mine.write_file("b.md", "x" * 600))["status"] == "created"

    async def test_bounds_what_a_person_keeps_in_files(self, tmp_path: Path) -> None:
        mine = workspace_in(tmp_path, max_files=2).for_agent(person(ALICE))
        for name in ("a", "d/b"):
            await mine.write_file(name, "x")
        refused = await mine.write_file("c", "x")
        assert "it has 2 files, and the limit is 2" in str(refused["error"])
        assert (await mine.write_file("a", "longer"))["status"] == "updated"

    async def test_holds_for_writes_at_once(self, tmp_path: Path) -> None:
        mine = workspace_in(tmp_path, max_files=5).for_agent(person(ALICE))
        answers = await asyncio.gather(*(mine.write_file(f"{number}.md", "x") for number in range(20)))
        assert sum("status" in answer for answer in answers) == 5


class TestEditFile:
    async def test_replaces_one_text(self, mine: UserWorkspace) -> None:
        await mine.write_file("a.md", "one two\r\nthree")
        assert await mine.edit_file("a.md", "two\r\n", "2\n") == {
            "status": "ok",
            "path": "a.md",
            "replacements": 1,
            "old_string": "two\r\n",
            "new_string": "2\n",
        }
        assert (await mine.read_file("a.md"))["content"] == "     1→one 2\n     2→three"

    async def test_wants_one_place_or_all_of_them(self, mine: UserWorkspace) -> None:
        await mine.write_file("a.md", "ab ab ab")
        refused = await mine.edit_file("a.md", "ab", "x")
        assert "appears 3 times in a.md" in str(refused["error"])
        assert "replace_all" in str(refused["error"])
        assert (await mine.edit_file("a.md", "ab", "x", replace_all=True))["replacements"] == 3
        assert (await mine.read_file("a.md"))["content"] == "     1→x x x"

    async def test_says_why_not(self, mine: UserWorkspace, folder: Path) -> None:
        await mine.write_file("a.md", "text")
        (folder / "latin.txt").write_bytes(b"caf\xe9")
        (folder / "b.bin").write_bytes(b"a\0b")
        assert (await mine.edit_file("missing.md", "a", "b"))["error"] == "File not found: missing.md"
        assert "not found in a.md" in str((await mine.edit_file("a.md", "nope", "b"))["error"])
        assert "empty" in str((await mine.edit_file("a.md", "", "b"))["error"])
        assert "identical" in str((await mine.edit_file("a.md", "text", "text"))["error"])
        for name in ("latin.txt", "b.bin"):
            assert (await mine.edit_file(name, "a", "b"))["error"] == f"Refusing to edit binary file: {name}"

    async def test_refuses_what_would_grow_over_10_mib(self, mine: UserWorkspace) -> None:
        await mine.write_file("a.txt", "x" * 1_000)
        projected = 1_000 * 100_000
        refused = await mine.edit_file("a.txt", "x", "y" * 100_000, replace_all=True)
        assert refused["error"] == f"Content size {projected} exceeds limit of {LIMIT} bytes"

    async def test_loses_no_edit_of_many_at_once(self, mine: UserWorkspace) -> None:
        await mine.write_file("a.md", " ".join(f"<{number:02}>" for number in range(20)))
        await asyncio.gather(*(mine.edit_file("a.md", f"<{number:02}>", f"{number}") for number in range(20)))
        assert (await mine.read_file("a.md"))["content"] == "     1→" + " ".join(str(number) for number in range(20))


class TestReadOnly:
    async def test_allows_reading_and_searching_only(self, tmp_path: Path) -> None:
        workspace = workspace_in(tmp_path)
        await workspace.for_flow(lambda: ALICE).write_file("a.md", "text")
        reader = workspace.for_flow(lambda: ALICE, read_only=True)
        for answer in (await reader.write_file("a.md", "x"), await reader.edit_file("a.md", "text", "x")):
            assert "read-only" in str(answer["error"])
        assert (await reader.read_file("a.md"))["content"] == "     1→text"
        assert (await reader.grep_search("text"))["matches"] == ["a.md"]


class TestMetrics:
    async def test_count_calls_boundaries_and_refusals(self, tmp_path: Path) -> None:
        metrics = PrometheusInstruments()
        mine = Workspace(settings_in(tmp_path), metrics).for_agent(person(ALICE))
        await mine.write_file("a.md", "x")
        await mine.read_file("missing.md")
        await mine.read_file("../x")
        await mine.read_file(".lfsig/x")
        nobody = Workspace(settings_in(tmp_path, auto_login=False), metrics).for_flow(lambda: NOBODY)
        await nobody.read_file("a.md")
        page = metrics.page().decode()
        for line in (
            'headgate_filesystem_tool_calls_total{action="write_file",outcome="ok"} 1.0',
            'headgate_filesystem_tool_calls_total{action="read_file",outcome="error"} 1.0',
            'headgate_filesystem_tool_calls_total{action="read_file",outcome="boundary"} 2.0',
            'headgate_filesystem_tool_calls_total{action="read_file",outcome="refused"} 1.0',
            'headgate_filesystem_tool_boundary_violations_total{mode="isolated"} 2.0',
            "headgate_filesystem_tool_refused_total 1.0",
        ):
            assert line in page


class TestMistakes:
    async def test_are_answered_in_short_and_logged_whole(
        self, mine: UserWorkspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(*_: object, **__: object) -> None:
            raise KeyError("of ours")

        monkeypatch.setattr(text, "read_file", broken)
        with captured_logs() as logs:
            assert await mine.read_file("a.md") == {"error": "read_file failed: KeyError", "path": "a.md"}
        assert [type(one["exc_info"]) for one in logs if one["event"] == "workspace.tool_failed"] == [KeyError]
