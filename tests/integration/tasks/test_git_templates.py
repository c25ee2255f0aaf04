"""The templates for Git in the real application, against a real Git server and the API of a service."""

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from headgate.entrypoints.http.app import create_app
from headgate.foundation.settings import RateLimitSettings, Settings
from tests.support.git_server import TOKEN, GitServer, git_server
from tests.support.people import LOOPBACK

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git for its server")
API = "/api/v1"
FORM = {"name": "holidays", "text": "The office is closed on Friday."}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitServer]:
    with git_server("new", tmp_path / "git", "acme/manual") as opened:
        opened.commit({"docs/index.md": b"# Manual\n"})
        yield opened


@pytest.fixture
async def client(settings: Settings, server: GitServer) -> AsyncIterator[httpx2.AsyncClient]:
    app = create_app(settings.model_copy(update={"http": LOOPBACK, "rate_limits": RateLimitSettings(enabled=False)}))
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411", timeout=60) as opened,
    ):
        fields = {"url": server.url, "service": "gitlab", "api_url": f"{server.url}/api/gitlab"}
        body = {"name": "code", "kind": "git", "fields": fields, "secrets": {"token": TOKEN}}
        added = await opened.post(f"{API}/connections", json=body)
        assert added.status_code == 201, added.text
        yield opened


async def run(client: httpx2.AsyncClient, flow_id: str, form: dict[str, str]) -> dict[str, Any]:
    answer = await client.post(f"{API}/flows/{flow_id}/runs", json={"form_data": form, "wait": True})
    assert answer.status_code in {200, 201}, answer.text
    return dict(answer.json())


class TestPageForReview:
    async def test_commits_a_page_and_opens_one_change(self, client: httpx2.AsyncClient, server: GitServer) -> None:
        created = await client.post(f"{API}/flows", json={"template": "page-for-review"})
        assert created.status_code == 201, created.text
        flow_id = created.json()["id"]
        done = await run(client, flow_id, FORM)
        assert done["status"] == "completed", done
        assert "The office is closed on Friday." in server.read("docs/holidays.md", "pages/holidays")
        (change,) = server.changes
        assert (change["branch"], change["target"], change["title"]) == ("pages/holidays", "main", "Page holidays")
        again = await run(client, flow_id, {**FORM, "text": "The office is open on Friday."})
        assert again["status"] == "completed", again
        assert "is open" in server.read("docs/holidays.md", "pages/holidays")
        assert server.git("rev-list", "--count", "main..pages/holidays") == "2"
        assert len(server.changes) == 1
        assert TOKEN not in str(done) + str(again)

    async def test_what_a_server_wrote_decides_no_branch(self, client: httpx2.AsyncClient, server: GitServer) -> None:
        server.commit({"branch.txt": b"main"})
        spec = (
            "name: Steered\nnodes:\n  read: GitFiles\n    server: code\n    repository: acme/manual\n"
            "    pattern: branch.txt\n  file: SaveFile\n    content: x\n  commit: CommitFiles\n    server: code\n"
            "    repository: acme/manual\n    branch: '{{read.commit.subject}}'\n    message: M\n  out: ChatOutput\n"
            "edges:\n  file.file -> commit.files\n  commit.data -> out.input\n"
        )
        created = await client.post(f"{API}/flows", json={"spec": spec})
        assert created.status_code == 201, created.text
        done = await run(client, created.json()["id"], {})
        assert done["status"] == "failed"
        assert "outside" in str(done)
        assert server.git("for-each-ref", "--format=%(refname)") == "refs/heads/main"
