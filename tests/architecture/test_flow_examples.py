"""Every flow written in the words of the product is valid as it stands: prompts, instructions, skills, docstrings."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from headgate.components import BUILTINS
from headgate.features.catalog.registry import Registry
from headgate.features.flows.readiness.check import check
from headgate.graph.spec import read_spec
from tests.architecture.source import PACKAGE, tracked, tree
from tests.support.report_all import report_all

pytestmark = pytest.mark.xdist_group("source")

CATALOG = Registry(BUILTINS)
FLOW = re.compile(
    r"^name: .+\n(?:description: .+\n)?nodes:\n  \w+: \w+\n(?:(?: {2}.*|edges:|form:|settings:| *)\n)*", re.MULTILINE
)


def texts_of(path: Path) -> Iterator[str]:
    """A page of words whole, or every literal text of a module."""
    if path.suffix == ".md":
        yield path.read_text(encoding="utf-8")
    elif path.suffix == ".py":
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


@cache
def examples() -> list[tuple[str, str]]:
    """Every flow in the package: the file that holds it, and its text."""
    return [
        (path.relative_to(PACKAGE).as_posix(), flow[0])
        for path in tracked()
        if path.is_relative_to(PACKAGE)
        for text in texts_of(path)
        for flow in FLOW.finditer(text + "\n")
    ]


class TestFlowExamples:
    def test_are_read_from_every_door_that_shows_one(self) -> None:
        assert {file for file, _ in examples()} >= {
            "agents/assistant/loop/prompt.md",
            "agents/codev/skills/headgate_builder.md",
            "entrypoints/mcp/server.py",
            "toolkit/flow/grammar.py",
        }

    def test_are_built_and_pass_the_check(self) -> None:
        with report_all() as item:
            for file, spec in examples():
                with item(f"{file}: {spec}"):
                    answer = check(read_spec(spec, CATALOG, with_triggers=True), CATALOG)
                    assert (answer.errors, answer.warnings) == ((), ())
