"""Trees and commits of a repository: files by pattern, differences, changed trees. Pure.

Everything in them is untrusted. Names that could lead elsewhere, symbolic links and
submodules are never files; trees that repeat one another are walked to a limit only.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

from headgate.components.git.packs import COMMIT, TREE, BadPack, GitObject
from headgate.components.storage.paths import is_name
from headgate.foundation.glob import Glob

Objects = Mapping[str, GitObject]
MOST_ENTRIES = 100_000
"""Entries of trees that one listing reads."""
MOST_FOLDERS = 100
"""How deep folders are."""
FOLDER_MODE: Final = 0o40000
LINK_MODE: Final = 0o120000
MODULE_MODE: Final = 0o160000
FILE_MODES: Final = frozenset({0o100644, 0o100664, 0o100755})
_INVISIBLE = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_PERSON = re.compile(r"([^<]*)<([^>]*)> ?(\d{1,12})? ?([+-]\d{4})?")
LFS = b"version https://git-lfs.github.com/spec/"
"""How the file begins that a repository has instead of one that is in Git LFS."""


class NotInTree(ValueError):
    """A path that cannot be changed, with the reason."""


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """What a folder has under a name."""

    mode: int
    id: str


@dataclass(frozen=True, slots=True)
class RepositoryFile:
    """A file of a commit."""

    path: str
    id: str
    """Of its content."""


@dataclass(slots=True)
class Listing:
    """The files of a commit that match, by path."""

    files: list[RepositoryFile] = field(default_factory=list)
    links: int = 0
    modules: int = 0
    refused: int = 0
    """Entries whose name could lead elsewhere."""

    def omitted(self) -> str:
        """Return what was omitted, as a sentence; empty: nothing."""
        counts = (
            (self.links, "symbolic links"),
            (self.modules, "submodules"),
            (self.refused, "entries with a name that is not allowed"),
        )
        parts = [f"{count:,} {name}" for count, name in counts if count]
        return f"Not read: {', '.join(parts)}." if parts else ""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit."""

    id: str
    tree: str
    parents: tuple[str, ...]
    author: str
    email: str
    at: datetime
    message: str

    @property
    def subject(self) -> str:
        """Return the first line of its message."""
        return self.message.strip().partition("\n")[0].strip()


def is_allowed(name: str) -> bool:
    """Return whether a name of a tree names a file or folder, and never Git's own on any system."""
    plain = _INVISIBLE.sub("", name).rstrip(". ").lower()
    return is_name(name) and name.isprintable() and plain not in {".git", "git~1"} and not plain.startswith(".git:")


def commit_of(objects: Objects, id_: str) -> Commit:
    """Return a commit. Raises `BadPack` when it is missing or damaged."""
    content = _object(objects, id_, COMMIT)
    head, _, message = content.partition(b"\n\n")
    fields = [line.partition(b" ")[::2] for line in head.split(b"\n") if not line.startswith(b" ")]
    values = {name: value.decode("utf-8", "replace") for name, value in fields}
    parents = tuple(value.decode("ascii", "replace") for name, value in fields if name == b"parent")
    person = _PERSON.fullmatch(values.get(b"author", "").strip())
    if person is None:
        raise BadPack(f"the commit {id_} is damaged")
    name, email, seconds, zone = person.groups()
    text = message.decode("utf-8", "replace")
    return Commit(id_, values.get(b"tree", ""), parents, name.strip(), email, _time(seconds, zone), text)


def files_of(objects: Objects, tree: str, pattern: str = "**") -> Listing:
    """Return the files of a tree whose path matches. Raises `BadPack`, also above the limits."""
    parts = [part for part in pattern.strip("/").split("/") if part not in {"", "."}] or ["**"]
    glob = Glob(parts)
    listing, left = Listing(), MOST_ENTRIES
    pending = [("", tree, glob.start, 0)]
    while pending:
        folder, id_, states, depth = pending.pop()
        for name, entry in entries_of(objects, id_):
            left -= 1
            if left < 0 or depth > MOST_FOLDERS:
                raise BadPack(f"it has more than {MOST_ENTRIES:,} entries, or more than {MOST_FOLDERS} folders deep")
            after = glob.step(states, name)
            if not after:
                continue
            if not is_allowed(name):
                listing.refused += 1
            elif entry.mode == FOLDER_MODE:
                pending.append((f"{folder}{name}/", entry.id, after, depth + 1))
            elif glob.accepts(after):
                _add(listing, f"{folder}{name}", entry)
    listing.files.sort(key=lambda file: file.path)
    return listing


