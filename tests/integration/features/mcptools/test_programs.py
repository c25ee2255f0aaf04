"""Programs as MCP servers: the folders and hosts that they may be given, and what reaches them."""

from pathlib import Path
from typing import Any

import httpx2
import pytest

from headgate.foundation.settings import McpSettings, Settings
from tests.support.mcp_server import COMMAND


@pytest.fixture
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the operator allows, outside of Headgate's."""
    folder = tmp_path_factory.mktemp("shared").resolve()
    (folder / "inner").mkdir()
    return folder


@pytest.fixture
def mcp_settings(shared: Path) -> McpSettings:
    return McpSettings(allow_stdio=True, program_folders=[shared], connect_seconds=15)


async def add(client: httpx2.AsyncClient, **access: Any) -> httpx2.Response:
    body = {"name": "files", "transport": "stdio", "command": COMMAND, "access": access}
    return await client.post("/mcp-servers", json=body)


class TestFolders:
    async def test_are_those_that_the_operator_allows_by_their_real_paths(
        self, client: httpx2.AsyncClient, shared: Path
    ) -> None:
        (shared / "link").symlink_to(shared / "inner")
        made = await add(client, read=[str(shared / "link")], write=[str(shared)])
        assert made.status_code == 201, made.text
        assert made.json()["access"] == {"hosts": [], "read": [str(shared / "inner")], "write": [str(shared)]}

    @pytest.mark.parametrize(
        ("folder", "problem"),
        [
            ("/etc", "allows no program the folder"),
            ("{shared}/../elsewhere", "allows no program the folder"),
            ("{shared}/out", "allows no program the folder"),
            ("shared", "not an absolute path"),
            ("{shared}/missing", "does not exist"),
            ("{shared}/file", "does not exist"),
            ("/etc\x00", "not an absolute path"),
        ],
    )
    async def test_of_other_places_are_refused(
        self, client: httpx2.AsyncClient, shared: Path, folder: str, problem: str
    ) -> None:
        (shared / "out").symlink_to("/etc")
        (shared / "file").touch()
        for kind in ("read", "write"):
            answer = await add(client, **{kind: [folder.format(shared=shared)]})
            assert (answer.status_code, answer.json()["code"]) == (422, "bad_mcp_server")
            assert problem in answer.json()["detail"]

    async def test_with_the_data_of_headgate_are_refused(
        self, client: httpx2.AsyncClient, settings: Settings, mcp_settings: McpSettings
    ) -> None:
        mcp_settings.program_folders.append(Path("/"))
        for folder in (settings.data_dir, settings.data_dir / "workers", settings.data_dir.parent, Path("/")):
            folder.mkdir(parents=True, exist_ok=True)
            answer = await add(client, read=[str(folder)])
            assert "contains Headgate's data" in answer.json()["detail"], folder

    async def test_that_are_not_allowed_any_more_are_refused_at_the_start(
        self, client: httpx2.AsyncClient, shared: Path, mcp_settings: McpSettings
    ) -> None:
        assert (await add(client, read=[str(shared)])).status_code == 201
        mcp_settings.program_folders.remove(shared)
        answer = (await client.post("/mcp-servers/files/refresh")).json()
        assert (answer["code"], "HEADGATE_MCP__PROGRAM_FOLDERS" in answer["remedy"]) == ("bad_mcp_server", True)

    async def test_are_replaced_and_audited(self, client: httpx2.AsyncClient, shared: Path) -> None:
        await add(client, read=[str(shared)], hosts=["api.example.org"])
        changed = await client.patch("/mcp-servers/files", json={"access": {"write": [str(shared)]}})
        assert changed.json()["access"] == {"hosts": [], "read": [], "write": [str(shared)]}
        exported = (await client.get("/audit", params={"action": "mcp_server.changed"})).text
        assert str(shared) in exported

    async def test_and_hosts_are_not_for_servers_with_a_url(self, client: httpx2.AsyncClient) -> None:
        body = {"name": "web", "url": "https://tools.example.org/mcp"}
        refused = await client.post("/mcp-servers", json=body | {"access": {"hosts": ["a.example"]}})
        assert (refused.status_code, refused.json()["code"]) == (422, "bad_mcp_server")
        assert (await client.post("/mcp-servers", json=body)).json()["access"] is None
        assert (await client.patch("/mcp-servers/web", json={"access": {}})).json()["code"] == "bad_mcp_server"


class TestHosts:
    @pytest.mark.parametrize("host", ["http://a.example", "a b", "*.*", "", "a.example:99999", "x" * 1025])
    async def test_that_are_none_are_refused(self, client: httpx2.AsyncClient, host: str) -> None:
        assert (await add(client, hosts=[host])).status_code == 422


class TestEnvironment:
    @pytest.mark.parametrize("name", ["HTTPS_PROXY", "http_proxy", "All_Proxy", "LD_PRELOAD", "HOME"])
    async def test_that_would_change_the_walls_is_refused(self, client: httpx2.AsyncClient, name: str) -> None:
        body = {"name": "files", "transport": "stdio", "command": COMMAND, "env": {name: "x"}}
        answer = await client.post("/mcp-servers", json=body)
        assert (answer.status_code, answer.json()["code"]) == (422, "bad_mcp_server")


async def test_a_program_without_folders_cannot_be_started_from_one(client: httpx2.AsyncClient, shared: Path) -> None:
    script = shared / "server"
    script.write_text("#!/bin/sh\necho ran\n")
    script.chmod(0o755)
    body = {"name": "files", "transport": "stdio", "command": [str(script)]}
    assert (await client.post("/mcp-servers", json=body)).status_code == 201
    answer = (await client.post("/mcp-servers/files/refresh")).json()
    assert (answer["status"], answer["code"]) == (502, "mcp_server_failed")
    assert "could not be started: Permission denied" in answer["detail"]
