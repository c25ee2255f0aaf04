import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from headgate.features.workspace.errors import WorkspaceUnavailable
from headgate.features.workspace.folder import Folder
from headgate.features.workspace.pepper import PEPPER_FILE, compute_user_namespace, load_or_create_pepper

FIRST_START = """
import os, sys
from headgate.features.workspace.folder import Folder
from headgate.features.workspace.pepper import load_or_create_pepper
sys.stdin.readline()
print(load_or_create_pepper(Folder(os.open(sys.argv[1], os.O_RDONLY))).hex())
"""


@pytest.fixture
def base(tmp_path: Path) -> Folder:
    return Folder(os.open(tmp_path, os.O_RDONLY))


class TestPepper:
    def test_is_made_once_and_is_the_owners_alone(self, base: Folder, tmp_path: Path) -> None:
        made = load_or_create_pepper(base)
        assert len(made) == 32
        assert load_or_create_pepper(base) == made == (tmp_path / PEPPER_FILE).read_bytes()
        assert stat.S_IMODE((tmp_path / PEPPER_FILE).stat().st_mode) == 0o600
        assert [path.name for path in tmp_path.iterdir()] == [PEPPER_FILE]

    @pytest.mark.parametrize("content", [b"", b"x" * 31, b"x" * 33])
    def test_of_another_size_is_refused_and_never_replaced(self, base: Folder, tmp_path: Path, content: bytes) -> None:
        load_or_create_pepper(base)
        (tmp_path / PEPPER_FILE).write_bytes(content)
        with pytest.raises(WorkspaceUnavailable, match="32 bytes"):
            load_or_create_pepper(base)
        assert (tmp_path / PEPPER_FILE).read_bytes() == content

    def test_is_not_read_through_a_link_or_from_a_pipe(self, base: Folder, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").write_bytes(b"x" * 32)
        (tmp_path / PEPPER_FILE).symlink_to(tmp_path / "elsewhere")
        with pytest.raises(OSError, match="links"):
            load_or_create_pepper(base)
        (tmp_path / PEPPER_FILE).unlink()
        os.mkfifo(tmp_path / PEPPER_FILE)
        with pytest.raises(WorkspaceUnavailable):
            load_or_create_pepper(base)

    def test_is_the_same_for_first_starts_that_race(self, tmp_path: Path) -> None:
        starts = [
            subprocess.Popen(
                [sys.executable, "-c", FIRST_START, str(tmp_path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(4)
        ]
        for start in starts:
            assert start.stdin is not None
            start.stdin.write("go\n")
            start.stdin.flush()
        found = {start.communicate()[0].strip() for start in starts}
        assert found == {(tmp_path / PEPPER_FILE).read_bytes().hex()}
        assert [path.name for path in tmp_path.iterdir()] == [PEPPER_FILE]


class TestNamespace:
    def test_is_one_for_a_person_and_tells_nothing_of_them(self) -> None:
        found = compute_user_namespace(b"p" * 32, "tenant", "alice")
        assert found == compute_user_namespace(b"p" * 32, "tenant", "alice")
        assert len(found) == 32
        assert set(found) <= set("0123456789abcdef")
        assert "alice" not in found

    def test_differs_by_pepper_tenant_and_person(self) -> None:
        peppers, names = (b"p" * 32, b"q" * 32), ("a", "b", "ab", "")
        found = {compute_user_namespace(one, two, three) for one in peppers for two in names for three in names}
        assert len(found) == 2 * 4 * 4
