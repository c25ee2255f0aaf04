"""Components that a user's agent created, stored in the workspace where no file tool has access (seed 000).

One file `<ClassName>.py` each in `.components`. Only `register_component` writes there.
"""

import ast
import hashlib
import re
from dataclasses import replace

from headgate.features.workspace.errors import UserComponentError
from headgate.features.workspace.folder import Folder
from headgate.features.workspace.names import is_device
from headgate.features.workspace.root import Root
from headgate.features.workspace.user_workspace import UserWorkspace
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import get_logger

COMPONENTS = ".components"
ENDING = ".py"
MAX_CLASS_NAME_LENGTH = 64
"""Keeps the path within Windows' 260 characters."""
MAX_COMPONENT_SOURCE_BYTES = 1024 * 1024
CLASS_NAME = re.compile(r"[A-Z][A-Za-z0-9]*", re.ASCII)
_MOST_REMEMBERED = 10_000
_well_formed: set[bytes] = set()
"""SHA-256 of parsed sources: each request reads all of them, and parsing takes far longer than reading."""

logger = get_logger(__name__)


async def register_component(workspace: UserWorkspace, class_name: str, code: str) -> None:
    """Store a component's source, replacing an earlier one with that name.

    Raises:
        UserComponentError: The name or the source is invalid, no user is signed in, or the disk failed; an earlier
            component stays unchanged.
    """
    _require_class_name(class_name)
    content = _encoded(class_name, code)
    try:
        await workspace.binding.run(lambda root: _write(root, class_name, content))
    except (OSError, HeadgateError) as error:
        reason = error.detail if isinstance(error, HeadgateError) else (error.strerror or type(error).__name__)
        raise UserComponentError(f"The component '{class_name}' was not stored: {reason}") from error


async def read_components(workspace: UserWorkspace) -> dict[str, str]:
    """Return class name to source, by name; damaged and foreign files are skipped.

    Raises `UserRequired`, `WrongUser`, `WorkspaceUnavailable`.
    """
    return await workspace.binding.run(_read_all)


async def clear_components(workspace: UserWorkspace) -> int:
    """Delete every component, and nothing else. Returns their number. Raises like `read_components`."""
    return await workspace.binding.run(_clear)


def _write(root: Root, class_name: str, content: bytes) -> None:
    with root.locked():
        _at_top(root).write((COMPONENTS, class_name + ENDING), content)


def _read_all(root: Root) -> dict[str, str]:
    folder = _folder(root)
    if folder is None:
        return {}
    with folder:
        read = {name: _read(folder, name) for name in _names(folder)}
    return {name: code for name, code in read.items() if code is not None}


def _clear(root: Root) -> int:
    folder = _folder(root)
    if folder is None:
        return 0
    with folder, root.locked():
        sources = [entry.name for entry in folder.entries() if not entry.is_folder and entry.name.endswith(ENDING)]
        root.note.forget()
        for name in sources:
            folder.remove(name)
    return len(sources)


def _folder(root: Root) -> Folder | None:
    try:
        return root.workspace.child(COMPONENTS)
    except FileNotFoundError:
        return None
    except OSError as error:
        logger.warning("workspace.components_unreadable", reason=error.strerror)
        return None


def _at_top(root: Root) -> Root:
    """Return the workspace itself, regardless of the root path of the tools."""
    return replace(root, folder=root.workspace)


def _names(folder: Folder) -> list[str]:
    files = [entry.name for entry in folder.entries() if not entry.is_folder and entry.name.endswith(ENDING)]
    return [name for name in (file.removesuffix(ENDING) for file in files) if _refusal(name) is None]


def _read(folder: Folder, class_name: str) -> str | None:
    try:
        content = folder.read(class_name + ENDING, MAX_COMPONENT_SOURCE_BYTES)
        code = content.decode()
        _require_python(content, code)
    except (OSError, HeadgateError, UnicodeDecodeError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        logger.warning("workspace.component_skipped", class_name=class_name, reason=type(error).__name__)
        return None
    return code


def _require_python(content: bytes, code: str) -> None:
    """Raise errors of `ast.parse`."""
    digest = hashlib.sha256(content).digest()
    if digest in _well_formed:
        return
    ast.parse(code)
    if len(_well_formed) >= _MOST_REMEMBERED:
        _well_formed.clear()
    _well_formed.add(digest)


def _encoded(class_name: str, code: str) -> bytes:
    try:
        content = code.encode()
    except UnicodeEncodeError as error:
        raise UserComponentError(f"The source of '{class_name}' is not valid Unicode text.") from error
    if not content.strip():
        raise UserComponentError(f"The source of '{class_name}' is empty.")
    if len(content) > MAX_COMPONENT_SOURCE_BYTES:
        raise UserComponentError(
            f"The source of '{class_name}' has {len(content)} bytes; the limit is {MAX_COMPONENT_SOURCE_BYTES}."
        )
    return content


def _require_class_name(class_name: str) -> None:
    refusal = _refusal(class_name)
    if refusal is not None:
        raise UserComponentError(
            f"The class name {class_name[:80]!r} is not valid: {refusal}.",
            remedy="Use letters and digits, starting with a capital letter, such as SumComponent.",
        )


def _refusal(class_name: str) -> str | None:
    """Return why a component with that name cannot be stored; None when it can."""
    if len(class_name) > MAX_CLASS_NAME_LENGTH:
        return f"length {len(class_name)} exceeds max {MAX_CLASS_NAME_LENGTH}"
    if CLASS_NAME.fullmatch(class_name) is None:
        return "it does not match ^[A-Z][A-Za-z0-9]*$"
    if is_device(class_name):
        return "it is a reserved device name on Windows"
    return None
