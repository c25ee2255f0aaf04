"""Every file, folder and name that the pages for contributors mention exists."""

import ast
import re
from pathlib import Path

import pytest

from tests.architecture.source import PACKAGE, ROOT

CONTRIBUTE = ROOT / "docs" / "contribute"
PAGES = [CONTRIBUTE / "architecture.md"]
_NAMED = re.compile(r"`(?P<path>[\w.-]+(?:/[\w.-]+)+)(?:::(?P<name>[\w.]+))?`")


def named(page: Path) -> list[tuple[str, str]]:
    """Path and name of everything that a page mentions as `path` or `path::name`."""
    return [(match["path"], match["name"] or "") for match in _NAMED.finditer(page.read_text(encoding="utf-8"))]


def place_of(path: str) -> Path:
    """The file or folder; paths without a root are below the package."""
    return ROOT / path if (ROOT / path).exists() else PACKAGE / path


def defines(path: Path, name: str) -> bool:
    """Whether a module has that function, class or method."""
    body: list[ast.stmt] = ast.parse(path.read_text(encoding="utf-8")).body
    for part in name.split("."):
        matching = [
            node
            for node in body
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.name == part
        ]
        if not matching:
            return False
        body = matching[0].body
    return True


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.name))
class TestPages:
    def test_name_files_that_exist(self, page: Path) -> None:
        paths = named(page)
        assert len(paths) > 30
        assert [path for path, _ in paths if not place_of(path).exists()] == []

    def test_name_functions_and_classes_that_exist(self, page: Path) -> None:
        symbols = [(path, name) for path, name in named(page) if name]
        assert len(symbols) > 30
        assert [f"{path}::{name}" for path, name in symbols if not defines(place_of(path), name)] == []


class TestChecks:
    def test_of_names(self) -> None:
        module = PACKAGE / "features" / "runs" / "service.py"
        assert defines(module, "start_run")
        assert not defines(module, "no_such_function")
        assert not defines(module, "PreparedRun.no_such_method")
