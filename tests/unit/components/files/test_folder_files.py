"""Files of a workspace folder, as files of the run."""

from pathlib import Path
from typing import Any

import pytest

from headgate.components.files import folder_files
from headgate.components.files.folder_files import FolderFiles
from headgate.features.workspace.places import Owner
from headgate.sdk import ComponentError
from tests.support.workspaces import ALICE, BOB, NOBODY, home
from tests.unit.components.files.test_workspace_files import harness


def fill(folder: Path, owner: Owner = ALICE) -> None:
    """A workspace with some files."""
    root = home(folder / "base", owner)
    (root / "in" / "deep").mkdir(parents=True)
    (root / "in" / "b.pdf").write_bytes(b"%PDF\0")
    (root / "in" / "a.txt").write_text("one")
    (root / "in" / "deep" / "a.txt").write_text("two")
    (root / "other.txt").write_text("three")


async def start(folder: Path) -> Any:
    """Open the workspace, which creates it, then fill it."""
    found = harness(folder, ALICE)
    tools = await found.ctx.workspace()
    assert (await tools.write_file("made.md", "x"))["status"] == "created"
    fill(folder)
    return found


class TestFolderFiles:
    async def test_are_the_files_themselves(self, tmp_path: Path) -> None:
        found = await start(tmp_path)
        outputs = await found.run(FolderFiles, {"folder": "in"})
        assert [(file["path"], file["name"], file["media_type"]) for file in outputs["files"]] == [
            ("in/a.txt", "a.txt", "text/plain"),
            ("in/b.pdf", "b.pdf", "application/pdf"),
        ]
        assert [await found.ctx.files.read(file) for file in found.ctx.files.saved] == [b"one", b"%PDF\0"]
        assert outputs["table"].rows == [["in/a.txt", 3, None], ["in/b.pdf", 5, None]]

    async def test_a_pattern_reaches_folders_below(self, tmp_path: Path) -> None:
        found = await start(tmp_path)
        outputs = await found.run(FolderFiles, {"pattern": "**/*.txt"})
        assert [file["path"] for file in outputs["files"]] == ["in/a.txt", "in/deep/a.txt", "other.txt"]

    @pytest.mark.parametrize("folder", ["missing", "../base", "/etc", ".components"])
    async def test_no_folder_elsewhere_is_read(self, tmp_path: Path, folder: str) -> None:
        with pytest.raises(ComponentError, match="FolderFiles: "):
            await (await start(tmp_path)).run(FolderFiles, {"folder": folder})

    async def test_more_files_than_wanted_are_an_error(self, tmp_path: Path) -> None:
        found = await start(tmp_path)
        with pytest.raises(ComponentError, match="2 files match; the limit is 1"):
            await found.run(FolderFiles, {"folder": "in", "most_files": 1})
        assert found.ctx.files.saved == []

    async def test_so_are_more_bytes(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(folder_files, "MOST_BYTES", 7)
        with pytest.raises(ComponentError, match="more than 7 bytes"):
            await (await start(tmp_path)).run(FolderFiles, {"folder": "in"})

    async def test_nobody_has_none(self, tmp_path: Path) -> None:
        with pytest.raises(ComponentError, match="requires an authenticated user"):
            await harness(tmp_path, NOBODY).run(FolderFiles, {})

    async def test_are_those_of_the_user_who_started_the_run(self, tmp_path: Path) -> None:
        await start(tmp_path)
        assert (await harness(tmp_path, BOB).run(FolderFiles, {"pattern": "**"}))["files"] == []
