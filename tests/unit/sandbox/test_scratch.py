import os
from pathlib import Path

import pytest

from headgate.sandbox.guest.scratch import make_scratch, remove_scratch


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    return make_scratch(tmp_path, "w1", None)


class TestMakeScratch:
    def test_lets_nobody_else_in(self, scratch: Path) -> None:
        assert scratch.stat().st_mode & 0o777 == 0o700

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")
    def test_gives_the_folder_to_its_user(self, tmp_path: Path) -> None:
        assert make_scratch(tmp_path, "w2", 60600).stat().st_uid == 60600


class TestRemoveScratch:
    def test_removes_files_and_folders(self, scratch: Path, tmp_path: Path) -> None:
        (scratch / "a" / "b").mkdir(parents=True)
        (scratch / "a" / "file").write_text("x")
        (scratch / "0").mkdir()
        (scratch / "1").write_text("a name that the removal itself uses")
        remove_scratch(scratch)
        assert list(tmp_path.iterdir()) == []

    def test_follows_no_link(self, scratch: Path, tmp_path: Path) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "kept").write_text("x")
        (scratch / "link").symlink_to(outside)
        remove_scratch(scratch)
        assert (outside / "kept").read_text() == "x"

    def test_opens_what_its_owner_has_closed(self, scratch: Path, tmp_path: Path) -> None:
        (scratch / "closed" / "deeper").mkdir(parents=True)
        (scratch / "closed" / "deeper" / "file").write_text("x")
        (scratch / "closed" / "deeper").chmod(0o300)
        (scratch / "closed").chmod(0)
        remove_scratch(scratch)
        assert list(tmp_path.iterdir()) == []

    def test_reaches_deeper_than_a_path_can_say(self, scratch: Path, tmp_path: Path) -> None:
        here = os.open(".", os.O_RDONLY)
        try:
            os.chdir(scratch)
            for _ in range(3000):
                os.mkdir("deep")  # noqa: PTH102 - by descriptor of the current folder
                os.chdir("deep")
        finally:
            os.fchdir(here)
            os.close(here)
        remove_scratch(scratch)
        assert list(tmp_path.iterdir()) == []
