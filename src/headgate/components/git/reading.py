"""Components that read a repository."""

from collections.abc import Callable, Sequence
from mimetypes import guess_type
from typing import Final, TypeVar, cast

from pydantic import JsonValue, PrivateAttr

from headgate.components.files.archives import MOST_BYTES, MOST_FILES
from headgate.components.files.file_names import safe_name
from headgate.components.git.opening import OpenedRepository, opened_repository
from headgate.components.git.repository import Repository
from headgate.components.git.trees import LFS, Commit, RepositoryFile
from headgate.graph.names import clipped
from headgate.sdk import Component, ComponentError, ConnectionReference, Data, File, Table, Text, field, output
from headgate.sdk.coerce import data_of
from headgate.sdk.outside import mark

Result = TypeVar("Result")
GIT_KINDS: Final = ("git",)
GIT_KEYWORDS: Final = ("git", "github", "gitlab", "gitea", "forgejo", "codeberg", "repository", "repo", "code")
SERVER_HELP: Final = "A connection of the kind Git server."
REPOSITORY_HELP: Final = "Its path on the server, such as owner/name; empty when the connection names the repository."


class GitFiles(Component):
    """Reads the files of a Git repository at a branch, tag or commit.

    Connect them to For each. With only the table connected, no file is copied into the run. Symbolic links and
    submodules are never followed; the content of a file in Git LFS is not in the repository.
    """

    label = "Files of a repository"
    category = "data"
    icon = "folder-git-2"
    outside = True
    needs_extra = "git"
    keywords = (*GIT_KEYWORDS, "files", "clone", "checkout", "read", "source", "glob", "branch", "tag")

    server: ConnectionReference = field(label="Git server", help=SERVER_HELP, connection_kinds=GIT_KINDS)
    repository: str = field(default="", label="Repository", help=REPOSITORY_HELP, main=True, max_length=300)
    ref: str = field(default="", label="Branch, tag or commit", help="Empty is the default branch.", max_length=200)
    pattern: str = field(
        default="**", label="Pattern", help="Which files, such as docs/**/*.md.", port=False, max_length=500
    )
    most_files: int = field(
        default=100, label="Most files", help="More matching files cause an error.", ge=1, le=MOST_FILES, advanced=True
    )
    timeout_seconds: float = field(
        default=120, label="Time limit", help="Maximum time in seconds.", ge=1, le=600, advanced=True
    )
    _read: tuple[Commit, list[RepositoryFile]] | None = PrivateAttr(default=None)
    _contents: dict[str, bytes] = PrivateAttr(default_factory=dict)
    _wanted: frozenset[str] = PrivateAttr(default=frozenset({"files", "table", "commit"}))

    @output(help="The files by path: a list of objects with id, name, media_type, size, path and lfs.")
    async def files(self) -> Data:
        """Return copies of the files, with their paths."""
        _, files = await self._opened()
        rows: list[JsonValue] = []
        for file in files:
            content = self._contents[file.id]
            name = safe_name(file.path.rpartition("/")[2], default="file")
            media_type = guess_type(name)[0] or "application/octet-stream"
            saved: File = await self.ctx.files.save(name, content, media_type)
            described = cast("dict[str, JsonValue]", data_of(saved))
            rows.append(described | {"path": file.path, "lfs": content.startswith(LFS)})
        return rows

    @output(help="One row per file: path and the id of its content, which changes with the content.")
    async def table(self) -> Table:
        """Return the paths."""
        _, files = await self._opened()
        return Table(columns=["path", "id"], rows=[[file.path, file.id] for file in files])

    @output(help="The commit that was read: id, author, email, time, subject and message.")
    async def commit(self) -> Data:
        """Return the commit."""
        commit, _ = await self._opened()
        return described_commit(commit)

    def expect_outputs(self, names: Sequence[str]) -> None:
        """Read the contents only when they are requested."""
        self._wanted = frozenset(names)

    async def _opened(self) -> tuple[Commit, list[RepositoryFile]]:
        if self._read is None:
            connection = await self.ctx.connection(self.server)
            async with opened_repository(
                connection, self.repository, seconds=self.timeout_seconds, subject="GitFiles"
            ) as opened:
                self._read = await self._listed(opened)
                if "files" in self._wanted:
                    ids = [file.id for file in self._read[1]]
                    self._contents = await opened.call(lambda repository: repository.contents(ids))
            self.ctx.mark_outside([mark("connection", connection.name)])
            size = sum(len(self._contents.get(file.id, b"")) for file in self._read[1])
            if size > MOST_BYTES:
                raise self._refused(f"the matching files have more than {MOST_BYTES} bytes")
        return self._read

    async def _listed(self, opened: OpenedRepository) -> tuple[Commit, list[RepositoryFile]]:
        snapshot = await opened.call(lambda repository: repository.snapshot(self.ref.strip(), self.pattern))
        files = snapshot.listing.files
        if len(files) > self.most_files:
            raise self._refused(f"{len(files):,} files match; the limit is {self.most_files:,}")
        if omitted := snapshot.listing.omitted():
            self.ctx.log(omitted, omitted=True)
        self.ctx.log("The repository was read.", commit=snapshot.commit.id, files=len(files))
        return snapshot.commit, files

    def _refused(self, reason: str) -> ComponentError:
        return ComponentError(
            f"GitFiles: pattern '{clipped(self.pattern, 60)}': {reason}.",
            remedy="Choose a more specific pattern.",
            field="pattern",
        )


