"""The recipes for contributors work: each is performed on a copy of the source, and its own check is run there."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source import ROOT

PAGE = ROOT / "docs" / "contribute" / "recipes.md"
_BLOCK = re.compile(r'^```(?P<kind>\w+) title="(?P<title>[^"]+)"\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^\| `(?P<path>[\w./-]+)`", re.MULTILINE)


def recipes() -> dict[str, str]:
    """Name of each recipe, and its text."""
    parts = PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
    return {part.partition("\n")[0]: part for part in parts}


def change(path: Path, difference: str) -> None:
    """Apply a block of differences: what it has of the old text occurs once."""
    lines = difference.splitlines()
    before = "".join(line[1:] + "\n" for line in lines if line[:1] in {" ", "-"})
    after = "".join(line[1:] + "\n" for line in lines if line[:1] in {" ", "+"} or not line)
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1, f"{path.name} does not have once:\n{before}"
    path.write_text(text.replace(before, after), encoding="utf-8")


def perform(recipe: str, copy: Path) -> str:
    """Make the changes of a recipe in a copy of the repository; returns the text of its check."""
    check = ""
    for block in _BLOCK.finditer(recipe):
        path = copy / block["title"]
        if block["title"] == "check":
            check = block["text"]
        elif block["kind"] == "diff":
            change(path, block["text"])
        else:
            assert not path.exists(), f"{path.name} is there already"
            path.write_text(block["text"], encoding="utf-8")
    return check


def run(check: str, copy: Path) -> subprocess.CompletedProcess[str]:
    """Run a check with the source of the copy."""
    script = copy / "check.py"
    script.write_text(check, encoding="utf-8")
    command = [sys.executable, "-W", "ignore", str(script)]
    environment = {"PYTHONPATH": str(copy / "src"), "PATH": "/usr/bin:/bin", "HOME": str(copy)}
    return subprocess.run(command, cwd=copy, env=environment, check=False, capture_output=True, text=True)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__", "built")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=ignored)
    return tmp_path


class TestRecipes:
    @pytest.mark.parametrize("name", recipes())
    def test_work(self, name: str, copy: Path) -> None:
        recipe = recipes()[name]
        assert run("import headgate.entrypoints", copy).returncode == 0
        check = perform(recipe, copy)
        assert "assert " in check
        done = run(check, copy)
        assert done.returncode == 0, done.stderr[-3000:]

    @pytest.mark.parametrize("name", recipes())
    def test_fail_where_nothing_was_changed(self, name: str, copy: Path) -> None:
        check = next(block["text"] for block in _BLOCK.finditer(recipes()[name]) if block["title"] == "check")
        assert run(check, copy).returncode != 0

    def test_list_every_file_that_they_change(self) -> None:
        for name, recipe in recipes().items():
            changed = {block["title"] for block in _BLOCK.finditer(recipe)} - {"check"}
            listed = set(_FILE.findall(recipe)) or changed
            assert changed - listed == set(), name

    def test_list_files_that_exist(self) -> None:
        made = {block["title"] for recipe in recipes().values() for block in _BLOCK.finditer(recipe)}
        listed = {path for recipe in recipes().values() for path in _FILE.findall(recipe)}
        assert len(listed) > 20
        assert [path for path in sorted(listed - made) if not (ROOT / path).exists()] == []
