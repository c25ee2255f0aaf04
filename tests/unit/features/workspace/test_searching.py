import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.features.workspace import searching
from headgate.features.workspace.names import MAX_DEPTH
from headgate.features.workspace.places import Places
from headgate.features.workspace.searching import LONGEST_LINE, MOST_LINES, MOST_MATCHES, Budget
from headgate.features.workspace.user_workspace import UserWorkspace
from headgate.foundation.glob import Glob
from tests.support.workspaces import ALICE, home, person, settings_in, workspace_in


@pytest.fixture
def mine(tmp_path: Path) -> UserWorkspace:
    return workspace_in(tmp_path).for_agent(person(ALICE))


@pytest.fixture
def folder(mine: UserWorkspace, tmp_path: Path) -> Path:
    """Alice's folder on the disk, with a few files."""
    with mine.binding.open():
        found = home(tmp_path / "base", ALICE)
    for path, content in {
        "a.md": "The API key\nsecond\napi KEY\n",
        "b.txt": "nothing",
        "docs/c.md": "API key API key\n",
        "docs/deep/d.md": "x = 1\nx = 22\n",
        "docs/deep/e.bin": "API key\0",
    }.items():
        (found / path).parent.mkdir(parents=True, exist_ok=True)
        (found / path).write_text(content)
    return found


@pytest.mark.usefixtures("folder")
class TestGlobSearch:
    async def test_answers_with_paths(self, mine: UserWorkspace) -> None:
        assert await mine.glob_search("**/*.md") == {
            "status": "ok",
            "pattern": "**/*.md",
            "matches": ["a.md", "docs/c.md", "docs/deep/d.md"],
            "truncated": False,
            "truncated_branches": [],
        }

    @pytest.mark.parametrize(
        ("pattern", "path", "matches"),
        [
            ("*.md", "", ["a.md"]),
            ("*", "docs", ["docs/c.md"]),
            ("**", "docs/deep", ["docs/deep/d.md", "docs/deep/e.bin"]),
            ("docs/**", "", ["docs/c.md", "docs/deep/d.md", "docs/deep/e.bin"]),
            ("docs/**/d.*", "", ["docs/deep/d.md"]),
            ("d*/*/?.md", "", ["docs/deep/d.md"]),
            ("[ab].*", "", ["a.md", "b.txt"]),
            ("nothing/**", "", []),
        ],
    )
    async def test_follows_patterns(self, mine: UserWorkspace, pattern: str, path: str, matches: list[str]) -> None:
        assert (await mine.glob_search(pattern, path))["matches"] == matches

    async def test_shows_what_can_be_asked_for_and_nothing_else(self, mine: UserWorkspace, folder: Path) -> None:
        (folder / "odd").mkdir()
        for name in (b"half\xff", "turned\u202etxt".encode(), b"a:b", b"good \xc2\xa0.md"):
            (folder / "odd" / os.fsdecode(name)).write_text("needle")
        assert (await mine.glob_search("odd/*"))["matches"] == ["odd/good \xa0.md"]
        assert (await mine.grep_search("needle"))["matches"] == ["odd/good \xa0.md"]
        assert (await mine.read_file("odd/good \xa0.md"))["status"] == "ok"

    async def test_says_that_a_folder_is_not_there(self, mine: UserWorkspace) -> None:
        assert await mine.glob_search("*", "nowhere") == {"error": "Folder not found: nowhere", "path": "nowhere"}

    async def test_names_branches_that_are_too_deep(self, mine: UserWorkspace, folder: Path) -> None:
        deep = folder.joinpath(*["d"] * (MAX_DEPTH + 1))
        deep.mkdir(parents=True)
        (deep / "f.md").write_text("x")
        found = await mine.glob_search("**/f.md")
        assert (found["matches"], found["truncated"]) == ([], True)
        assert found["truncated_branches"] == ["/".join(["d"] * (MAX_DEPTH + 1))]

    async def test_cuts_a_long_list(self, mine: UserWorkspace, folder: Path) -> None:
        (folder / "many").mkdir()
        for number in range(MOST_MATCHES + 1):
            (folder / "many" / f"{number:05}").touch()
        found = await mine.glob_search("many/*")
        assert isinstance(found["matches"], list)
        assert (len(found["matches"]), found["truncated"]) == (MOST_MATCHES, True)


