"""Repositories on real Git servers on loopback, and changes at the APIs of the services."""

import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest

from headgate.components.git import trees
from headgate.components.git.reading import GitFiles, GitHistory
from headgate.components.git.repository import Refs
from headgate.components.git.writing import CommitFiles, OpenChange
from headgate.features.connections.catalogue import KINDS
from headgate.features.connections.http import ConnectionHttp, static_credential
from headgate.features.connections.probes import probe
from headgate.foundation.errors import HeadgateError, UpstreamFailed
from headgate.foundation.guarded_http import Credential, GuardedHttp
from headgate.foundation.settings import HttpSettings, OutgoingSettings
from headgate.sdk import ComponentError, Connection, File
from headgate.sdk.testing import StepHarness
from tests.support.git_server import TOKEN, GitServer, git_server

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git for its server")


@pytest.fixture(params=["new", "old"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[GitServer]:
    with git_server(request.param, tmp_path) as opened:
        opened.commit({"README.md": b"# Docs\n"}, message="First")
        opened.commit({"docs/a.md": b"one\n", "docs/deep/b.md": b"two\n", "x.bin": b"\0\1"}, message="Second\n\nMore.")
        yield opened


GUARDS: list[GuardedHttp] = []


@pytest.fixture(autouse=True)
async def closed() -> AsyncIterator[None]:
    yield
    while GUARDS:
        await GUARDS.pop().close()


def connected(
    harness: StepHarness, server: GitServer, *, token: str = TOKEN, service: str = "other", allowed: bool = True
) -> Connection:
    """Add the connection `git`, with the guarded clients of the product."""
    fields = {"url": server.url, "service": service, "api_url": f"{server.url}/api/{service}"}
    networks = [IPv4Network("127.0.0.0/8")] if allowed else []
    guard = GuardedHttp(HttpSettings(allowed_internal_cidrs=networks), OutgoingSettings())
    GUARDS.append(guard)
    hosts = KINDS["git"].hosts(fields)

    async def credential(_renewed: bool) -> Credential | None:
        return static_credential(KINDS["git"], "git", fields, {"token": token}, hosts)

    connection = replace(
        harness.connect("git", "git", dict(fields), secrets={"token": token}, hosts=hosts),
        proxy=lambda most: guard.local_proxy(hosts, most_bytes=most),
        http=ConnectionHttp(guard, "git", credential),
    )
    harness.ctx.connections["git"] = connection
    return connection


@pytest.fixture
def harness(server: GitServer) -> StepHarness:
    made = StepHarness(files={"a.txt": b"new", "b.txt": b"other"})
    connected(made, server)
    return made


async def run(harness: StepHarness, component: Any, *outputs: str, **values: Any) -> dict[str, Any]:
    given = {"server": "git", "repository": "team/docs.git", **values}
    return await harness.run(component, given, outputs=outputs or None)


async def read(harness: StepHarness, **values: Any) -> dict[str, bytes]:
    rows = (await run(harness, GitFiles, "files", **values))["files"]
    return {
        row["path"]: await harness.ctx.files.read(
            File(**{name: row[name] for name in ("id", "name", "media_type", "size")})
        )
        for row in rows
    }


async def commit(harness: StepHarness, *names: str, **values: Any) -> Any:
    files = [file for file in harness.ctx.input.files if file.name in names]
    given = {"branch": "main", "message": "Update", "files": files, **values}
    return (await run(harness, CommitFiles, **given))["data"]


class TestGitFiles:
    async def test_reads_by_pattern(self, harness: StepHarness) -> None:
        assert await read(harness) == {
            "README.md": b"# Docs\n", "docs/a.md": b"one\n", "docs/deep/b.md": b"two\n", "x.bin": b"\0\1",
        }  # fmt: skip
        assert set(await read(harness, pattern="docs/*.md")) == {"docs/a.md"}
        assert set(await read(harness, pattern="**/*.md")) == {"README.md", "docs/a.md", "docs/deep/b.md"}

    async def test_at_a_branch_a_tag_and_a_commit(self, harness: StepHarness, server: GitServer) -> None:
        first = server.git("rev-parse", "main~1")
        server.git("update-ref", "refs/heads/feature/old", first)
        server.git("tag", "-a", "v1", "-m", "Version 1", first)
        for ref in ("feature/old", "v1"):
            assert set(await read(harness, ref=ref)) == {"README.md"}
        if server.kind == "new":  # the other one serves branches and tags only
            assert set(await read(harness, ref=first)) == {"README.md"}
        described = (await run(harness, GitFiles, "commit", ref="v1"))["commit"]
        assert (described["id"], described["author"], described["subject"]) == (first, "Ann", "First")
        with pytest.raises(ComponentError, match="no branch or tag 'none'"):
            await read(harness, ref="none")

    async def test_only_what_is_requested_is_sent(self, tmp_path: Path) -> None:
        with git_server("new", tmp_path) as server:
            server.commit({"big.bin": b"0123456789abcdef" * 2_000_000, "a.md": b"one"})
            harness = StepHarness()
            connected(harness, server)
            table = (await run(harness, GitFiles, "table"))["table"]
            assert [row[0] for row in table.rows] == ["a.md", "big.bin"]
            assert server.git("rev-parse", "main:a.md") == table.rows[0][1]
            posts = [request for request in server.requests if "POST" in request]
            assert len(posts) == 3  # the branches, twice, and the trees; no content
            assert await read(harness, pattern="a.md") == {"a.md": b"one"}

    async def test_hostile_names_links_and_modules_are_no_files(self, harness: StepHarness, server: GitServer) -> None:
        server.commit({"link.md": b"/etc/passwd"}, mode="120000")
        blob = server.git("hash-object", "-w", "--stdin", content=b"evil")
        tree = server.git("ls-tree", "main")
        for name in ("..", ".git", ".GIT", "git~1", "a\\b"):
            tree += f"\n100644 blob {blob}\t{name}"
        tree += f"\n160000 commit {server.git('rev-parse', 'main')}\tmodule"
        hostile = server.git("mktree", "--missing", content=f"{tree}\n".encode())
        made = server.git("commit-tree", hostile, "-p", "main", "-m", "Hostile")
        server.git("update-ref", "refs/heads/main", made)
        assert set(await read(harness)) == {"README.md", "docs/a.md", "docs/deep/b.md", "x.bin"}
        assert "1 symbolic links, 1 submodules, 5 entries with a name" in str(harness.ctx.logs)

    async def test_a_pointer_of_git_lfs_is_named(self, harness: StepHarness, server: GitServer) -> None:
        pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n"
        server.commit({"model.bin": pointer})
        rows = (await run(harness, GitFiles, "files"))["files"]
        assert [row["path"] for row in rows if row["lfs"]] == ["model.bin"]

    async def test_limits(self, harness: StepHarness, server: GitServer, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(ComponentError, match="4 files match; the limit is 2"):
            await read(harness, most_files=2)
        with monkeypatch.context() as patch:
            patch.setattr(trees, "MOST_ENTRIES", 2)
            with pytest.raises(ComponentError, match="more than 2 entries"):
                await read(harness)
        from headgate.components.git import wire

        with monkeypatch.context() as patch:
            patch.setattr(wire, "MOST_BYTES", 100)
            with pytest.raises(ComponentError, match="more than 100 bytes"):
                await read(harness)
        with monkeypatch.context() as patch:
            patch.setattr(wire, "MOST_REF_BYTES", 30)
            with pytest.raises(ComponentError, match="sent too much"):
                await read(harness)

    async def test_a_wrong_token_a_missing_repository_and_private_addresses(self, server: GitServer) -> None:
        harness = StepHarness()
        connected(harness, server, token="wrong-secret-value")
        with pytest.raises(UpstreamFailed, match="refused user and token") as error:
            await read(harness)
        assert "wrong-secret-value" not in str(error.value)
        connected(harness, server)
        with pytest.raises(HeadgateError, match="no such repository"):
            await read(harness, repository="team/none.git")
        for repository in ("../x", "https://example.org/x", "team/../x", "a b"):
            with pytest.raises(ComponentError, match="is not the path of a repository"):
                await read(harness, repository=repository)
        connected(harness, server, allowed=False)
        with pytest.raises(HeadgateError):
            await read(harness)

    async def test_an_empty_repository_is_said(self, tmp_path: Path) -> None:
        with git_server("new", tmp_path) as server:
            harness = StepHarness(files={"a.txt": b"new"})
            connected(harness, server)
            with pytest.raises(ComponentError, match="no commit in its default branch"):
                await read(harness)
            assert (await commit(harness, "a.txt"))["changed"]  # its first commit
            assert server.read("a.txt") == "new"


class TestGitHistory:
    async def test_commits_changes_and_differences(self, harness: StepHarness, server: GitServer) -> None:
        first = server.git("rev-parse", "main~1")
        server.git("tag", "v1", first)
        server.commit({"README.md": b"# Manual\n"}, message="Third")
        commits = (await run(harness, GitHistory, "commits"))["commits"]
        assert sorted(row[4] for row in commits.rows) == ["First", "Second", "Third"]
        newer = (await run(harness, GitHistory, "commits", since="v1"))["commits"]
        assert sorted(row[4] for row in newer.rows) == ["Second", "Third"]
        changes = (await run(harness, GitHistory, "changes", since="v1"))["changes"]
        assert changes.rows == [
            ["README.md", "changed"], ["docs/a.md", "added"], ["docs/deep/b.md", "added"], ["x.bin", "added"],
        ]  # fmt: skip
        diff = (await run(harness, GitHistory, "diff", since="v1"))["diff"]
        assert "--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-# Docs\n+# Manual\n" in diff
        assert "--- /dev/null\n+++ b/docs/a.md\n@@ -0,0 +1 @@\n+one\n" in diff
        assert "+++ b/x.bin\n# added; not compared line by line.\n" in diff
        if server.kind == "new":  # the commit before is not a branch
            last = (await run(harness, GitHistory, "changes"))["changes"]
            assert last.rows == [["README.md", "changed"]]


class TestCommitFiles:
    async def test_several_files_are_one_commit(self, harness: StepHarness, server: GitServer) -> None:
        before = server.git("rev-parse", "main")
        done = await commit(
            harness, "a.txt", "b.txt", folder="docs/new", delete=["docs/a.md"], message="Two files\n\nWhy."
        )
        assert server.git("rev-parse", "main") == done["commit"]
        assert server.git("rev-parse", "main~1") == before
        assert server.read("docs/new/a.txt") == "new"
        assert server.git("ls-tree", "-r", "--name-only", "main").split() == [
            "README.md", "docs/deep/b.md", "docs/new/a.txt", "docs/new/b.txt", "x.bin",
        ]  # fmt: skip
        assert server.git("log", "-1", "--format=%an <%ae> %s", "main") == "Headgate <headgate@localhost> Two files"
        server.git("fsck", "--strict")

    async def test_a_new_branch_begins_where_it_should(self, harness: StepHarness, server: GitServer) -> None:
        server.git("tag", "v1", "main~1")
        await commit(harness, "a.txt", branch="flow/new")
        assert server.git("rev-parse", "flow/new~1") == server.git("rev-parse", "main")
        await commit(harness, "a.txt", branch="fix/old", start="v1")
        assert server.git("rev-parse", "fix/old~1") == server.git("rev-parse", "main~1")

    async def test_a_repeated_step_commits_once(self, harness: StepHarness, server: GitServer) -> None:
        first = await commit(harness, "a.txt")
        server.commit({"later.md": b"x"}, message="Somebody else")
        harness.ctx.key_count = 0  # another attempt at the same step
        assert (await commit(harness, "a.txt"))["commit"] == first["commit"]
        assert server.git("rev-list", "--count", "main") == "4"

    async def test_the_same_files_again_are_no_commit(self, harness: StepHarness, server: GitServer) -> None:
        first = await commit(harness, "a.txt")
        again = await commit(harness, "a.txt")
        assert (again["commit"], again["changed"]) == (first["commit"], False)

    async def test_somebody_else_commits_meanwhile(
        self, harness: StepHarness, server: GitServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from headgate.components.git import wire

        ask: Callable[[Any], Refs] = wire.GitWire.refs
        moves = [b"1", b"2"]

        def refs(self: Any) -> Refs:
            answer = ask(self)
            if moves:
                server.commit({"theirs.md": moves.pop()}, message="Theirs")
            return answer

        monkeypatch.setattr(wire.GitWire, "refs", refs)
        done = await commit(harness, "a.txt")
        assert server.git("rev-parse", "main") == done["commit"]
        assert server.read("theirs.md") == "1"  # nothing of theirs is lost
        assert server.git("rev-list", "--count", "main") == "5"
        moves += [b"%d" % number for number in range(3, 30)]
        with pytest.raises(ComponentError, match="4 times meanwhile"):
            await commit(harness, "b.txt")

    async def test_a_protected_branch_is_said(self, tmp_path: Path) -> None:
        with git_server("new", tmp_path) as server:
            server.commit({"README.md": b"# Docs\n"})
            hook = server.bare / "hooks" / "update"
            hook.write_text("#!/bin/sh\nexit 1\n")
            hook.chmod(0o755)
            harness = StepHarness(files={"a.txt": b"new"})
            connected(harness, server)
            with pytest.raises(ComponentError, match="refused the commit to 'main': hook declined"):
                await commit(harness, "a.txt")

    @pytest.mark.parametrize(
        "name", ["../x", ".git/config", "docs/.GIT/hooks/x", "git~1/x", "a/../../b", ".git\u200c/x", "a\\b", ".git. /x"]
    )
    async def test_hostile_paths_are_refused(self, harness: StepHarness, server: GitServer, name: str) -> None:
        with pytest.raises(ComponentError, match="is not a path"):
            await commit(harness, "a.txt", name=name)
        with pytest.raises(ComponentError, match="is not a path"):
            await commit(harness, delete=[name])
        assert server.git("rev-list", "--count", "main") == "2"

    async def test_nothing_is_written_through_links_and_files(self, harness: StepHarness, server: GitServer) -> None:
        server.commit({"link": b"/etc"}, mode="120000")
        for name, match in (
            ("link", "symbolic link"), ("link/x", "no folder"), ("docs", "is a folder"), ("x.bin/y", "no folder"),
        ):  # fmt: skip
            with pytest.raises(ComponentError, match=match):
                await commit(harness, "a.txt", name=name)
        with pytest.raises(ComponentError, match="no file 'none' to delete"):
            await commit(harness, delete=["docs/none"])
        for branch in ("", "-x", "a..b", "refs heads", "x.lock", "@{1}"):
            with pytest.raises(HeadgateError):
                await commit(harness, "a.txt", branch=branch)


class TestOpenChange:
    @pytest.fixture(params=["github", "gitlab", "gitea"])
    def service(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    @pytest.fixture
    def hosted(self, service: str, tmp_path: Path) -> Iterator[tuple[StepHarness, GitServer]]:
        with git_server("new", tmp_path) as server:
            server.commit({"README.md": b"# Docs\n"})
            harness = StepHarness(files={"a.txt": b"new"})
            connected(harness, server, service=service)
            yield harness, server

    async def change(self, harness: StepHarness, **values: Any) -> Any:
        given = {"branch": "flow/new", "title": "New text", "description": "Why.", **values}
        return (await run(harness, OpenChange, repository="team/docs", **given))["data"]

    async def test_after_a_commit(self, hosted: tuple[StepHarness, GitServer], service: str) -> None:
        harness, server = hosted
        done = await commit(harness, "a.txt", branch="flow/new")
        path = {"github": "commit", "gitea": "commit", "gitlab": "-/commit"}[service]
        assert done["url"] == f"{server.url}/team/docs/{path}/{done['commit']}"
        opened = await self.change(harness)
        assert opened == {
            "number": 1,
            "url": opened["url"],
            "title": "New text",
            "state": opened["state"],
            "created": True,
        }
        assert opened["url"].endswith("/1")
        assert server.changes[0]["text"].startswith("Why.\n\n<!-- headgate: ")

    async def test_a_repeated_step_opens_one(self, hosted: tuple[StepHarness, GitServer]) -> None:
        harness, server = hosted
        await self.change(harness)
        server.changes[0]["open"] = False  # merged meanwhile
        harness.ctx.key_count = 0  # another attempt at the same step
        assert not (await self.change(harness))["created"]
        assert len(server.changes) == 1
        assert (await self.change(harness))["created"]  # another step
        assert not (await self.change(harness))["created"]  # it is open
        assert len(server.changes) == 2

    async def test_one_that_another_attempt_opens_meanwhile_is_returned(
        self, hosted: tuple[StepHarness, GitServer]
    ) -> None:
        harness, server = hosted
        await self.change(harness)
        server.refuse.add("find")
        with pytest.raises(UpstreamFailed, match="already exists"):
            await self.change(harness)
        server.refuse.clear()
        assert (await self.change(harness))["number"] == 1

    async def test_a_draft(self, hosted: tuple[StepHarness, GitServer], service: str) -> None:
        harness, server = hosted
        await self.change(harness, draft=True)
        beginning = {"github": "New", "gitlab": "Draft: ", "gitea": "WIP: "}[service]
        assert server.changes[0]["title"].startswith(beginning)
        assert server.changes[0]["draft"] == (service == "github")

    async def test_refusals(self, hosted: tuple[StepHarness, GitServer], service: str) -> None:
        harness, server = hosted
        with pytest.raises(UpstreamFailed, match="404"):
            await run(harness, OpenChange, repository="team/none", branch="x", title="T")
        connected(harness, server, service=service, token="wrong-secret-value")
        with pytest.raises(UpstreamFailed, match="401: Bad credentials") as error:
            await self.change(harness)
        assert "wrong-secret-value" not in str(error.value)
        connected(harness, server)
        with pytest.raises(ComponentError, match="cannot open changes"):
            await self.change(harness)


class TestProbe:
    @pytest.mark.parametrize("token", [TOKEN, "wrong"])
    async def test_the_token_is_checked(self, tmp_path: Path, token: str) -> None:
        with git_server("new", tmp_path) as server:
            outcome = await probe("git", connected(StepHarness(), server, service="github", token=token), 10)
        assert outcome.ok == (token == TOKEN)
        assert token not in outcome.message
