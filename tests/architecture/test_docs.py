"""The pages for people are true: their flows are read, their links lead somewhere, every command is on its page."""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from headgate.components import BUILTINS
from headgate.features.catalog.registry import Registry
from headgate.features.flows.transfer import import_flow
from headgate.graph.issues import FlowInvalid, raise_if_any
from headgate.graph.validate import check_runnable
from tests.architecture.source import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CATALOG = Registry(BUILTINS)
_FENCE = re.compile(r"^```(?P<kind>[\w-]*)[^\n]*\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    kind: str
    text: str
    following: str
    """Text of the next block of the page."""

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT).as_posix()}:{self.line}"

    @property
    def is_flow(self) -> bool:
        """Whether it is to be read as a flow: said so, or a plain block that looks like one."""
        return self.kind == "flow" or (not self.kind and re.search(r"^nodes:", self.text, re.MULTILINE) is not None)


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    found = list(_FENCE.finditer(text))
    following = [*(match["text"] for match in found[1:]), ""]
    for match, after in zip(found, following, strict=False):
        yield Block(page, text.count("\n", 0, match.start()) + 1, match["kind"], match["text"], after)


BLOCKS = [block for page in PAGES for block in blocks(page)]


def faults(text: str) -> list[str]:
    """What `headgate validate` says of a flow, one line a fault; empty when it may run."""
    try:
        raise_if_any(check_runnable(import_flow(text, CATALOG), CATALOG))
    except FlowInvalid as error:
        return error.lines()
    return []


class TestFlowsOnPages:
    @pytest.mark.parametrize("block", [block for block in BLOCKS if block.is_flow], ids=str)
    def test_are_ready_to_run(self, block: Block) -> None:
        assert faults(block.text) == []

    @pytest.mark.parametrize("block", [block for block in BLOCKS if block.kind == "flow-error"], ids=str)
    def test_with_errors_give_exactly_the_message_below_them(self, block: Block) -> None:
        assert "\n".join(faults(block.text)) == block.following.strip()


class TestCodeOnPages:
    def test_of_components_passes_its_own_tests(self, tmp_path: Path) -> None:
        page = ROOT / "docs" / "writing-components.md"
        found = [block.text for block in BLOCKS if block.page == page and block.kind == "python"]
        for text in found:
            (tmp_path / text.splitlines()[0].removeprefix("# ")).write_text(text, encoding="utf-8")
        assert len(list(tmp_path.glob("test_*.py"))) >= 3
        command = [sys.executable, "-m", "pytest", "-q", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path)]
        plain = ["-p", "no:cacheprovider", "-n", "0", str(tmp_path)]
        done = subprocess.run([*command, *plain], cwd=tmp_path, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
