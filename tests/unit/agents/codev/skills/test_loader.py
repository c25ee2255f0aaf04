"""Skills are read from Markdown, an operator's before the packaged, with a fallback in code."""

from pathlib import Path

import pytest

from headgate.agents.codev.domain import Phase
from headgate.agents.codev.skills import loader
from headgate.agents.codev.skills.loader import load_skill, sections, with_packs
from headgate.features.packs.manifest import SKILL_PHASES

FALLBACK = {Phase.DISCOVER: "look", Phase.PLAN: "think", Phase.PATCH: "write", Phase.TEST: "try"}
SKILL = """# For people

Nothing of this is told.

## Discover
Look **well**.

### A part of it
More.

## How to change this file
Not told.

## PATCH ##
```
## Plan
```
Write.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


class TestSections:
    def test_are_those_of_a_phase_in_any_case_with_what_is_below_them(self) -> None:
        found = sections(SKILL)
        assert found == {
            Phase.DISCOVER: "Look **well**.\n\n### A part of it\nMore.",
            Phase.PATCH: "```\n## Plan\n```\nWrite.",
        }

    def test_of_the_same_name_are_joined(self) -> None:
        assert sections("## Test\na\n## Other\nx\n## test\nb")[Phase.TEST] == "a\nb"


class TestLoadSkill:
    def test_takes_the_operators_file_and_the_fallback_for_what_it_lacks(self, folder: Path) -> None:
        (folder / "mine.md").write_text(SKILL)
        skill = load_skill("mine", FALLBACK, folder=folder)
        assert skill[Phase.DISCOVER].startswith("Look **well**.")
        assert (skill[Phase.PLAN], skill[Phase.TEST]) == ("think", "try")

    def test_reads_it_anew_every_time(self, folder: Path) -> None:
        (folder / "mine.md").write_text("## Plan\none")
        assert load_skill("mine", FALLBACK, folder=folder)[Phase.PLAN] == "one"
        (folder / "mine.md").write_text("## Plan\ntwo")
        assert load_skill("mine", FALLBACK, folder=folder)[Phase.PLAN] == "two"

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"no sections",
            b"## Discover\n\n## Plan\n  ",
            b"\xff\xfe## Plan\nx",
            b"## Plan\n" + b"x" * loader.LARGEST_FILE,
        ],
        ids=["empty", "no sections", "empty sections", "no text", "too large"],
    )
    def test_falls_back_where_it_cannot_be_used(self, folder: Path, content: bytes) -> None:
        (folder / "mine.md").write_bytes(content)
        assert load_skill("mine", FALLBACK, folder=folder) == FALLBACK

    def test_falls_back_where_there_is_none(self, folder: Path) -> None:
        assert load_skill("mine", FALLBACK, folder=folder) == FALLBACK
        (folder / "mine.md").mkdir()
        assert load_skill("mine", FALLBACK, folder=folder) == FALLBACK

    def test_takes_the_packaged_file_where_the_operator_has_none(
        self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        packaged = tmp_path / "packaged"
        packaged.mkdir()
        (packaged / "mine.md").write_text("## Plan\npackaged")
        monkeypatch.setattr(loader, "_PACKAGED", packaged)
        assert load_skill("mine", FALLBACK, folder=folder)[Phase.PLAN] == "packaged"
        (folder / "mine.md").write_text("broken")
        assert load_skill("mine", FALLBACK, folder=folder)[Phase.PLAN] == "packaged"

    def test_takes_the_packaged_sections_that_the_operators_file_leaves_out(
        self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        packaged = tmp_path / "packaged"
        packaged.mkdir()
        (packaged / "mine.md").write_text("## Plan\npackaged\n## Patch\npackaged")
        (folder / "mine.md").write_text("## Plan\nours")
        monkeypatch.setattr(loader, "_PACKAGED", packaged)
        skill = load_skill("mine", FALLBACK, folder=folder)
        assert [skill[phase] for phase in (Phase.PLAN, Phase.PATCH, Phase.TEST)] == ["ours", "packaged", "try"]

    @pytest.mark.parametrize("name", ["../secret", "a/b", "", "A B", "x" * 61])
    def test_reads_no_other_files(self, folder: Path, name: str) -> None:
        with pytest.raises(ValueError, match="not the name of a skill"):
            load_skill(name, FALLBACK, folder=folder)


class TestWithPacks:
    def test_come_after_ours_and_replace_none(self) -> None:
        found = with_packs({Phase.PLAN: "Ours."}, [("acme.a", "## Plan\nTheirs."), ("acme.b", "## plan\nMore.")])
        assert found[Phase.PLAN].startswith("Ours.\n\n## Skill acme.a\n")
        assert found[Phase.PLAN].index("Theirs.") < found[Phase.PLAN].index("## Skill acme.b") < len(found[Phase.PLAN])

    def test_are_skipped_when_the_instructions_would_be_too_long(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(loader, "MOST_CHARACTERS", 400)
        found = with_packs({Phase.PLAN: "Ours."}, [("acme.a", f"## Plan\n{'x' * 400}"), ("acme.b", "## Plan\nShort.")])
        assert "acme.a" not in found[Phase.PLAN]
        assert found[Phase.PLAN].endswith("Short.")

    def test_packs_know_the_phases(self) -> None:
        assert tuple(phase.value for phase in Phase) == SKILL_PHASES