class GitHistory(Component):
    """Reads commits of a Git repository, and what differs between two of them."""

    label = "History of a repository"
    category = "data"
    icon = "folder-git-2"
    outside = True
    needs_extra = "git"
    keywords = (*GIT_KEYWORDS, "log", "commits", "history", "diff", "changes", "compare", "release notes", "changelog")

    server: ConnectionReference = field(label="Git server", help=SERVER_HELP, connection_kinds=GIT_KINDS)
    repository: str = field(default="", label="Repository", help=REPOSITORY_HELP, main=True, max_length=300)
    ref: str = field(default="", label="Branch, tag or commit", help="Empty is the default branch.", max_length=200)
    since: str = field(
        default="",
        label="Since",
        help="Branch, tag or commit to compare with; empty is the commit before, for changes and diff.",
        max_length=200,
    )
    most_commits: int = field(default=50, label="Most commits", help="The newest ones.", ge=1, le=1_000, advanced=True)
    timeout_seconds: float = field(
        default=120, label="Time limit", help="Maximum time in seconds.", ge=1, le=600, advanced=True
    )

    @output(help="One row per commit, the newest first: id, author, email, time, subject and message.")
    async def commits(self) -> Table:
        """Return the commits."""
        since, most = self.since.strip(), self.most_commits
        history = await self._call(lambda repository: repository.history(self.ref.strip(), since, most))
        rows = [list(described_commit(commit).values()) for commit in history]
        return Table(columns=["id", "author", "email", "time", "subject", "message"], rows=rows)

    @output(help="One row per file that differs: path and change (added, changed, deleted).")
    async def changes(self) -> Table:
        """Return the files that differ."""
        changes = await self._call(lambda repository: repository.changes(self.ref.strip(), self.since.strip()))
        return Table(columns=["path", "change"], rows=[[change.path, change.change] for change in changes])

    @output(help="The differences as a unified diff.")
    async def diff(self) -> Text:
        """Return the differences line by line."""
        return await self._call(
            lambda repository: repository.diff(repository.changes(self.ref.strip(), self.since.strip()))
        )

    async def _call(self, work: Callable[[Repository], Result]) -> Result:
        connection = await self.ctx.connection(self.server)
        async with opened_repository(
            connection, self.repository, seconds=self.timeout_seconds, subject="GitHistory"
        ) as opened:
            result = await opened.call(work)
        self.ctx.mark_outside([mark("connection", connection.name)])
        return result


def described_commit(commit: Commit) -> dict[str, JsonValue]:
    """Return a commit as data."""
    return {
        "id": commit.id,
        "author": commit.author,
        "email": commit.email,
        "time": commit.at.isoformat(),
        "subject": commit.subject,
        "message": commit.message,
    }
