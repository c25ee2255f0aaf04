from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import JsonValue

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import LOCAL
from headgate.toolkit.files import (
    MOST_CHARACTERS,
    MOST_LINES,
    edit_file,
    glob_search,
    grep_search,
    read_file,
    write_file,
)
from headgate.toolkit.tool import ToolDefinition, define
from headgate.toolkit.workbench import Workbench
from tests.support.workspaces import ALICE, person, workspace_in

TOOLS = {
    one.__name__: define(one, permission=Permission.WORKSPACE_USE)
    for one in (read_file, write_file, edit_file, glob_search, grep_search)
}


@pytest.fixture
def written(bench: Workbench, tmp_path: Path) -> list[dict[str, JsonValue]]:
    """The `file_written` events of a bench with the files of whoever works at it."""
    events: list[dict[str, JsonValue]] = []
    bench.files = workspace_in(tmp_path).for_agent(LOCAL)
    bench.on_file = events.append
    return events


async def call(bench: Workbench, tool: str, **arguments: Any) -> dict[str, JsonValue]:
    return await TOOLS[tool].call(bench, arguments)


class TestWriting:
    """Seed 000: file_written events carry what was written; there are none for what was not."""

    async def test_tells_of_a_written_file_with_its_content(
        self, bench: Workbench, written: list[dict[str, JsonValue]]
    ) -> None:
        answer = await call(bench, "write_file", path="FLOW_DOCS.md", content="# Über")
        assert answer == {"status": "created", "path": "FLOW_DOCS.md", "bytes_written": 7}
        assert written == [{"action": "write_file", "path": "FLOW_DOCS.md", "size": 7, "content": "# Über"}]

    async def test_tells_of_an_edit_without_the_content(
        self, bench: Workbench, written: list[dict[str, JsonValue]]
    ) -> None:
        await call(bench, "write_file", path="a.md", content="one two")
        await call(bench, "edit_file", path="a.md", old_string="two", new_string="three")
        assert written[1:] == [{"action": "edit_file", "path": "a.md", "size": 9}]

    async def test_tells_nothing_of_a_failed_write(self, bench: Workbench, written: list[dict[str, JsonValue]]) -> None:
        answer = await call(bench, "write_file", path="../escape.md", content="x")
        assert answer == {"error": "Path escapes workspace boundary: ../escape.md", "path": "../escape.md"}
        assert "error" in await call(bench, "edit_file", path="missing.md", old_string="a", new_string="b")
        assert written == []


class TestReading:
    async def test_tells_nothing_of_reads_and_searches(
        self, bench: Workbench, written: list[dict[str, JsonValue]]
    ) -> None:
        await call(bench, "write_file", path="NOTES.md", content="The API key is elsewhere.")
        written.clear()
        assert (await call(bench, "read_file", path="NOTES.md"))["content"] == "     1→The API key is elsewhere."
        assert (await call(bench, "grep_search", pattern="API key"))["matches"] == ["NOTES.md"]
        assert (await call(bench, "glob_search", pattern="*.md"))["matches"] == ["NOTES.md"]
        assert written == []

    @pytest.mark.usefixtures("written")
    async def test_shows_a_bounded_part_at_once(self, bench: Workbench) -> None:
        await call(bench, "write_file", path="wide.md", content="y" * 40_000 + "\nz")
        page = await call(bench, "read_file", path="wide.md")
        assert (page["num_lines"], page["next_offset"]) == (1, 2)
        assert "more characters of this line" in str(page["content"])
        page = await call(bench, "read_file", path="wide.md", offset=2)
        assert (page["content"], "next_offset" in page) == ("     2→z", False)

    @pytest.mark.usefixtures("written")
    async def test_shows_the_whole_file_in_pages(self, bench: Workbench) -> None:
        lines = [f"line {number} " + "x" * (number % 90) for number in range(3 * MOST_LINES)]
        await call(bench, "write_file", path="long.md", content="\n".join(lines))
        whole, offset, pages = list[str](), 1, 0
        while offset:
            page = await call(bench, "read_file", path="long.md", offset=offset)
            assert len(str(page["content"])) <= MOST_CHARACTERS
            shown = [line.partition("→")[2] for line in str(page["content"]).split("\n")]
            assert (len(shown), page["total_lines"]) == (page["num_lines"], len(lines))
            whole += shown
            offset, pages = cast("int", page.get("next_offset", 0)), pages + 1
        assert whole == lines
        assert pages > 3


class TestWhoseFiles:
    async def test_without_a_workspace_are_nobodys(self, bench: Workbench) -> None:
        assert (await call(bench, "read_file", path="a.md"))["error"] == "No workspace is available."

    async def test_of_another_person_are_refused(
        self, bench: Workbench, written: list[dict[str, JsonValue]], tmp_path: Path
    ) -> None:
        bench.files = workspace_in(tmp_path).for_agent(person(ALICE))
        answer = await call(bench, "write_file", path="a.md", content="x")
        assert str(answer["error"]).startswith("tool/user-id mismatch")
        assert written == []

    async def test_need_the_permission(self, bench: Workbench, written: list[dict[str, JsonValue]]) -> None:
        key = replace(LOCAL.access, scopes=frozenset({Permission.FLOWS_EDIT}))
        bench.principal = replace(LOCAL, access=key)
        answer = await call(bench, "write_file", path="a.md", content="x")
        assert "workspace.use" in str(answer)
        assert written == []


class TestDescriptions:
    @pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
    def test_tell_a_model_about_every_argument(self, tool: ToolDefinition) -> None:
        schema = tool.arguments.model_json_schema()
        assert tool.description
        assert all(one["description"] for name, one in schema["properties"].items() if name != "offset")
