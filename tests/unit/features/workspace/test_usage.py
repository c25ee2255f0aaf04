"""What is noted of a workspace's usage is what counting gives, whoever wrote; else it is counted."""

import multiprocessing
import os
import time
from pathlib import Path

import pytest

from headgate.features.workspace import text
from headgate.features.workspace.components import clear_components, register_component
from headgate.features.workspace.errors import WorkspaceFull
from headgate.features.workspace.folder import Folder
from headgate.features.workspace.places import Places
from headgate.features.workspace.root import Root
from headgate.features.workspace.usage import GOOD_SECONDS
from headgate.features.workspace.workspace import Workspace
from headgate.foundation.errors import HeadgateError
from tests.support.workspaces import ALICE, home, person, settings_in

WRITERS, WRITES = 3, 40


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(settings_in(tmp_path, max_files=5, max_bytes=1_024))


def noted(root: Root) -> tuple[int, int] | None:
    """Files and bytes of the note."""
    found = root.note.read()
    return None if found is None else (found.files, found.size)


def really(root: Root) -> tuple[int, int]:
    """The same, counted."""
    found = root.usage()
    return found.files, found.size


def write_many(folder: Path, who: int) -> None:
    """What one process writes: new files, and one that all write, each longer than the last."""
    places = Places(settings_in(folder))
    for number in range(WRITES):
        with places.open(ALICE, isolated=True) as root:
            text.write_file(root, f"{who}/{number}.md", "x" * number)
            text.write_file(root, "all.md", "y" * (who + number))


class TestNote:
    def test_is_what_counting_gives(self, places: Places) -> None:
        with places.open(ALICE, isolated=True) as root:
            for path, content in (("a", "12345"), ("d/e/b", "123"), ("a", "1"), ("a", "1234567"), ("c", "")):
                text.write_file(root, path, content)
                assert noted(root) == really(root)
            text.edit_file(root, "a", "123", "")
            assert noted(root) == really(root) == (3, 7)

    def test_spares_the_counting(self, places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
        with places.open(ALICE, isolated=True) as root:
            text.write_file(root, "a", "1")
            monkeypatch.setattr(Root, "usage", lambda self: pytest.fail("counted again"))
            text.write_file(root, "b", "12")
            assert noted(root) == (2, 3)

    def test_is_right_after_several_processes_wrote(self, tmp_path: Path) -> None:
        context = multiprocessing.get_context("spawn")
        writers = [context.Process(target=write_many, args=(tmp_path, who)) for who in range(WRITERS)]
        for one in writers:
            one.start()
        for one in writers:
            one.join()
        assert [one.exitcode for one in writers] == [0] * WRITERS
        with Places(settings_in(tmp_path)).open(ALICE, isolated=True) as root:
            assert noted(root) == really(root)
            assert really(root)[0] == WRITERS * WRITES + 1

    def test_is_gone_when_a_write_went_wrong(self, places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
        def fails(self: Folder, name: str, content: bytes, staging: Folder) -> None:
            raise OSError(5, os.strerror(5))

        with places.open(ALICE, isolated=True) as root:
            text.write_file(root, "a", "1")
            with monkeypatch.context() as patch:
                patch.setattr(Folder, "replace", fails)
                with pytest.raises(HeadgateError):
                    text.write_file(root, "b", "12")
            assert noted(root) is None
            text.write_file(root, "c", "1")
            assert noted(root) == really(root) == (2, 2)

    @pytest.mark.parametrize("content", [b"", b"[1,", b"null", b"[1]", b'["a",2,"b"]', b"[1,2,3]", b"9" * 500])
    def test_that_is_none_is_not_believed(self, places: Places, content: bytes) -> None:
        with places.open(ALICE, isolated=True) as root:
            text.write_file(root, "a", "1")
            (note,) = (places.base / ".usage").iterdir()
            note.write_bytes(content)
            assert noted(root) is None
            text.write_file(root, "b", "1")
            assert noted(root) == (2, 2)

    def test_that_is_old_is_not_believed(self, places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
        with places.open(ALICE, isolated=True) as root:
            text.write_file(root, "a", "1")
            later = time.time() + GOOD_SECONDS
            monkeypatch.setattr(time, "time", lambda: later)
            assert noted(root) is None

    def test_refuses_nobody_who_made_room_by_hand(self, places: Places) -> None:
        with places.open(ALICE, isolated=True) as root:
            for number in range(5):
                text.write_file(root, f"{number}", "x" * 200)
            with pytest.raises(WorkspaceFull):
                text.write_file(root, "more", "")
            (home(places.base, ALICE) / "0").unlink()
            text.write_file(root, "more", "x" * 200)
            assert noted(root) == really(root) == (5, 1_000)

    @pytest.mark.parametrize("linked", [".usage", ".usage/note"])
    def test_is_never_written_through_a_link(self, places: Places, tmp_path: Path, linked: str) -> None:
        with places.open(ALICE, isolated=True) as root:
            text.write_file(root, "a", "1")
            (note,) = (places.base / ".usage").iterdir()
            outside = tmp_path / "outside"
            outside.mkdir()
            (outside / note.name).write_bytes(b"theirs")
            note.unlink()
            if linked == ".usage":
                note.parent.rmdir()
                note.parent.symlink_to(outside)
            else:
                note.symlink_to(outside / note.name)
            assert noted(root) is None
            for path in ("b", "c"):
                try:
                    text.write_file(root, path, "1")
                except HeadgateError:
                    assert linked == ".usage"
            assert (outside / note.name).read_bytes() == b"theirs"


class TestDeleting:
    async def test_components_takes_the_note_away(self, tmp_path: Path) -> None:
        mine = Workspace(settings_in(tmp_path)).for_agent(person(ALICE))
        await mine.write_file("a.md", "12")
        await register_component(mine, "Sum", "x = 1\n")
        assert await clear_components(mine) == 1
        with mine.binding.open() as root:
            assert noted(root) is None
        await mine.write_file("b.md", "1")
        with mine.binding.open() as root:
            assert noted(root) == really(root) == (2, 3)
