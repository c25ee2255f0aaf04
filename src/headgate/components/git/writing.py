"""Components that commit to a repository, and open a change there."""

import hashlib
import re
from datetime import UTC, datetime
from typing import cast
from urllib.parse import urlsplit

from pydantic import JsonValue

from headgate.components.files.file_names import safe_name
from headgate.components.git.opening import address_of, opened_repository
from headgate.components.git.reading import GIT_KEYWORDS, GIT_KINDS, REPOSITORY_HELP, SERVER_HELP
from headgate.components.git.repository import Committed, Contents, is_branch
from headgate.components.git.services import ChangeRequest, open_change
from headgate.components.git.trees import is_allowed
from headgate.components.storage.paths import clean_path
from headgate.graph.names import clipped
from headgate.sdk import Component, ComponentError, Connection, ConnectionReference, Data, File, field, output
from headgate.sdk.calls import CallRequest

MOST_FILES = 500
MOST_BYTES = 50_000_000
_AUTHOR = re.compile(r"[^<>\x00-\x1f\x7f]{1,100} <[^<>\s\x00-\x1f\x7f]{1,200}>")
_COMMIT_PATHS = {"github": "commit", "gitea": "commit", "gitlab": "-/commit"}


class CommitFiles(Component):
    """Commits files to a branch of a Git repository: all in one commit, which is never forced.

    A branch that does not exist is created. When somebody else commits meanwhile, the commit is made on top of theirs.
    """

    label = "Commit files"
    category = "data"
    icon = "git-pull-request"
    effect = True
    outside = True
    needs_extra = "git"
    keywords = (*GIT_KEYWORDS, "commit", "push", "branch", "write", "save", "update file", "delete file")

    server: ConnectionReference = field(label="Git server", help=SERVER_HELP, connection_kinds=GIT_KINDS)
    repository: str = field(default="", label="Repository", help=REPOSITORY_HELP, max_length=300)
    branch: str = field(label="Branch", help="The branch to commit to; it is created.", max_length=200)
    message: str = field(label="Message", help="Of the commit; its first line is the subject.", max_length=10_000)
    files: list[File] = field(default_factory=list, label="Files", help="The files to commit.", main=True, many=True)
    folder: str = field(default="", label="Folder", help="Folder of the repository, such as docs.", max_length=1_024)
    name: str = field(
        default="", label="File name", help="For one file: its path in the folder; empty is its own name.",
        max_length=1_000,
    )  # fmt: skip
    delete: list[str] = field(
        default_factory=list, label="Delete", help="Paths of files to delete in the same commit.", advanced=True
    )
    start: str = field(
        default="", label="New branch starts at", help="Branch, tag or commit; empty is the default branch.",
        max_length=200, advanced=True,
    )  # fmt: skip
    author: str = field(
        default="Headgate <headgate@localhost>",
        label="Author",
        help="Name and address, such as Ann <ann@example.org>.",
        max_length=300,
        advanced=True,
    )
    timeout_seconds: float = field(
        default=120, label="Time limit", help="Maximum time in seconds.", ge=1, le=600, advanced=True
    )

    @output(help="commit, branch, changed, files, deleted and url.")
    async def data(self) -> Data:
        """Commit the files. A later attempt at an interrupted step finds the commit of the earlier one."""
        paths, deleted = self._paths(), [self._path(path, "delete") for path in self.delete]
        if not paths and not deleted:
            raise ComponentError("CommitFiles: there is nothing to commit.", remedy="Connect files.", field="files")
        if not _AUTHOR.fullmatch(self.author):
            raise ComponentError("CommitFiles: the author is not written as 'Name <address>'.", field="author")
        connection = await self.ctx.connection(self.server)
        self.ctx.check_effect(host_of(connection), [self.repository, self.branch, *paths, *deleted])
        key = self.ctx.idempotency_key()
        listed = {path: file.id for path, file in zip(paths, self.files, strict=True)}
        request: dict[str, JsonValue] = {
            "server": connection.name,
            "repository": self.repository,
            "branch": self.branch,
            "files": cast("JsonValue", listed),
            "deleted": cast("JsonValue", deleted),
        }

        async def commit() -> JsonValue:
            await self.ctx.check_cancelled()
            contents = {path: await self.ctx.files.read(file) for path, file in zip(paths, self.files, strict=True)}
            details = Contents(
                self.branch.strip(), self.start.strip(), contents, deleted, self.message, self.author, key,
                datetime.now(UTC),
            )  # fmt: skip
            async with opened_repository(
                connection, self.repository, seconds=self.timeout_seconds, subject="CommitFiles"
            ) as opened:
                committed = await opened.call(lambda repository: repository.commit(details))
            self.ctx.log("The files were committed.", commit=committed.commit, branch=committed.branch)
            return self._described(connection, committed, paths, deleted)

        return (await self.ctx.once(CallRequest.of("value", "CommitFiles", request), commit)).value

    def _described(
        self, connection: Connection, committed: Committed, paths: list[str], deleted: list[str]
    ) -> dict[str, JsonValue]:
        address = address_of(connection, self.repository, subject="CommitFiles").removesuffix(".git")
        path = _COMMIT_PATHS.get(connection.text("service", "other"))
        return {
            "commit": committed.commit,
            "branch": committed.branch,
            "changed": committed.changed,
            "files": cast("JsonValue", paths),
            "deleted": cast("JsonValue", deleted),
            "url": f"{address}/{path}/{committed.commit}" if path else "",
        }

    def _paths(self) -> list[str]:
        if len(self.files) > MOST_FILES or sum(file.size for file in self.files) > MOST_BYTES:
            raise ComponentError(f"CommitFiles: more than {MOST_FILES} files or {MOST_BYTES} bytes.", field="files")
        if self.name and len(self.files) > 1:
            raise ComponentError("CommitFiles: one name for several files.", remedy="Remove the name.", field="name")
        names = [self.name or safe_name(file.name, default="file") for file in self.files]
        paths = [self._path(f"{self.folder}/{name}", "name" if self.name else "folder") for name in names]
        repeated = next((path for position, path in enumerate(paths) if path in paths[:position]), None)
        if repeated is not None:
            raise ComponentError(
                f"CommitFiles: two files have the path '{clipped(repeated, 80)}'.",
                remedy="Give each file its own name.",
                field="files",
            )
        return paths

    def _path(self, path: str, name: str) -> str:
        cleaned = clean_path(path, subject="CommitFiles", field=name)
        if not cleaned or not all(is_allowed(part) for part in cleaned.split("/")):
            raise ComponentError(
                f"CommitFiles: '{clipped(path, 80)}' is not a path that can be committed.",
                remedy="Write a relative path such as docs/index.md, outside of .git.",
                field=name,
            )
        return cleaned


