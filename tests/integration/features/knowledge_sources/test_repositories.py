"""A Git repository on a real server as a source: incremental by content, with deletion followed."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.features.knowledge_sources.conftest import Sources, report
from tests.support.git_server import TOKEN, GitServer, git_server

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git for its server")
DOCS = {"kind": "git", "connection": "code", "repository": "team/docs.git", "pattern": "**/*.md"}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitServer]:
    with git_server("new", tmp_path / "git") as opened:
        opened.commit(
            {"leave.md": b"# Leave\n\n27 days of holiday.", "rules/door.md": b"The code is Zephyr.", "x": b""}
        )
        yield opened


@pytest.fixture
async def sources(sources: Sources, server: GitServer) -> Sources:
    await sources.connect("code", "git", {"url": server.url, "service": "other"}, token=TOKEN)
    return sources


class TestRepository:
    async def test_its_files_become_documents_and_only_changed_contents_are_sent_again(
        self, sources: Sources, server: GitServer
    ) -> None:
        source = await sources.source(DOCS, "Docs")
        assert (source["status"], source["problem"]) == ("ready", "")
        assert report(source, "listed", "added", "failed") == [2, 2, 0]
        assert await sources.names() == ["Docs/leave.md", "Docs/rules/door.md"]
        assert len(await sources.search(sources.base_id, "holiday")) == 1
        reads = len(server.requests)
        source = await sources.sync(source)
        assert report(source, "unchanged", "added", "changed", "deleted") == [2, 0, 0, 0]
        assert len(server.requests) - reads == 5  # branches, and trees: no content
        server.git("update-ref", "-d", "refs/heads/main")
        server.commit({"leave.md": b"# Leave\n\n28 days of holiday.", "new.md": b"Parking costs 5 EUR."})
        source = await sources.sync(source)
        assert report(source, "unchanged", "added", "changed", "deleted") == [0, 1, 1, 1]
        assert await sources.names() == ["Docs/leave.md", "Docs/new.md"]
        assert await sources.search(sources.base_id, "zephyr") == []

    async def test_says_what_it_cannot_read(self, sources: Sources, server: GitServer) -> None:
        server.commit({"big.md": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"})
        server.commit({"link.md": b"leave.md"}, mode="120000")
        source = await sources.source(DOCS, "Docs")
        assert report(source, "added", "failed") == [2, 1]
        assert source["report"]["notes"] == ["Not read: 1 symbolic links."]
        assert await sources.problems(source) == {"big.md": ["Its content is in Git LFS, not in the repository."]}

    async def test_reads_many_contents_at_a_time_and_large_ones_alone(
        self, sources: Sources, server: GitServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from headgate.components.git import wire

        monkeypatch.setattr(wire, "MOST_BYTES", 5_000)
        server.commit({f"{name}.md": name.encode() * 3_000 for name in "abc"})
        source = await sources.source(DOCS, "Docs")
        assert report(source, "added", "failed") == [5, 0]

    async def test_a_branch_that_is_gone_deletes_nothing(self, sources: Sources, server: GitServer) -> None:
        source = await sources.source({**DOCS, "ref": "main"}, "Docs")
        server.git("update-ref", "-d", "refs/heads/main")
        source = await sources.sync(source)
        assert source["status"] == "failed"
        assert "no branch or tag 'main'" in source["problem"]
        assert len(await sources.names()) == 2
