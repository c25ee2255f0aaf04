"""`glob_search` and `grep_search`: a walk below a folder, limited in files, time and results."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, get_args

from pydantic import JsonValue

from headgate.features.workspace.errors import BadArgument, PatternRefused
from headgate.features.workspace.folder import Folder, workspace_errors
from headgate.features.workspace.names import MAX_DEPTH, is_possible, path_parts, pattern_parts
from headgate.features.workspace.regex import Finder, finder
from headgate.features.workspace.root import MAX_FILE_BYTES, Root
from headgate.features.workspace.text import is_binary
from headgate.foundation.errors import HeadgateError
from headgate.foundation.glob import Glob
from headgate.foundation.quoting import shortened

MOST_MATCHES = 1_000
MOST_LINES = 200
LONGEST_LINE = 500
"""Maximum characters of a displayed line."""
MOST_ENTRIES = 20_000
SEARCH_SECONDS = 5.0

OutputMode = Literal["files_with_matches", "content", "count"]
Answer = dict[str, JsonValue]


@dataclass(slots=True)
class Budget:
    """Limits of one search."""

    entries: int = MOST_ENTRIES
    seconds: float = SEARCH_SECONDS
    clock: Callable[[], float] = time.monotonic
    _until: float = field(init=False)

    def __post_init__(self) -> None:
        self._until = self.clock() + self.seconds

    def spend(self) -> bool:
        """Count one entry; False when the search must end."""
        self.entries -= 1
        return self.entries >= 0 and self.clock() < self._until

    @property
    def over(self) -> bool:
        """Return whether the time is up."""
        return self.clock() >= self._until


@dataclass(frozen=True, slots=True)
class Found:
    """A file found by a walk."""

    folder: Folder
    name: str
    path: str
    size: int


class Walk:
    """Files below a folder whose path matches a glob, by name. Links, special files and reserved names are skipped."""

    def __init__(self, glob: Glob, budget: Budget) -> None:
        self._glob = glob
        self._budget = budget
        self.truncated_branches: list[str] = []
        """Folders that were not looked through: too deep, not readable, or the search had to end there."""

    def files(self, folder: Folder, prefix: tuple[str, ...]) -> Iterator[Found]:
        """Yield the files, each with its folder, which is only open until the next one is requested."""
        yield from self._below(folder, prefix, self._glob.start, 0)

    def _below(self, folder: Folder, prefix: tuple[str, ...], states: frozenset[int], depth: int) -> Iterator[Found]:
        for entry in folder.entries():
            if not is_possible(entry.name):
                continue
            path = (*prefix, entry.name)
            if not self._budget.spend():
                self._cut("/".join(prefix) or ".")
                return
            following = self._glob.step(states, entry.name)
            if not entry.is_folder:
                if self._glob.accepts(following):
                    yield Found(folder, entry.name, "/".join(path), entry.size)
            elif following and depth >= MAX_DEPTH:
                self._cut("/".join(path))
            elif following:
                yield from self._into(folder, path, following, depth)

    def _into(self, folder: Folder, path: tuple[str, ...], states: frozenset[int], depth: int) -> Iterator[Found]:
        try:
            child = folder.child(path[-1])
        except FileNotFoundError:
            return
        except OSError:
            self._cut("/".join(path))
            return
        with child:
            yield from self._below(child, path, states, depth + 1)

    def _cut(self, path: str) -> None:
        if path not in self.truncated_branches:
            self.truncated_branches.append(path)


def glob_search(root: Root, pattern: str, path: str = "", *, budget: Budget | None = None) -> Answer:
    """Files whose path matches. Raises `PatternRefused`, `PathEscapes`, `PathReserved`, `WorkspaceFileNotFound`."""
    parts = pattern_parts(pattern)
    if not parts:
        raise PatternRefused("The pattern is empty")
    where = path_parts(path)
    walk = Walk(Glob(parts), budget or Budget())
    matches: list[JsonValue] = []
    with workspace_errors(path or ".", "Folder"), root.folder.below(where) as folder:
        truncated = False
        for file in walk.files(folder, where):
            if len(matches) >= MOST_MATCHES:
                truncated = True
                break
            matches.append(file.path)
    branches: list[JsonValue] = list(walk.truncated_branches)
    return {
        "status": "ok",
        "pattern": pattern,
        "matches": matches,
        "truncated": truncated or bool(branches),
        "truncated_branches": branches,
    }


def grep_search(
    root: Root,
    pattern: str,
    path: str = "",
    *,
    glob: str = "",
    case_insensitive: bool = False,
    output_mode: str = "files_with_matches",
    is_regex: bool = False,
    budget: Budget | None = None,
) -> Answer:
    """Return lines that match. Raises like `glob_search`, and `BadArgument` for an invalid output mode."""
    if output_mode not in get_args(OutputMode):
        raise BadArgument(f"output_mode must be one of {', '.join(get_args(OutputMode))}")
    look = _Search(
        finder(pattern, case_insensitive=case_insensitive, is_regex=is_regex), output_mode, budget or Budget()
    )
    parts, patterns = path_parts(path), pattern_parts(glob) or ("**",)
    walk = Walk(Glob(patterns if "/" in glob else ("**", *patterns)), look.budget)
    with workspace_errors(path or "."):
        look.through(_files(root, parts, walk))
    return {
        "status": "ok",
        "pattern": pattern,
        "output_mode": output_mode,
        "matches": look.matches,
        "truncated": look.truncated or bool(walk.truncated_branches),
    }


@dataclass(slots=True)
class _Search:
    """The results of a search so far."""

    has: Finder
    mode: str
    budget: Budget
    matches: list[JsonValue] = field(default_factory=list)
    truncated: bool = False

    def through(self, files: Iterator[Found]) -> None:
        """Search files until there are enough matches or the time is up."""
        for file in files:
            if self.budget.over or len(self.matches) >= (MOST_LINES if self.mode == "content" else MOST_MATCHES):
                self.truncated = True
                return
            with suppress(OSError, HeadgateError):  # removed in the meantime, too large, or not accessible
                self._file(file)

    def _file(self, file: Found) -> None:
        content = file.folder.read(file.name, MAX_FILE_BYTES)
        if is_binary(content):
            return
        count = 0
        for number, line in enumerate(content.decode(errors="replace").split("\n"), start=1):
            if number % 1024 == 0 and self.budget.over:
                self.truncated = True
                break
            if not self.has(line):
                continue
            count += 1
            if self.mode == "files_with_matches":
                break
            if self.mode == "content" and not self._keep(file.path, number, line):
                return
        if count and self.mode == "files_with_matches":
            self.matches.append(file.path)
        elif count and self.mode == "count":
            self.matches.append({"path": file.path, "count": count})

    def _keep(self, path: str, number: int, line: str) -> bool:
        if len(self.matches) >= MOST_LINES:
            self.truncated = True
            return False
        self.matches.append({"path": path, "line": number, "text": shortened(line.rstrip("\r"), LONGEST_LINE)})
        return True


def _files(root: Root, parts: tuple[str, ...], walk: Walk) -> Iterator[Found]:
    """Yield the files below a folder; for the path of a file, only that one."""
    if parts:
        with root.folder.below(parts[:-1]) as parent:
            size = parent.file_size(parts[-1])
            if size is not None:
                yield Found(parent, parts[-1], "/".join(parts), size)
                return
    with root.folder.below(parts) as folder:
        yield from walk.files(folder, parts)
