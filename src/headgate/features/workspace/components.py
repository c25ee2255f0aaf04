"""Components that a person's agent made, kept in their workspace where no file tool can reach (seed 000).

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
"""So that the path stays within Windows' 260 characters."""
MAX_COMPONENT_SOURCE_BYTES = 1024 * 1024
CLASS_NAME = re.compile(r"[A-Z][A-Za-z0-9]*", re.ASCII)
_MOST_REMEMBERED = 10_000
_well_formed: set[bytes] = set()
"""SHA-256 of sources that were parsed: each request reads them all, and parsing takes far longer than reading."""

logger = get_logger(__name__)


async def register_component(workspace: UserWorkspace, class_name: str, code: str) -> None:
    """Keep a component's source, in place of an earlier one of that name.

    Raises:
        UserComponentError: The name or the source is none that can be kept, nobody is signed in, or the disk refused;
            an earlier component is still there as it was.
    """
    _require_class_name(class_name)
    content = _encoded(class_name, code)
    try:
        await workspace.binding.run(lambda root: _write(root, class_name, content))
    except (OSError, HeadgateError) as error:
        reason = error.detail if isinstance(error, HeadgateError) else (error.strerror or type(error).__name__)
        raise UserComponentError(f"The component '{class_name}' was not kept: {reason}") from error


async def read_components(workspace: UserWorkspace) -> dict[str, str]:
    """Class name to source, by name; files that are broken or that nothing of ours wrote are left out.

    Raises `UserRequired`, `WrongUser`, `WorkspaceUnavailable`.
    """
    return await workspace.binding.run(_read_all)


async def clear_components(workspace: UserWorkspace) -> int:
    """Remove every component, and nothing else. How many there were. Raises what `read_components` raises."""
    return await workspace.binding.run(_clear)


def _write(root: Root, class_name: str, content: bytes) -> None:
    with root.locked():
        _in_whole(root).write((COMPONENTS, class_name + ENDING), content)


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
        sources = [one.name for one in folder.entries() if not one.is_folder and one.name.endswith(ENDING)]
        root.note.forget()
        for name in sources:
            folder.remove(name)
    return len(sources)


def _folder(root: Root) -> Folder | None:
    try:
        return root.whole.child(COMPONENTS)
    except FileNotFoundError:
        return None
    except OSError as error:
        logger.warning("workspace.components_unreadable", reason=error.strerror)
        return None


def _in_whole(root: Root) -> Root:
    """The workspace itself, wherever the tools' paths begin."""
    return replace(root, folder=root.whole)


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
    """Raises what `ast.parse` raises."""
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
        raise UserComponentError(f"The source of '{class_name}' is no Unicode text.") from error
    if not content.strip():
        raise UserComponentError(f"The source of '{class_name}' is empty.")
    if len(content) > MAX_COMPONENT_SOURCE_BYTES:
        raise UserComponentError(
            f"The source of '{class_name}' has {len(content)} bytes, over the limit of {MAX_COMPONENT_SOURCE_BYTES}."
        )
    return content


def _require_class_name(class_name: str) -> None:
    refusal = _refusal(class_name)
    if refusal is not None:
        raise UserComponentError(
            f"The class name {class_name[:80]!r} cannot be kept: {refusal}.",
            remedy="Use letters and digits, beginning with a capital, such as SumComponent.",
        )


def _refusal(class_name: str) -> str | None:
    """Why a component of that name cannot be kept; None when it can."""
    if len(class_name) > MAX_CLASS_NAME_LENGTH:
        return f"length {len(class_name)} exceeds max {MAX_CLASS_NAME_LENGTH}"
    if CLASS_NAME.fullmatch(class_name) is None:
        return "it does not match ^[A-Z][A-Za-z0-9]*$"
    if is_device(class_name):
        return "Windows takes it for a device"
    return None
