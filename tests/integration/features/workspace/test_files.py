"""One's own workspace over the API: the whole application, people with keys."""

from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI
from sqlalchemy import text

from headgate.features.access.principal import DEFAULT_SPACE_ID
from headgate.features.workspace.workspace import Workspace
from headgate.foundation.settings import Settings
from tests.integration.features.workspace.conftest import Member
from tests.support.people import add_key, asking, bearer, running
from tests.support.workspaces import everything, home, person

FILES = "/workspace/files"
EVENTS = "SELECT action, resource_name, payload FROM audit_events WHERE action LIKE 'workspace.%' ORDER BY seq"


async def put(client: httpx2.AsyncClient, path: str, content: str, **more: str) -> httpx2.Response:
    return await client.put(f"{FILES}/content", params={"path": path} | more, json={"text": content})


async def get(client: httpx2.AsyncClient, path: str, what: str = "content", **more: str) -> httpx2.Response:
    return await client.get(f"{FILES}/{what}", params={"path": path} | more)


async def paths(client: httpx2.AsyncClient, **more: str) -> list[str]:
    found = await client.get(FILES, params=more)
    assert found.is_success, found.text
    return [one["path"] for one in found.json()["items"]]


class TestFiles:
    async def test_are_written_read_downloaded_and_deleted(self, alice: Member, base: Path) -> None:
        made = await put(alice.client, "notes/plän.md", "# Über")
        assert made.status_code == 200, made.text
        assert (made.json()["path"], made.json()["size_bytes"]) == ("notes/plän.md", 7)
        assert (await get(alice.client, "notes/plän.md")).json()["text"] == "# Über"
        sent = await get(alice.client, "notes/plän.md", "download")
        assert sent.content == "# Über".encode()
        assert sent.headers["content-disposition"] == "attachment; filename*=UTF-8''pl%C3%A4n.md"
        assert sent.headers["content-security-policy"] == "default-src 'none'; sandbox"
        gone = await alice.client.delete(f"{FILES}/content", params={"path": "notes/plän.md"})
        assert gone.status_code == 204
        assert (await get(alice.client, "notes/plän.md")).status_code == 404
        assert list(home(base, alice.owner).iterdir()) == []

    async def test_are_ones_own(self, alice: Member, bob: Member, base: Path) -> None:
        await put(alice.client, "secret.txt", "mine")
        assert await paths(bob.client) == []
        for answer in (
            await get(bob.client, "secret.txt"),
            await get(bob.client, "secret.txt", "download"),
            await bob.client.delete(f"{FILES}/content", params={"path": "secret.txt"}),
        ):
            assert answer.status_code == 404
        path = f"../{home(base, alice.owner).name}/secret.txt"
        refused = await get(bob.client, path)
        assert refused.status_code == 403
        assert refused.json()["code"] == "workspace_path_escapes"

    async def test_are_those_that_the_assistant_wrote(self, app: FastAPI, alice: Member) -> None:
        workspace: Workspace = app.state.workspace
        await workspace.for_agent(person(alice.owner)).write_file("FLOW_DOCS.md", "x")
        assert await paths(alice.client) == ["FLOW_DOCS.md"]

    async def test_come_in_pages_with_what_they_take_up(self, alice: Member) -> None:
        for name in ("b", "a/z", "a.md", "c", "a/b"):
            await put(alice.client, name, "12")
        found: list[str] = []
        cursor: str | None = ""
        while cursor is not None:
            page = (await alice.client.get(FILES, params={"limit": 2, "cursor": cursor})).json()
            assert (page["files"], page["size_bytes"], page["max_files"]) == (5, 10, 2_000)
            found += [one["path"] for one in page["items"]]
            cursor = page["next_cursor"]
        assert found == ["a.md", "a/b", "a/z", "b", "c"]

    @pytest.mark.parametrize("path", ["../x", "/etc/passwd", ".lfsig/x", ".COMPONENTS/x.py", "CON", "a\\b", "", "a:b"])
    async def test_have_paths_by_the_rules(self, alice: Member, path: str) -> None:
        for answer in (
            await put(alice.client, path, "x"),
            await get(alice.client, path),
            await get(alice.client, path, "download"),
            await alice.client.delete(f"{FILES}/content", params={"path": path}),
        ):
            assert answer.status_code in {403, 422}
            assert answer.json()["remedy"]

    async def test_are_deleted_and_never_folders_links_or_components(self, alice: Member, base: Path) -> None:
        await put(alice.client, "docs/a.md", "x")
        mine = home(base, alice.owner)
        (mine / "link").symlink_to("/etc/passwd")
        for path, status in (("docs", 422), ("link", 403), ("missing", 404), ("docs/a.md/x", 422)):
            answer = await alice.client.delete(f"{FILES}/content", params={"path": path})
            assert answer.status_code == status, path
        assert everything(mine) == ["docs/a.md", "link"]
        assert (await alice.client.delete(f"{FILES}/content", params={"path": "docs/a.md"})).status_code == 204
        assert everything(mine) == ["link"]
        assert not list((base / ".usage").iterdir()), "what was noted of its usage is not true any more"

    async def test_that_are_binary_are_downloaded(self, alice: Member, base: Path) -> None:
        await put(alice.client, "a.md", "x")
        (home(base, alice.owner) / "b.bin").write_bytes(b"\0\1")
        refused = await get(alice.client, "b.bin")
        assert (refused.status_code, refused.json()["remedy"]) == (422, "Download it.")
        assert (await get(alice.client, "b.bin", "download")).content == b"\0\1"

    async def test_need_a_person_and_a_key_that_is_for_them(self, app: FastAPI, alice: Member) -> None:
        narrow = await add_key(app.state.database, alice.person, scopes=["flows.view"])
        of_space = await add_key(app.state.database, alice.person, space_ids=[DEFAULT_SPACE_ID])
        async with asking(app) as client:
            assert (await client.get(FILES)).status_code == 401
            for key in (narrow, of_space):
                assert (await client.get(FILES, headers=bearer(key))).status_code == 403


class TestAuditLog:
    async def test_tells_what_a_person_wrote_and_deleted_and_not_what_an_agent_did(
        self, app: FastAPI, alice: Member
    ) -> None:
        await put(alice.client, "a.md", "secret words")
        await app.state.workspace.for_agent(person(alice.owner)).write_file("b.md", "x")
        await alice.client.delete(f"{FILES}/content", params={"path": "a.md"})
        await put(alice.client, "../c.md", "x")
        async with app.state.database.reading() as session:
            rows = (await session.execute(text(EVENTS))).all()
        assert [(row.action, row.resource_name) for row in rows] == [
            ("workspace.file_written", "a.md"),
            ("workspace.file_deleted", "a.md"),
        ]
        assert "secret words" not in str(rows)


class TestAutoLogin:
    async def test_has_the_assistants_files_and_those_of_flows(self, settings: Settings) -> None:
        alone = settings.model_copy(update={"server": settings.server.model_copy(update={"auto_login": True})})
        async with running(alone) as app, asking(app) as client:
            await put(client, "a.md", "assistant")
            await put(client, "b.md", "flows", area="flows")
            assert (await paths(client), await paths(client, area="flows")) == (["a.md"], ["b.md"])
            assert (settings.data_dir / "workspace" / "shared" / "b.md").read_text() == "flows"
