"""The page of the assistant's scenarios names a test for each, and each of these tests exists and is never skipped."""

import ast
import re

import pytest

from tests.architecture.source import ROOT
from tests.integration.agents.assistant.scenarios.script import scenarios

PAGE = ROOT / "docs/contribute/assistant-scenarios.md"
PLAYED = "tests/integration/agents/assistant/scenarios/test_played.py::TestPlayed"
IN_THE_PAGE = "web/src/"
SKIPS = {"skip", "skipif", "xfail", "importorskip"}
SKIPPED = re.compile(r"\b(?:it|test|describe)\.(?:skip|todo|only|fails|skipIf|runIf)\b")
"""How a test of the page is left out, or leaves the others out."""


def rows() -> list[tuple[str, str]]:
    """Scenario and proof of each row."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [(row[0], row[1]) for row in cells if row[0] != "scenario"]


NAMED = sorted({name for _, proof in rows() for name in re.findall(r"`([^`]+)`", proof)})
OF_THE_PAGE = [name for name in NAMED if name.startswith(IN_THE_PAGE)]
CODE = [name for name in NAMED if not name.startswith((PLAYED, IN_THE_PAGE))]
MODULES = sorted({name.partition("::")[0] for name in NAMED if not name.startswith(IN_THE_PAGE)})


class TestScenarios:
    def test_are_each_proved(self) -> None:
        assert [title for title, proof in rows() if "`tests/" not in proof and f"`{IN_THE_PAGE}" not in proof] == []

    def test_that_are_played_are_all_on_the_page(self) -> None:
        played = {one.name for one in scenarios()}
        assert {name.removeprefix(f"{PLAYED}[")[:-1] for name in NAMED if name.startswith(PLAYED)} == played

    def test_have_names_of_their_own(self) -> None:
        names = [one.name for one in scenarios()]
        assert len(names) == len(set(names))

    @pytest.mark.parametrize("name", CODE)
    def test_name_tests_that_exist(self, name: str) -> None:
        path, class_name, test = name.split("::")
        found = next(node for node in _tree(path).body if isinstance(node, ast.ClassDef) and node.name == class_name)
        assert test in {node.name for node in found.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}

    @pytest.mark.parametrize("name", OF_THE_PAGE)
    def test_name_tests_of_the_page_that_exist(self, name: str) -> None:
        path, test = name.split(" > ")
        assert f'it("{test}", ' in (ROOT / path).read_text(encoding="utf-8")

    @pytest.mark.parametrize("path", sorted({name.partition(" > ")[0] for name in OF_THE_PAGE}))
    def test_of_the_page_are_never_skipped(self, path: str) -> None:
        assert SKIPPED.findall((ROOT / path).read_text(encoding="utf-8")) == []

    @pytest.mark.parametrize("path", MODULES)
    def test_are_never_skipped(self, path: str) -> None:
        used = {node.attr for node in ast.walk(_tree(path)) if isinstance(node, ast.Attribute)}
        assert used & SKIPS == set()


def _tree(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))
