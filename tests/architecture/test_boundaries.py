"""Every boundary and every attacker names the tests that guard it, and every test that a page names is there."""

import re
from pathlib import Path

import pytest

from tests.architecture.source import PACKAGE

ROOT = PACKAGE.parents[1]
SECURITY, MODEL = ROOT / "SECURITY.md", ROOT / "docs" / "concepts" / "threat-model.md"
PAGES = [SECURITY, *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name != "decisions")]
_NAMED = re.compile(r"`(tests/[\w/]+(?:\.py)?)(?:::(\w+))?`")


def rows(page: Path) -> list[list[str]]:
    """The cells of the table of a page, without its head."""
    lines = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:]]


def missing_tests(text: str) -> list[str]:
    """Tests, and folders of them, that a text names and that are not there; a class without a test is none."""
    return [f"{path}::{name}" for path, name in _NAMED.findall(text) if not _has_tests(ROOT / path, name)]


def _has_tests(path: Path, name: str) -> bool:
    if path.is_dir():
        return any(path.iterdir())
    if not path.is_file():
        return False
    text = path.read_text(encoding="utf-8")
    body = text.partition(f"class {name}")[2].partition("\nclass ")[0] if name else text
    return "def test_" in body or body.startswith("(")  # or its tests are a conformance suite's


class TestBoundaries:
    @pytest.mark.parametrize("page", [SECURITY, MODEL], ids=lambda page: str(page.name))
    def test_each_name_a_test(self, page: Path) -> None:
        table = rows(page)
        assert len(table) > 15
        assert [cells[0] for cells in table if not _NAMED.search(cells[-1])] == []
        assert len({cells[0] for cells in table}) == len(table)

    def test_name_tests_that_exist(self) -> None:
        missing = {page.name: missing_tests(page.read_text(encoding="utf-8")) for page in PAGES}
        assert {name: tests for name, tests in missing.items() if tests} == {}

    @pytest.mark.parametrize(
        "text", ["`tests/none.py`", "`tests/architecture/test_boundaries.py::TestNone`", "`tests/nowhere`"]
    )
    def test_that_are_not_there_are_found(self, text: str) -> None:
        assert missing_tests(text) != []
