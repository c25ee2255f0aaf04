"""The page of the assistant's scenarios names a test for each, and each of these tests exists and is never skipped."""

import ast
import re
from functools import cache

from tests.architecture.source import ROOT
from tests.integration.agents.assistant.scenarios.script import scenarios
from tests.support.report_all import report_all

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

    def test_name_tests_that_exist(self) -> None:
        with report_all() as item:
            for name in CODE:
                path, class_name, test = name.split("::")
                with item(name):
                    named = next(
                        node for node in _tree(path).body if isinstance(node, ast.ClassDef) and node.name == class_name
                    )
                    methods = [node for node in named.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
                    assert test in {method.name for method in methods}

    def test_name_tests_of_the_page_that_exist(self) -> None:
        with report_all() as item:
            for name in OF_THE_PAGE:
                path, test = name.split(" > ")
                with item(name):
                    assert f'it("{test}", ' in (ROOT / path).read_text(encoding="utf-8")

    def test_of_the_page_are_never_skipped(self) -> None:
        paths = {name.partition(" > ")[0] for name in OF_THE_PAGE}
        skipped = {path: SKIPPED.findall((ROOT / path).read_text(encoding="utf-8")) for path in paths}
        assert skipped == {path: [] for path in paths}

    def test_are_never_skipped(self) -> None:
        used = {
            path: SKIPS & {node.attr for node in ast.walk(_tree(path)) if isinstance(node, ast.Attribute)}
            for path in MODULES
        }
        assert used == {path: set() for path in MODULES}


@cache
def _tree(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))
