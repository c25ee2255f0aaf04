"""A repository that is open for one step: files, history and differences of commits; a commit to a branch. Blocking."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from difflib import unified_diff
from itertools import islice
from typing import Protocol

from headgate.components.git.packs import BLOB, COMMIT, TAG, BadPack, GitObject
from headgate.components.git.trees import Commit, Listing, NotInTree, changed_tree, commit_of, files_of
from headgate.graph.names import clipped
from headgate.sdk import ComponentError

CONTENTS_AT_ONCE = 500
"""Contents that one request names."""
LOOKED_BACK = 100
"""Commits of a branch that are searched for the one of an earlier attempt."""
MOST_ATTEMPTS = 4
MOST_DIFF_CHARACTERS = 500_000
MOST_COMPARED = 40_000_000
"""Pairs of lines of all files together, to be compared line by line: hostile files take quadratic time."""
KEY = "Headgate-Key"
"""Trailer of a commit that names the step that made it."""
_COMMIT_ID = re.compile(r"[0-9a-f]{40}")
_NO_BRANCH = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|//|@\{|^[-/.@]|[/.]$|/\.|\.lock(/|$)")
"""What the name of a branch has nowhere; see git-check-ref-format."""


class RepositoryMissing(Exception):
    """The server has no such repository, or hides it."""


class RepositoryRefused(Exception):
    """The server refused user and token."""


class BranchMoved(Exception):
    """Somebody else has committed to the branch meanwhile."""


@dataclass(frozen=True, slots=True)
class Refs:
    """The branches and tags of a repository."""

    ids: Mapping[str, str]
    head: str
    """Name of the default branch: `refs/heads/main`; empty: the server does not say."""


class Wire(Protocol):
    """The protocol to a repository; see `wire`."""

    def refs(self) -> Refs:
        """Return the branches and tags."""

    def fetch(self, wants: Sequence[str], *, depth: int | None, leave: str) -> dict[str, GitObject]:
        """Return objects, and what they refer to, by id."""

    def push(self, branch: str, old: str, new: str, objects: Iterable[GitObject]) -> str:
        """Set a branch from one commit to another; return why not, or nothing."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The files of a commit that match a pattern."""

    commit: Commit
    listing: Listing


@dataclass(frozen=True, slots=True)
class Change:
    """A file that differs between two commits."""

    path: str
    change: str
    """added, changed or deleted"""
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class Committed:
    """The result of a commit."""

    commit: str
    branch: str
    changed: bool
    """Whether there was anything to commit."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What to commit."""

    branch: str
    start: str
    """The branch, tag or commit that a new branch begins at; empty: the default branch."""
    files: Mapping[str, bytes]
    deleted: Sequence[str]
    message: str
    author: str
    """Name and address: `Ann <ann@example.org>`."""
    key: str
    """The same in each attempt at the step."""
    at: datetime


