"""What the source imports is declared in `pyproject.toml`, and what is declared is used."""

import ast
import re
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import packages_distributions

import pytest

from tests.architecture.source import PACKAGE, ROOT, modules

pytestmark = pytest.mark.xdist_group("source")

USED_BY_OTHERS = {
    "httptools": "uvicorn reads HTTP with it",
    "uvloop": "uvicorn's event loop",
    "python-multipart": "FastAPI reads uploads with it",
    "langgraph-checkpoint-postgres": "loaded by name",
    "pypandoc-binary": "its program is started",
    "manimgx-fonts": "files that typst reads",
    "manimgx-fonts-cjk": "files that typst reads",
    "pip": "`headgate models` installs the local model's runtime with it",
}
"""Declared and never imported, and why."""


def normal(requirement: str) -> str:
    """Name of a requirement, as PyPI compares names."""
    name = re.match(r"[\w.-]+", requirement)
    assert name is not None
    return re.sub(r"[-_.]+", "-", name[0]).lower()


@cache
def project() -> tuple[frozenset[str], frozenset[str]]:
    """Names of the base dependencies, and those of the extras."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {normal(one) for group in settings["optional-dependencies"].values() for one in group}
    return frozenset(map(normal, settings["dependencies"])), frozenset(extras - {"headgate"})


@cache
def installed() -> Mapping[str, list[str]]:
    """Import name to the distributions that have it."""
    return packages_distributions()


@cache
def imports() -> tuple[tuple[str, str], ...]:
    """Module of ours and full name of what it imports."""
    return tuple(
        (path.relative_to(PACKAGE).as_posix(), name)
        for path in modules()
        for name in _names(path.read_text(encoding="utf-8"))
    )


def imported() -> dict[str, list[str]]:
    """Foreign packages that the source imports, with the modules that do; those named for lazy imports too."""
    found: dict[str, list[str]] = {}
    for path, name in imports():
        top = name.partition(".")[0]
        if top not in sys.stdlib_module_names and top != "headgate":
            found.setdefault(top, []).append(path)
    return found


def _names(text: str) -> list[str]:
    names: list[str] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names.append(node.module)
        elif isinstance(node, ast.Call) and _is_lazy(node.func) and isinstance(node.args[0], ast.Constant):
            names.append(str(node.args[0].value))
    return names


def _is_lazy(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in {"lazy_module", "import_module"}


def distributions(module: str) -> set[str]:
    """Names under which the package of a module may be declared."""
    return {normal(name) for name in installed().get(module, ())} | {normal(module)}


class TestDependencies:
    def test_are_declared(self) -> None:
        base, extras = project()
        packages = imported()
        assert len(packages) > 30
        missing = {name: files[:3] for name, files in packages.items() if not distributions(name) & (base | extras)}
        assert missing == {}

    def test_are_used(self) -> None:
        base, _ = project()
        used = {name for module in imported() for name in distributions(module)}
        assert base - used - USED_BY_OTHERS.keys() == set()

    def test_with_private_parts_that_are_used_have_an_upper_bound(self) -> None:
        """`celery._state` and the like may change in any release."""
        private = {name.partition(".")[0] for _, name in imports() if "._" in name and not name.startswith("headgate.")}
        text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
        assert private
        unbound = [name for name in private if not re.search(rf'"{name}(\[\w+\])?>=[\d.]+,<\d', text)]
        assert unbound == []

    @pytest.mark.parametrize("name", ["langchain", "langchain-core", "langgraph", "starlette", "fastapi", "typer"])
    def test_whose_internals_are_extended_have_an_upper_bound(self, name: str) -> None:
        assert re.search(rf'"{name}>=[\d.]+,<\d', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))


class TestApiDocs:
    FOLDER = PACKAGE / "entrypoints" / "http" / "api_docs"

    def test_have_their_licence_and_version(self) -> None:
        assert "Apache License" in (self.FOLDER / "LICENSE").read_text(encoding="utf-8")
        version = (self.FOLDER / "VERSION").read_text(encoding="utf-8").strip()
        assert f'"{version}"' in (self.FOLDER / "swagger-ui-bundle.js").read_text(encoding="utf-8")
