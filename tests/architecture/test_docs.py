"""The pages for people are true: their flows are read, their links lead somewhere, every command is on its page."""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest

from headgate.components import BUILTINS
from headgate.entrypoints.cli.app import COMMANDS
from headgate.entrypoints.cli.validate import check_text
from headgate.entrypoints.http.app import create_app
from headgate.entrypoints.http.lazy_routes import load_routes
from headgate.features.catalog.registry import Registry
from headgate.foundation.errors import HeadgateError
from headgate.foundation.settings import Settings
from headgate.graph.issues import FlowInvalid, IssueCode
from headgate.graph.model import StepPolicy
from headgate.graph.ports import COERCIONS
from tests.architecture.source import ROOT

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
SECTIONS = {"start", "guides", "concepts", "reference", "operate", "contribute", "decisions"}
CATALOG = Registry(BUILTINS)
TYPES = "Types and coercions"
_LINK = re.compile(r"\[[^\]]*\]\((?P<path>[^)\s#]*)#(?P<anchor>[^)\s]+)\)")
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
    _, found = check_text(text, CATALOG)
    return FlowInvalid(found.errors).lines() if found.errors else []


class TestFlowsOnPages:
    def test_are_ready_to_run(self) -> None:
        flows = [block for block in BLOCKS if block.is_flow]
        assert {str(block): lines for block in flows if (lines := faults(block.text))} == {}

    @pytest.mark.parametrize("block", [block for block in BLOCKS if block.kind == "flow-error"], ids=str)
    def test_with_errors_give_exactly_the_message_below_them(self, block: Block) -> None:
        assert "\n".join(faults(block.text)) == block.following.strip()


class TestCodeOnPages:
    def test_of_components_passes_its_own_tests(self, tmp_path: Path) -> None:
        page = DOCS / "guides/writing-components.md"
        found = [block.text for block in BLOCKS if block.page == page and block.kind == "python"]
        for text in found:
            (tmp_path / text.splitlines()[0].removeprefix("# ")).write_text(text, encoding="utf-8")
        assert len(list(tmp_path.glob("test_*.py"))) >= 3
        command = [sys.executable, "-m", "pytest", "-q", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path)]
        plain = ["-p", "no:cacheprovider", "-n", "0", str(tmp_path)]
        done = subprocess.run([*command, *plain], cwd=tmp_path, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


def anchors(page: Path) -> set[str]:
    """Anchors of a page: its headings, as GitHub names them, and explicit ones, which keep names of old headings."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ +(.+?) *$", text, re.MULTILINE)
    named = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return named | set(re.findall(r'^<a id="([\w-]+)"></a>$', text, re.MULTILINE))


def section(page: str, heading: str) -> str:
    """The text of a page from a heading to the next of the same level."""
    text = (DOCS / page).read_text(encoding="utf-8")
    assert f"\n## {heading}\n" in text
    return text.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def codes_of(error: type[HeadgateError]) -> dict[str, int]:
    """Code to status, of an error and all below it."""
    found = {error.code: error.status}
    for one in error.__subclasses__():
        found |= codes_of(one)
    return found


class TestLinksOnPages:
    def test_lead_to_headings_that_exist(self) -> None:
        broken = [
            f"{page.relative_to(ROOT).as_posix()}: {match[0]}"
            for page in PAGES
            for match in _LINK.finditer(page.read_text(encoding="utf-8"))
            if not match["path"].startswith("http")
            and match["anchor"] not in anchors((page.parent / match["path"]) if match["path"] else page)
        ]
        assert broken == []

    def test_every_page_is_linked_from_the_front(self) -> None:
        front = set(re.findall(r"\]\(([\w/.-]+\.md)\)", (DOCS / "index.md").read_text(encoding="utf-8")))
        pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md") if page.parent.name != "decisions"}
        assert pages - front == {"index.md"}

    def test_every_page_is_in_a_section(self) -> None:
        assert {page.name for page in DOCS.glob("*.md")} == {"index.md", "capabilities.md"}
        assert {page.parent.name for page in DOCS.glob("*/*.md")} == SECTIONS


class TestCommandLinePage:
    def test_has_every_command(self) -> None:
        page = (DOCS / "reference/command-line.md").read_text(encoding="utf-8")
        assert [command for command in COMMANDS if f"\n## `headgate {command}`\n" not in page] == []

    def test_commands_that_pages_show_exist(self) -> None:
        shown = {
            match
            for block in BLOCKS
            if block.kind in {"sh", "text"}
            for match in re.findall(r"^(?:\$ )?headgate ([a-z]+)", block.text, re.MULTILINE)
        }
        assert len(shown) > 5
        assert shown - set(COMMANDS) == set()


class TestApiPage:
    def test_shows_addresses_that_exist(self) -> None:
        paths = create_app(Settings()).openapi()["paths"]
        known = [re.sub(r"\{[^}]+\}", "[^/]+", path.removeprefix("/api/v1")) for path in paths]
        text = (DOCS / "reference/api.md").read_text(encoding="utf-8")
        shown = set(re.findall(r"\$A(/[^\s\"'?]+)", text)) | set(re.findall(r"`(?:GET|POST|PUT) (/[^`]+)`", text))
        assert len(shown) > 15
        assert [path for path in sorted(shown) if not any(re.fullmatch(one, path) for one in known)] == []

    def test_gives_codes_their_status(self, tmp_path: Path) -> None:
        load_routes(create_app(Settings(_env_file=None, data_dir=tmp_path)))  # the errors are declared where routes are
        import_module("headgate.foundation.sealing")  # or in what only an encrypted installation loads
        known = codes_of(HeadgateError)
        rows = re.findall(r"^\| (\d{3}) \| (.+) \|$", section("reference/api.md", "Codes"), re.MULTILINE)
        wrong = [
            f"{code}: {status}"
            for status, codes in rows
            for code in re.findall(r"`(\w+)`", codes)
            if code != "issues" and known.get(code) != int(status)
        ]
        assert len(rows) > 5
        assert wrong == []


class TestTablesOnPages:
    def test_list_every_coercion(self) -> None:
        rows = re.findall(r"^\| (\w+) \| (\w+) \| ", section("guides/writing-components.md", TYPES), re.MULTILINE)
        assert {(one, other) for one, other in rows if one != "from"} == {(str(a), str(b)) for a, b in COERCIONS}

    def test_list_every_issue_code(self) -> None:
        listed = section("reference/flow-text.md", "Errors").partition("The codes:")[2]
        assert set(re.findall(r"`(\w+)`", listed)) == {code.value for code in IssueCode}

    def test_list_every_rule_of_a_policy(self) -> None:
        rows = re.findall(r"^\| (`[^|]+) \|", section("reference/flow-text.md", "Step policies"), re.MULTILINE)
        assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == set(StepPolicy.model_fields)