class OpenChange(Component):
    """Opens a change (pull request, merge request) at GitHub, GitLab, Gitea or Forgejo.

    An open change of the same branches is returned instead of a second one.
    """

    label = "Open a change"
    category = "data"
    icon = "git-pull-request"
    effect = True
    outside = True
    keywords = (*GIT_KEYWORDS, "pull request", "merge request", "pr", "mr", "review", "propose")

    server: ConnectionReference = field(label="Git server", help=SERVER_HELP, connection_kinds=GIT_KINDS)
    repository: str = field(label="Repository", help="Such as owner/name.", max_length=300)
    branch: str = field(label="Branch", help="The branch with the commits.", main=True, max_length=200)
    target: str = field(default="main", label="Into", help="The branch that the change is for.", max_length=200)
    title: str = field(label="Title", help="One line.", max_length=250)
    description: str = field(default="", label="Description", help="In Markdown.", max_length=50_000)
    draft: bool = field(default=False, label="Draft", help="Opens it as a draft.", port=False)
    timeout_seconds: float = field(
        default=60, label="Time limit", help="Of each request, in seconds.", ge=1, le=600, advanced=True
    )

    @output(help="number, url, title, state and created: false for one that was open already.")
    async def data(self) -> Data:
        """Open the change. A later attempt at an interrupted step finds the change of the earlier one."""
        for name, value in (("branch", self.branch), ("target", self.target)):
            if not is_branch(value.strip()):
                raise ComponentError(f"OpenChange: '{clipped(value, 80)}' cannot be the name of a branch.", field=name)
        connection = await self.ctx.connection(self.server)
        branch, target, title = self.branch.strip(), self.target.strip(), " ".join(self.title.split())
        self.ctx.check_effect(host_of(connection), [self.repository, branch, target])
        digest = hashlib.sha256(self.ctx.idempotency_key().encode()).hexdigest()[:32]
        details = ChangeRequest(branch, target, title, self.description, self.draft, f"<!-- headgate: {digest} -->")

        async def open_() -> JsonValue:
            await self.ctx.check_cancelled()
            change = await open_change(connection, self.repository, details, seconds=self.timeout_seconds)
            self.ctx.log("The change is open.", url=change["url"], created=change["created"])
            return change

        request = {"server": connection.name, "repository": self.repository, "branch": branch, "target": target}
        return (await self.ctx.once(CallRequest.of("value", "OpenChange", request), open_)).value


def host_of(connection: Connection) -> str:
    """Return the host of the server, for the rules of effects."""
    return urlsplit(connection.text("url")).hostname or connection.name
