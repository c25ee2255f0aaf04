"""Links that come and go while tools work: what is outside is never read and never written."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from headgate.features.workspace import searching, text
from headgate.features.workspace.places import Places
from headgate.features.workspace.root import Root
from headgate.foundation.errors import HeadgateError
from tests.support.workspaces import ALICE, everything, home, settings_in

READS = 12_000
WRITES = 1_500

SWAP = """
import ctypes, os, sys
home, outside = sys.argv[1:]
os.chdir(home)
os.symlink(outside, "folder.link")
os.symlink(os.path.join(outside, "secret.txt"), "file.link")
libc, here, exchange = ctypes.CDLL(None, use_errno=True), -100, 2
def swap(one, other):
    if libc.renameat2(here, one, here, other, exchange):
        raise OSError(ctypes.get_errno(), "renameat2")
print("ready", flush=True)
while True:
    # At each moment the names are a folder and a file, or links to what is outside; they are never missing.
    swap(b"folder", b"folder.link")
    swap(b"file.txt", b"file.link")
"""


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_text("SECRET")
    return folder


@pytest.fixture
def places(tmp_path: Path) -> Places:
    found = Places(settings_in(tmp_path))
    with found.open(ALICE, isolated=True) as root:
        text.write_file(root, "folder/secret.txt", "mine")
        text.write_file(root, "file.txt", "mine")
    return found


@contextmanager
def swapping(places: Places, outside: Path) -> Iterator[Root]:
    """Alice's workspace, open, while another process swaps its names for links."""
    folder = home(places.base, ALICE)
    swapper = subprocess.Popen([sys.executable, "-c", SWAP, str(folder), str(outside)], stdout=subprocess.PIPE)
    try:
        assert swapper.stdout is not None
        swapper.stdout.readline()
        with places.open(ALICE, isolated=True) as root:
            yield root
        assert swapper.poll() is None, "the swapper died, so nothing was raced"
    finally:
        swapper.kill()
        swapper.communicate()


class TestSwappedLinks:
    @pytest.mark.parametrize("path", ["folder/secret.txt", "file.txt"])
    def test_are_never_read_through(self, places: Places, outside: Path, path: str) -> None:
        outcomes: Counter[str] = Counter()
        with swapping(places, outside) as root:
            for _ in range(READS):
                try:
                    content = text.read_bytes(root, path)
                except HeadgateError as error:
                    outcomes[error.code] += 1
                else:
                    outcomes["read"] += 1
                    assert content == b"mine"
        assert outcomes["read"]
        assert outcomes["workspace_path_escapes"], "no link was met, so nothing was raced"

    def test_are_never_written_through(self, places: Places, outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "fsync", lambda _: None)  # more tries in less time
        outcomes: Counter[str] = Counter()
        with swapping(places, outside) as root:
            for number in range(WRITES):
                for path in ("folder/new.txt", "folder/secret.txt", "folder/deep/new.txt"):
                    try:
                        text.write_file(root, path, f"write {number}")
                    except HeadgateError as error:
                        outcomes[error.code] += 1
                    else:
                        outcomes["written"] += 1
        assert everything(outside) == ["secret.txt"]
        assert (outside / "secret.txt").read_text() == "SECRET"
        assert outcomes["written"]
        assert outcomes["workspace_path_escapes"], "no link was met, so nothing was raced"

    def test_are_never_searched_through(self, places: Places, outside: Path) -> None:
        found = 0
        with swapping(places, outside) as root:
            for _ in range(READS // 10):
                listed = searching.glob_search(root, "**/*.txt")["matches"]
                lines = searching.grep_search(root, "SECRET")["matches"]
                assert lines == []
                assert isinstance(listed, list)
                found += len(listed)
        assert found