def entries_of(objects: Objects, tree: str) -> Iterator[tuple[str, TreeEntry]]:
    """Yield the names and entries of a tree. Raises `BadPack`."""
    content, at = _object(objects, tree, TREE), 0
    while at < len(content):
        space = content.find(b" ", at, at + 8)
        end = content.find(b"\0", at)
        if not at < space < end or end + 21 > len(content):
            raise BadPack("a folder is damaged")
        mode = content[at:space]
        if not mode.isdigit() or not set(mode) <= set(b"01234567"):
            raise BadPack("a folder is damaged")
        name = content[space + 1 : end].decode("utf-8", "surrogateescape")
        yield name, TreeEntry(int(mode, 8), content[end + 1 : end + 21].hex())
        at = end + 21


def changed_tree(
    objects: Objects, tree: str | None, changes: Mapping[tuple[str, ...], str | None], made: dict[str, GitObject]
) -> str | None:
    """Return the id of a tree with changed files; None when it is empty. Its new trees are added to `made`.

    Args:
        objects: The trees that exist.
        tree: The tree to change; None: a new one.
        changes: Ids of new contents by the parts of their path; None deletes the file.
        made: The new trees, by id.

    Raises:
        NotInTree: A path leads through a file, link or submodule, or a deleted file does not exist.
    """
    entries = dict(entries_of(objects, tree)) if tree else {}
    below: dict[str, dict[tuple[str, ...], str | None]] = {}
    for (name, *rest), id_ in changes.items():
        if rest:
            below.setdefault(name, {})[tuple(rest)] = id_
            continue
        entry = entries.get(name)
        if entry is not None and entry.mode not in FILE_MODES:
            raise NotInTree(f"'{name}' is a folder, symbolic link or submodule")
        if id_ is not None:
            entries[name] = TreeEntry(entry.mode if entry else 0o100644, id_)
        elif entries.pop(name, None) is None:
            raise NotInTree(f"there is no file '{name}' to delete")
    for name, inner in below.items():
        entry = entries.get(name)
        if entry is not None and entry.mode != FOLDER_MODE:
            raise NotInTree(f"'{name}' is no folder")
        changed = changed_tree(objects, entry.id if entry else None, inner, made)
        if changed is None:
            del entries[name]
        else:
            entries[name] = TreeEntry(FOLDER_MODE, changed)
    return _stored(entries, made)


def _stored(entries: Mapping[str, TreeEntry], made: dict[str, GitObject]) -> str | None:
    if not entries:
        return None
    named = [(name.encode("utf-8", "surrogateescape"), entry) for name, entry in entries.items()]
    named.sort(key=lambda item: item[0] + b"/" if item[1].mode == FOLDER_MODE else item[0])
    content = b"".join(b"%o %s\0%s" % (entry.mode, name, bytes.fromhex(entry.id)) for name, entry in named)
    stored = GitObject(TREE, content)
    made[stored.id] = stored
    return stored.id


def _add(listing: Listing, path: str, entry: TreeEntry) -> None:
    if entry.mode in FILE_MODES:
        listing.files.append(RepositoryFile(path, entry.id))
    elif entry.mode == LINK_MODE:
        listing.links += 1
    elif entry.mode == MODULE_MODE:
        listing.modules += 1
    else:
        listing.refused += 1


def _object(objects: Objects, id_: str, kind: int) -> bytes:
    item = objects.get(id_)
    if item is None or item.kind != kind:
        raise BadPack(f"the server did not send the object {id_[:40]}")
    return item.content


def _time(seconds: str | None, zone: str | None) -> datetime:
    zone = zone or "+0000"
    offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[3:])) * (-1 if zone[0] == "-" else 1)
    known = abs(offset) < timedelta(hours=24)
    try:
        return datetime.fromtimestamp(int(seconds or 0), timezone(offset) if known else UTC)
    except (OverflowError, ValueError, OSError):
        return datetime.fromtimestamp(0, UTC)