@pytest.mark.usefixtures("folder")
class TestGrepSearch:
    async def test_names_files(self, mine: UserWorkspace) -> None:
        assert await mine.grep_search("API key") == {
            "status": "ok",
            "pattern": "API key",
            "output_mode": "files_with_matches",
            "matches": ["a.md", "docs/c.md"],
            "truncated": False,
        }

    async def test_shows_lines(self, mine: UserWorkspace) -> None:
        found = await mine.grep_search("api key", case_insensitive=True, output_mode="content")
        assert found["matches"] == [
            {"path": "a.md", "line": 1, "text": "The API key"},
            {"path": "a.md", "line": 3, "text": "api KEY"},
            {"path": "docs/c.md", "line": 1, "text": "API key API key"},
        ]

    async def test_counts_lines(self, mine: UserWorkspace) -> None:
        found = await mine.grep_search("api key", case_insensitive=True, output_mode="count")
        assert found["matches"] == [{"path": "a.md", "count": 2}, {"path": "docs/c.md", "count": 1}]

    async def test_runs_regular_expressions(self, mine: UserWorkspace) -> None:
        found = await mine.grep_search(r"^x = \d{2}$", is_regex=True, output_mode="content")
        assert found["matches"] == [{"path": "docs/deep/d.md", "line": 2, "text": "x = 22"}]
        assert (await mine.grep_search(r"^x = \d{2}$"))["matches"] == []

    @pytest.mark.parametrize(
        ("path", "glob", "matches"),
        [
            ("docs", "", ["docs/c.md"]),
            ("", "*.md", ["a.md", "docs/c.md"]),
            ("", "*.txt", []),
            ("", "docs/*.md", ["docs/c.md"]),
            ("a.md", "", ["a.md"]),
        ],
    )
    async def test_looks_where_it_is_told(self, mine: UserWorkspace, path: str, glob: str, matches: list[str]) -> None:
        assert (await mine.grep_search("API key", path, glob=glob))["matches"] == matches

    @pytest.mark.parametrize(
        ("arguments", "error"),
        [
            ({"pattern": "(a+)+$", "is_regex": True}, "Regex pattern rejected: nested unbounded quantifier"),
            ({"pattern": "(", "is_regex": True}, "Invalid regex"),
            ({"pattern": ""}, "1 to"),
            ({"pattern": "x", "output_mode": "lines"}, "output_mode must be one of files_with_matches, content, count"),
            ({"pattern": "x", "path": "nowhere"}, "File not found: nowhere"),
            ({"pattern": "x", "glob": "../*"}, "Path escapes workspace boundary"),
            ({"pattern": "x", "glob": ".components/*"}, "Path component '.components' is reserved"),
        ],
    )
    async def test_says_why_not(self, mine: UserWorkspace, arguments: dict[str, bool | str], error: str) -> None:
        found = await mine.grep_search(**arguments)  # type: ignore[arg-type]
        assert error in str(found["error"])

    async def test_bounds_what_it_shows(self, mine: UserWorkspace, folder: Path) -> None:
        (folder / "long.log").write_text(("needle" + "x" * 1_000 + "\n") * (MOST_LINES + 1))
        found = await mine.grep_search("needle", output_mode="content")
        assert isinstance(found["matches"], list)
        assert (len(found["matches"]), found["truncated"]) == (MOST_LINES, True)
        assert all(isinstance(line, dict) and len(str(line["text"])) == LONGEST_LINE for line in found["matches"])

    async def test_is_not_stalled_by_what_stalls_others(self, mine: UserWorkspace, folder: Path) -> None:
        (folder / "evil.txt").write_text("a" * 100_000 + "b")
        found = await mine.grep_search("(a|a)*(a|a)*(a|a)*c$", "evil.txt", is_regex=True)
        assert found["matches"] == []


class TestBudget:
    def test_ends_a_search_by_entries_and_says_where(self, tmp_path: Path) -> None:
        with Places(settings_in(tmp_path)).open(ALICE, isolated=True) as root:
            for number in range(10):
                root.write(("d", f"{number}"), b"needle")
            found = searching.glob_search(root, "**", budget=Budget(entries=5))
            assert found["matches"] == ["d/0", "d/1", "d/2", "d/3"]
            assert (found["truncated"], found["truncated_branches"]) == (True, ["d"])
            assert searching.grep_search(root, "needle", budget=Budget(entries=5))["truncated"] is True

    def test_ends_a_search_by_time(self, tmp_path: Path) -> None:
        ticks = iter(range(1_000_000))
        with Places(settings_in(tmp_path)).open(ALICE, isolated=True) as root:
            root.write(("a.txt",), b"no\n" * 10_000)
            root.write(("b.txt",), b"needle")
            budget = Budget(seconds=8, clock=lambda: float(next(ticks)))
            found = searching.grep_search(root, "needle", budget=budget)
        assert (found["matches"], found["truncated"]) == ([], True)


class TestGlob:
    @given(st.lists(st.sampled_from(["**", "*", "a", "b", "?", "[ab]"]), min_size=1, max_size=6), st.data())
    def test_agrees_with_a_plain_definition(self, pattern: list[str], data: st.DataObject) -> None:
        names = data.draw(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=5))
        glob = Glob(pattern)
        states = glob.start
        for name in names:
            states = glob.step(states, name)
        assert glob.accepts(states) == _matches(pattern, names)


def _matches(pattern: list[str], names: list[str]) -> bool:
    if not pattern:
        return not names
    if pattern[0] == "**":
        return any(_matches(pattern[1:], names[at:]) for at in range(len(names) + 1))
    if not names:
        return False
    fits = {"*": True, "?": True, "[ab]": names[0] in "ab"}.get(pattern[0], pattern[0] == names[0])
    return fits and _matches(pattern[1:], names[1:])