@dataclass(slots=True)
class Repository:
    """Reads and commits over a wire. Raises `ComponentError`, `BadPack`, and what the wire raises.

    Args:
        wire: The protocol.
        subject: The component, for errors.
    """

    wire: Wire
    subject: str
    objects: dict[str, GitObject] = field(default_factory=dict)

    def snapshot(self, ref: str, pattern: str = "**") -> Snapshot:
        """Return the files of a branch, tag or commit that match, without their contents."""
        commit = self._trees(self._resolved(ref))
        return Snapshot(commit, files_of(self.objects, commit.tree, pattern))

    def contents(self, ids: Sequence[str]) -> dict[str, bytes]:
        """Return contents of files by their ids."""
        missing = iter([id_ for id_ in dict.fromkeys(ids) if id_ not in self.objects])
        while some := list(islice(missing, CONTENTS_AT_ONCE)):
            self.objects |= self.wire.fetch(some, depth=None, leave="")
        return {id_: self._content(id_) for id_ in ids}

    def history(self, ref: str, since: str, most: int) -> list[Commit]:
        """Return the newest commits of `ref` that `since` does not have, the newest first."""
        refs = self.wire.refs()
        start, end = self._resolved(ref, refs), self._resolved(since, refs) if since else ""
        self.objects |= self.wire.fetch([start, *([end] if end else [])], depth=most, leave="tree:0")
        known = self._reachable(self._peeled(end)) if end else {}
        commits = [commit for id_, commit in self._reachable(self._peeled(start)).items() if id_ not in known]
        return sorted(commits, key=lambda commit: commit.at, reverse=True)[:most]

    def changes(self, ref: str, since: str) -> list[Change]:
        """Return the files that differ from `since`, or from the commit before `ref` when it is empty, by path."""
        refs = self.wire.refs()
        new = self._trees(self._resolved(ref, refs))
        before = self._resolved(since, refs) if since else next(iter(new.parents), "")
        after = {file.path: file.id for file in files_of(self.objects, new.tree).files}
        old: dict[str, str] = {}
        if before:
            old = {file.path: file.id for file in files_of(self.objects, self._trees(before).tree).files}
        words = {(False, True): "added", (True, False): "deleted", (True, True): "changed"}
        return [
            Change(path, words[path in old, path in after], old.get(path), after.get(path))
            for path in sorted(old.keys() | after.keys())
            if old.get(path) != after.get(path)
        ]

    def diff(self, changes: Sequence[Change]) -> str:
        """Return a unified diff, to the limit of characters."""
        ids = [id_ for change in changes for id_ in (change.old, change.new) if id_]
        contents = self.contents(ids)
        pieces, left, pairs = list[str](), MOST_DIFF_CHARACTERS, MOST_COMPARED
        for change in changes:
            piece, compared = _diff(change, contents, pairs // 4)
            pairs -= compared
            if len(piece) > left:
                pieces.append(f"# {len(changes):,} files differ; the rest of the differences is too long.\n")
                break
            left -= len(piece)
            pieces.append(piece)
        return "".join(pieces)

    def commit(self, request: Contents) -> Committed:
        """Commit files to a branch, which is created when it does not exist.

        An earlier attempt at the same step is item by its key. When somebody else has committed meanwhile, the files
        are committed on top of that; nothing is ever forced.
        """
        if not is_branch(request.branch):
            raise ComponentError(
                f"{self.subject}: '{clipped(request.branch, 80)}' cannot be the name of a branch.", field="branch"
            )
        for _ in range(MOST_ATTEMPTS):
            try:
                return self._committed(request)
            except BranchMoved:
                continue
        raise ComponentError(
            f"{self.subject}: others committed to the branch '{request.branch}' {MOST_ATTEMPTS} times meanwhile.",
            remedy="Try again later, or commit to another branch.",
        )

    def _committed(self, request: Contents) -> Committed:
        refs = self.wire.refs()
        old = refs.ids.get(f"refs/heads/{request.branch}", "")
        start = old or (self._resolved(request.start, refs) if request.start or refs.ids else "")
        earlier = self._earlier(old, request.key) if old else None
        if earlier is not None:
            return Committed(earlier, request.branch, changed=True)
        parent = self._trees(start) if start else None
        blobs = {path: GitObject(BLOB, content) for path, content in request.files.items()}
        paths = {tuple(path.split("/")): blob.id for path, blob in blobs.items()}
        removed = dict.fromkeys((tuple(path.split("/")) for path in request.deleted), None)
        made = {blob.id: blob for blob in blobs.values()}
        try:
            tree = changed_tree(self.objects, parent.tree if parent else None, {**removed, **paths}, made)
        except NotInTree as error:
            raise ComponentError(
                f"{self.subject}: the branch '{request.branch}' cannot be changed: {error}.", remedy="Correct the path."
            ) from error
        if tree is None:
            raise ComponentError(f"{self.subject}: the commit would delete every file.", remedy="Keep one.")
        if parent is not None and tree == parent.tree and old:
            return Committed(parent.id, request.branch, changed=False)
        commit = _commit(request, tree, parent)
        made[commit.id] = commit
        problem = self.wire.push(request.branch, old, commit.id, made.values())
        if problem:
            if self.wire.refs().ids.get(f"refs/heads/{request.branch}", "") != old:
                raise BranchMoved
            raise ComponentError(
                f"{self.subject}: the server refused the commit to '{request.branch}': {clipped(problem, 200)}.",
                remedy="The branch may be protected: commit to another branch, and open a change.",
            )
        return Committed(commit.id, request.branch, changed=True)

    def _earlier(self, head: str, key: str) -> str | None:
        """Return the commit of an earlier attempt at the step."""
        self.objects |= self.wire.fetch([head], depth=LOOKED_BACK, leave="tree:0")
        line = f"{KEY}: {key}"
        commits = self._reachable(head).items()
        return next((id_ for id_, commit in commits if line in commit.message.splitlines()), None)

    def _resolved(self, ref: str, refs: Refs | None = None) -> str:
        refs = refs or self.wire.refs()
        names = (f"refs/heads/{ref}", f"refs/tags/{ref}") if ref else ("HEAD", refs.head)
        id_ = next((refs.ids[name] for name in names if name in refs.ids), None)
        if id_ is not None:
            return id_
        if _COMMIT_ID.fullmatch(ref):
            return ref
        what = f"no branch or tag '{clipped(ref, 80)}'" if ref else "no commit in its default branch"
        raise ComponentError(
            f"{self.subject}: the repository has {what}.",
            remedy="Check the name; a commit is named with all 40 digits of its id.",
            field="ref",
        )

    def _trees(self, id_: str) -> Commit:
        """Return a commit, with its trees read."""
        self.objects |= self.wire.fetch([id_], depth=1, leave="blob:none")
        return commit_of(self.objects, self._peeled(id_))

    def _peeled(self, id_: str) -> str:
        """Return the commit that a tag names."""
        for _ in range(5):
            item = self.objects.get(id_)
            if item is None or item.kind != TAG:
                break
            id_ = item.content.partition(b"\n")[0].removeprefix(b"object ").decode("ascii", "replace")
        return id_

    def _reachable(self, start: str) -> dict[str, Commit]:
        """Return a commit and those before it, as far as they were sent."""
        commits: dict[str, Commit] = {}
        pending = [start]
        while pending:
            id_ = pending.pop()
            item = self.objects.get(id_)
            if id_ in commits or (item is None and commits):
                continue
            commits[id_] = commit_of(self.objects, id_)
            pending += commits[id_].parents
        return commits

    def _content(self, id_: str) -> bytes:
        item = self.objects.get(id_)
        if item is None or item.kind != BLOB:
            raise BadPack(f"the server did not send the file {id_}")
        return item.content


def is_branch(name: str) -> bool:
    """Return whether Git allows the name of a branch."""
    return 0 < len(name) <= 200 and _NO_BRANCH.search(name) is None


def _commit(request: Contents, tree: str, parent: Commit | None) -> GitObject:
    person = f"{request.author} {int(request.at.timestamp())} +0000"
    head = [f"tree {tree}", *([f"parent {parent.id}"] if parent else []), f"author {person}", f"committer {person}"]
    text = "\n".join([*head, "", request.message.strip(), "", f"{KEY}: {request.key}", ""])
    return GitObject(COMMIT, text.replace("\0", "").encode("utf-8", "replace"))


def _diff(change: Change, contents: Mapping[str, bytes], most: int) -> tuple[str, int]:
    """Return the differences of a file, and how many pairs of lines were compared, at most `most`."""
    names = (f"a/{change.path}" if change.old else "/dev/null", f"b/{change.path}" if change.new else "/dev/null")
    sides = [contents[id_] if id_ else b"" for id_ in (change.old, change.new)]
    before, after = (side.decode("utf-8", "replace").splitlines() for side in sides)
    pairs = len(before) * len(after)
    if any(b"\0" in side for side in sides) or pairs > most:
        return f"--- {names[0]}\n+++ {names[1]}\n# {change.change}; not compared line by line.\n", 0
    return "".join(f"{line}\n" for line in unified_diff(before, after, *names, lineterm="")), pairs
