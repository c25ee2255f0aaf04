"""`read_file`, `write_file` and `edit_file` on an open workspace, with the results of seed 003."""

from collections.abc import Sequence

from pydantic import JsonValue

from headgate.features.workspace.errors import BadArgument, EditNotPossible, NotATextFile, WorkspaceFileTooLarge
from headgate.features.workspace.folder import workspace_errors
from headgate.features.workspace.names import path_parts
from headgate.features.workspace.root import MAX_FILE_BYTES, Root

LOOKED_AT_BYTES = 8 * 1024
"""Number of bytes that are checked to detect binary content."""

Answer = dict[str, JsonValue]


def is_binary(content: bytes) -> bool:
    """Return whether a content is binary: it has a zero byte near its beginning."""
    return b"\0" in content[:LOOKED_AT_BYTES]


def file_parts(path: str) -> Sequence[str]:
    """Return the names in a path to a file. Raises like `path_parts`, `NotATextFile` for the workspace itself."""
    parts = path_parts(path)
    if not parts:
        raise NotATextFile(f"Path is a folder: {path or '.'}", remedy="Give the path of a file in it.")
    return parts


def read_bytes(root: Root, path: str) -> bytes:
    """A file's content. Raises `WorkspaceFileNotFound`, `WorkspaceFileTooLarge`, `NotATextFile`, `PathEscapes`."""
    *folders, name = file_parts(path)
    with workspace_errors(path), root.folder.below(folders) as folder:
        return folder.read(name, MAX_FILE_BYTES)


def write_bytes(root: Root, path: str, content: bytes) -> bool:
    """Write a file with its missing folders; the caller holds the lock. Return whether it is new."""
    parts = file_parts(path)
    with workspace_errors(path):
        return root.write(parts, content)


def read_file(root: Root, path: str, *, offset: int | None = None, limit: int | None = None) -> Answer:
    """Return lines of a text file, each with its number."""
    if (offset is not None and offset < 1) or (limit is not None and limit < 1):
        raise BadArgument("offset and limit count from 1")
    content = read_bytes(root, path)
    if is_binary(content):
        raise NotATextFile(f"Refusing to read binary file: {path}")
    lines = content.decode(errors="replace").split("\n")
    if lines[-1] == "":
        lines.pop()
    start = offset or 1
    excerpt = lines[start - 1 :][:limit]
    return {
        "status": "ok",
        "path": path,
        "content": "\n".join(f"{number:>6}→{line}" for number, line in enumerate(excerpt, start)),
        "total_lines": len(lines),
        "start_line": start,
        "num_lines": len(excerpt),
    }


def write_file(root: Root, path: str, content: str) -> Answer:
    """Write a complete text file."""
    encoded = _encoded(content, "content")
    with root.locked():
        created = write_bytes(root, path, encoded)
    return {"status": "created" if created else "updated", "path": path, "bytes_written": len(encoded)}


def edit_file(root: Root, path: str, old_string: str, new_string: str, *, replace_all: bool = False) -> Answer:
    """Replace one text by another."""
    if not old_string:
        raise EditNotPossible("old_string is empty; use write_file to write a complete file")
    if old_string == new_string:
        raise EditNotPossible("old_string and new_string are identical")
    old, new = _encoded(old_string, "old_string"), _encoded(new_string, "new_string")
    with root.locked():
        content = read_bytes(root, path)
        _require_text(content, path)
        count = content.count(old)
        if count == 0:
            raise EditNotPossible(f"old_string not found in {path}; read the file and copy the text exactly")
        if count > 1 and not replace_all:
            raise EditNotPossible(
                f"old_string appears {count} times in {path}; include more of the surrounding text, or set replace_all"
            )
        projected = len(content) + count * (len(new) - len(old))
        if projected > MAX_FILE_BYTES:
            raise WorkspaceFileTooLarge(projected, MAX_FILE_BYTES)
        write_bytes(root, path, content.replace(old, new))
    return {
        "status": "ok",
        "path": path,
        "replacements": count,
        "old_string": old_string,
        "new_string": new_string,
    }


def _encoded(text: str, label: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise NotATextFile(f"{label} is not valid Unicode text: it has half of a character at {error.start}") from error


def _require_text(content: bytes, path: str) -> None:
    """Raise `NotATextFile` for a file that is not UTF-8, which an edit would damage."""
    refused = NotATextFile(f"Refusing to edit binary file: {path}")
    if is_binary(content):
        raise refused
    try:
        content.decode()
    except UnicodeDecodeError as error:
        raise refused from error
