"""Whether the assistant and flows of the same person use the same folder is said as it is."""

from pathlib import Path

import pytest

from headgate.agents.assistant.loop.loop import files_block
from tests.support.workspaces import ALICE, person, workspace_in


class TestFolderOfAssistantAndFlows:
    @pytest.mark.parametrize("auto_login", [False, True])
    async def test_is_said_as_it_is(self, tmp_path: Path, auto_login: bool) -> None:
        workspace = workspace_in(tmp_path, auto_login=auto_login)
        ours = workspace.for_agent(person(ALICE))
        await ours.write_file("notes.md", "mine")
        seen = await workspace.for_flow(lambda: ALICE).read_file("notes.md")
        assert (seen.get("status") == "ok") is ours.is_that_of_flows is not auto_login
        assert ("use the same folder" in files_block(ours)) is not auto_login
        assert ("a flow does not see what write_file writes" in files_block(ours)) is auto_login

    def test_is_not_said_where_there_is_none(self) -> None:
        assert files_block(None) == ""
