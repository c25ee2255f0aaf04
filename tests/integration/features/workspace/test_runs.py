"""Workspace files in flows: the whole application, a provider on the wire, runs that somebody or nobody started."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from pydantic import SecretStr
from sqlalchemy import delete, update

from headgate.entrypoints.starter_workspaces import StarterWorkspaces
from headgate.features.access.principal import DEFAULT_SPACE_ID, DEFAULT_TENANT_ID, LOCAL, system_principal
from headgate.features.accounts.tables import SpaceMember, User
from headgate.features.accounts.users.deletion import delete_user
from headgate.features.runs import service as runs
from headgate.features.runs.schemas import RunStart
from headgate.features.runs.starters import RunStarters
from headgate.features.runs.tables import flow_runs
from headgate.features.runs.transitions import RunKey
from headgate.features.secrets import service as secrets
from headgate.foundation.checked import checked
from tests.integration.features.workspace.conftest import Member
from tests.support.openai_server import OpenAIServer
from tests.support.workspaces import everything, home, was_touched

FLOW = """name: Notes
nodes:
  heard: ChatInput
  files: WorkspaceFiles
    root_path: {root_path}
  boss: Agent
    model: openai/gpt-5-mini
    policy:
      tool_policy: restricted
      tool_allowlist:
        - write_file
        - read_file
  said: ChatOutput
edges:
  files.tools -> boss.tools
  heard.text -> boss.input
  boss.response -> said.input
"""
ABOUT = """name: About
nodes:
  heard: ChatInput
  files: WorkspaceFiles
  said: CombineText
edges:
  heard.text -> said.parts
  files.metadata -> said.parts
"""
REFUSED = "FileSystemTool requires an authenticated user when AUTO_LOGIN=False"
MISMATCH = "tool/user-id mismatch: this tool was bound to a different user session and cannot be reused"


@pytest.fixture
def openai() -> Iterator[OpenAIServer]:
    with OpenAIServer() as found:
        yield found


@pytest.fixture
async def provider(app: FastAPI, openai: OpenAIServer) -> OpenAIServer:
    """A provider that the application knows."""
    values = {"OPENAI_API_KEY": "sk-test-0123456789abcdef", "OPENAI_BASE_URL": openai.base_url}
    async with app.state.database.writing() as session:
        for name, value in values.items():
            await secrets.set_variable(session, LOCAL, app.state.box, name=name, value=SecretStr(value))
    return openai


async def create(client: httpx2.AsyncClient, spec: str) -> str:
    made = await client.post("/flows", json={"spec": spec})
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


async def start(client: httpx2.AsyncClient, flow: str) -> dict[str, Any]:
    answer = await client.post(f"/flows/{flow}/runs", json={"text": "Go", "wait": True})
    found: dict[str, Any] = answer.json()
    assert found["status"] == "completed", found
    return found


def told(openai: OpenAIServer) -> Any:
    """What the model was last told by a tool."""
    return json.loads(openai.asked[-1].body["messages"][-1]["content"])


class TestRuns:
    async def test_write_into_the_folder_of_whoever_started_them(
        self, alice: Member, bob: Member, provider: OpenAIServer, base: Path
    ) -> None:
        flow = await create(alice.client, FLOW.format(root_path="notes"))
        for member in (alice, bob):
            written = {"path": "dog.md", "content": member.person.email}
            provider.script(provider.tool_call("write_file", written), provider.text("Done."))
        for member in (alice, bob):
            await start(member.client, flow)
        for member in (alice, bob):
            mine = home(base, member.owner)
            assert everything(mine) == ["notes/dog.md"]
            assert (mine / "notes" / "dog.md").read_text() == member.person.email
        offered = [tool["function"]["name"] for tool in provider.asked[0].body["tools"]]
        assert sorted(offered) == ["read_file", "write_file"]

    async def test_that_nobody_started_have_no_files(
        self, app: FastAPI, alice: Member, provider: OpenAIServer, base: Path
    ) -> None:
        flow = await create(alice.client, FLOW.format(root_path="notes"))
        call = provider.tool_call("write_file", {"path": "dog.md", "content": "woof"})
        provider.script(provider.text("Hello."), call, provider.text("I could not."))
        await start(alice.client, flow)
        nobody = system_principal(DEFAULT_TENANT_ID, DEFAULT_SPACE_ID)
        key = await runs.start_run(app.state.database, app.state.engine, nobody, flow, checked(RunStart, text="Go"))
        await app.state.engine.wait(key.run_id)
        assert told(provider) == {"error": REFUSED, "path": "dog.md"}
        assert not was_touched(base)

    async def test_tell_whose_files_they_have(self, alice: Member, base: Path) -> None:
        done = await start(alice.client, await create(alice.client, ABOUT))
        assert f"users/{home(base, alice.owner).name}" in done["text"]
        assert "isolated" in done["text"]


class TestStarter:
    async def test_is_looked_up_before_each_call(self, app: FastAPI, alice: Member, bob: Member, base: Path) -> None:
        """A person may be deleted while their run works: the tools that were theirs are nobody's then."""
        done = await start(alice.client, await create(alice.client, ABOUT))
        key = RunKey(tenant_id=DEFAULT_TENANT_ID, flow_id=done["flow_id"], version=done["version"], run_id=done["id"])
        workspaces = StarterWorkspaces(app.state.workspace, RunStarters(app.state.database))
        tools = await workspaces.of_run(key, "", read_only=False)
        assert (await tools.write_file("a.md", "mine"))["status"] == "created"
        for user_id, error in ((None, REFUSED), (bob.person.id, MISMATCH)):
            async with app.state.database.writing() as session:
                await session.execute(update(flow_runs).where(flow_runs.c.id == key.run_id).values(user_id=user_id))
            assert (await tools.read_file("a.md"))["error"] == error
        assert everything(base) == [f"users/{home(base, alice.owner).name}/a.md"]
        other = RunKey(tenant_id="another", flow_id=key.flow_id, version=key.version, run_id=key.run_id)
        assert await RunStarters(app.state.database).of(other) == ""

    @pytest.mark.parametrize("how", ["shut out", "deleted", "removed from the space", "role taken"])
    async def test_who_may_no_longer_run_the_flow_has_no_files_at_the_next_call(
        self, app: FastAPI, alice: Member, base: Path, how: str
    ) -> None:
        done = await start(alice.client, await create(alice.client, ABOUT))
        key = RunKey(tenant_id=DEFAULT_TENANT_ID, flow_id=done["flow_id"], version=done["version"], run_id=done["id"])
        workspaces = StarterWorkspaces(app.state.workspace, RunStarters(app.state.database))
        tools = await workspaces.of_run(key, "", read_only=False)
        assert (await tools.write_file("a.md", "mine"))["status"] == "created"
        user_id = alice.person.id
        mine = (SpaceMember.user_id == user_id, SpaceMember.space_id == DEFAULT_SPACE_ID)
        async with app.state.database.writing() as session:
            if how == "shut out":
                await session.execute(update(User).where(User.id == user_id).values(active=False))
            elif how == "deleted":
                await delete_user(session, LOCAL, user_id)
            elif how == "removed from the space":
                await session.execute(delete(SpaceMember).where(*mine))
            else:
                await session.execute(update(SpaceMember).where(*mine).values(role="viewer"))
        assert (await tools.write_file("b.md", "mine"))["error"] == REFUSED
        assert (await tools.read_file("a.md"))["error"] == REFUSED
        assert everything(base) == [f"users/{home(base, alice.owner).name}/a.md"]
