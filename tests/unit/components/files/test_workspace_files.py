"""The component that gives an agent files."""

import json
from pathlib import Path

import pytest
from pydantic import JsonValue

from headgate.components.agent import Agent
from headgate.components.files.workspace_files import WorkspaceFiles
from headgate.features.workspace.places import Owner
from headgate.features.workspace.user_workspace import UserWorkspace
from headgate.graph.model import Node
from headgate.graph.ports import PortType
from headgate.graph.tool_names import file_tools
from headgate.sdk import Tool
from headgate.sdk.testing import StepHarness
from tests.support.scripted_model import ScriptedModel, calls, says
from tests.support.workspaces import ALICE, NOBODY, everything, home, was_touched, workspace_in

REFUSED = "FileSystemTool requires an authenticated user when AUTO_LOGIN=False"


def harness(folder: Path, owner: Owner, *, auto_login: bool = False, model: ScriptedModel | None = None) -> StepHarness:
    found = StepHarness(chat_model=model)
    workspace = workspace_in(folder, auto_login=auto_login)

    def opened(root_path: str, read_only: bool) -> UserWorkspace:
        return workspace.for_flow(lambda: owner, root_path=root_path, read_only=read_only)

    found.ctx.workspaces = opened
    return found


async def tools(found: StepHarness, **values: JsonValue) -> dict[str, Tool]:
    given = await found.run(WorkspaceFiles, values, outputs=["tools"])
    return {tool.full_name: tool for tool in given["tools"]}


class TestTools:
    def test_are_one_output_beside_the_metadata(self) -> None:
        found = {out.name: out.type for out in WorkspaceFiles.template().outputs}
        assert found == {"tools": PortType.TOOL, "metadata": PortType.DATA}

    @pytest.mark.parametrize("read_only", [False, True])
    async def test_are_those_that_the_flow_says(self, tmp_path: Path, read_only: bool) -> None:
        given = await tools(harness(tmp_path, ALICE), read_only=read_only)
        node = Node(id="files", type="WorkspaceFiles", params={"read_only": read_only})
        assert tuple(given) == file_tools(node)
        assert ("write_file" in given) is not read_only
        assert not was_touched(tmp_path / "base")

    async def test_work_in_the_starters_folder(self, tmp_path: Path) -> None:
        given = await tools(harness(tmp_path, ALICE), root_path="notes")
        written = await given["write_file"].call({"path": "a.md", "content": "one\ntwo"})
        assert written == {"status": "created", "path": "a.md", "bytes_written": 7}
        assert everything(home(tmp_path / "base", ALICE)) == ["notes/a.md"]
        read = await given["read_file"].call({"path": "a.md", "offset": 2})
        assert isinstance(read, dict)
        assert read["content"] == "     2→two"
        await given["edit_file"].call({"path": "a.md", "old_string": "one", "new_string": "1"})
        found = await given["grep_search"].call({"pattern": "^1$", "is_regex": True, "output_mode": "count"})
        assert isinstance(found, dict)
        assert found["matches"] == [{"path": "a.md", "count": 1}]
        listed = await given["glob_search"].call({"pattern": "**"})
        assert isinstance(listed, dict)
        assert listed["matches"] == ["a.md"]

    @pytest.mark.parametrize(
        ("tool", "arguments"),
        [
            ("read_file", {}),
            ("read_file", {"path": "a.md", "lines": 3}),
            ("write_file", {"path": 3, "content": "x"}),
            ("grep_search", {"pattern": "x", "output_mode": "lines"}),
        ],
    )
    async def test_answer_to_arguments_that_are_wrong(
        self, tmp_path: Path, tool: str, arguments: dict[str, JsonValue]
    ) -> None:
        answer = await (await tools(harness(tmp_path, ALICE)))[tool].call(arguments)
        assert isinstance(answer, dict)
        assert str(answer["error"]).startswith(f"{tool}: ")

    async def test_are_used_by_an_agent(self, tmp_path: Path) -> None:
        model = ScriptedModel(script=[])
        model.script.extend([calls("write_file", path="dog.md", content="A short story."), says("Done.")])
        found = harness(tmp_path, ALICE, auto_login=True, model=model)
        given = await tools(found)
        values = {"model": "openai/gpt-5-mini", "input": "Write dog.md.", "tools": list(given.values())}
        outputs = await found.run(Agent, values)
        assert outputs["response"].strip() == "Done."
        assert everything(tmp_path / "base") == ["shared/dog.md"]
        assert [name for name, _, _ in found.ctx.tool_calls] == ["write_file"]


class TestMetadata:
    async def test_tells_of_shared_files(self, tmp_path: Path) -> None:
        found = harness(tmp_path, ALICE, auto_login=True)
        outputs = await found.run(WorkspaceFiles, {"root_path": "a/b", "read_only": True}, outputs=["metadata"])
        assert outputs["metadata"] == {
            "auto_login": True,
            "mode": "shared",
            "effective_root": "shared/a/b",
            "resolution_error": None,
            "read_only": True,
            "root_path": "a/b",
        }

    async def test_tells_of_ones_own_files_without_naming_oneself(self, tmp_path: Path) -> None:
        outputs = await harness(tmp_path, ALICE).run(WorkspaceFiles, {}, outputs=["metadata"])
        found = outputs["metadata"]
        assert (found["mode"], found["auto_login"]) == ("isolated", False)
        assert found["effective_root"] == f"users/{home(tmp_path / 'base', ALICE).name}"
        assert ALICE.user_id not in json.dumps(found)

    async def test_says_why_there_are_none(self, tmp_path: Path) -> None:
        outputs = await harness(tmp_path, NOBODY).run(WorkspaceFiles, {}, outputs=["metadata"])
        found = outputs["metadata"]
        assert (found["mode"], found["effective_root"], found["resolution_error"]) == ("refused", None, REFUSED)
        assert not was_touched(tmp_path / "base")

    async def test_says_what_is_wrong_with_the_folder(self, tmp_path: Path) -> None:
        (tmp_path / "base").write_text("a file in the way")
        outputs = await harness(tmp_path, ALICE).run(WorkspaceFiles, {}, outputs=["metadata"])
        base = tmp_path / "base"
        assert outputs["metadata"]["resolution_error"] == (
            f"Cannot create user namespace at {base}/users: Not a directory. Check that HEADGATE_WORKSPACE__BASE_DIR "
            f"({base}) is writable by the Headgate process user."
        )
        answer = await (await tools(harness(tmp_path, ALICE)))["read_file"].call({"path": "a.md"})
        assert isinstance(answer, dict)
        assert answer["error"] == outputs["metadata"]["resolution_error"]
