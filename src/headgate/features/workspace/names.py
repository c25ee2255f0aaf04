"""Valid paths of a workspace: relative, with names that are unique and portable across systems (seed 003).

Invalid paths are refused before anything is changed. Links are detected when a path is opened, in `folder.py`.
"""

import re
import unicodedata

from headgate.features.workspace.errors import PathEscapes, PathNotPortable, PathReserved

RESERVED_SEGMENTS = (".lfsig", ".components")
"""Names reserved in any spelling: signatures of contents, and the components of a user's agent."""
MAX_NAME_BYTES = 255
MAX_PATH_CHARACTERS = 1_024
MAX_DEPTH = 32

_UNSEEN = r"\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff"
"""Control characters, line breaks, direction marks, and lone surrogates."""
_FORBIDDEN = re.compile(rf'[<>"|?*:\\{_UNSEEN}]')
_FORBIDDEN_IN_PATTERNS = re.compile(rf'[<>"|:\\{_UNSEEN}]')
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(\..*)?", re.IGNORECASE)
_IGNORED = frozenset({"Cf", "Mn", "Me", "Cc"})
"""Characters that some file systems ignore when they compare names: invisible ones and combining marks."""
_SHORT_NAMES = {"lfsig": ".lfsig", "compon": ".components"}
"""Windows' short forms of the reserved names, before `~1`."""
_DRIVE = re.compile(r"[A-Za-z]:")


def path_parts(path: str) -> tuple[str, ...]:
    """Return the names in a relative path; none for the root (`""`, `"."`).

    Raises:
        PathEscapes: It is absolute or leads upwards.
        PathReserved: It is reserved by Headgate, in any spelling.
        PathNotPortable: It has a name that some systems do not support.
    """
    return _parts(path, _FORBIDDEN)


def pattern_parts(pattern: str) -> tuple[str, ...]:
    """Return the names in a path with wildcards `*`, `?` and `[...]`. Raises like `path_parts`."""
    return _parts(pattern, _FORBIDDEN_IN_PATTERNS)


def reserved_segment(name: str) -> str | None:
    """Return the reserved name that a file system may treat as equal; None when the name is free."""
    folded = _folded(name)
    if folded in RESERVED_SEGMENTS:
        return folded
    stem, tilde, number = folded.lstrip(".").partition("~")
    return _SHORT_NAMES.get(stem) if tilde and number.isdigit() else None


def is_possible(name: str) -> bool:
    """Return whether a name on disk is valid; others are not shown."""
    return _FORBIDDEN.search(name) is None and reserved_segment(name) is None


def is_device(name: str) -> bool:
    """Return whether Windows treats the name as a device, with any extension."""
    return _DEVICE.fullmatch(name) is not None


def _parts(path: str, forbidden: re.Pattern[str]) -> tuple[str, ...]:
    excerpt = path[:MAX_PATH_CHARACTERS].encode(errors="replace").decode()
    if len(path) > MAX_PATH_CHARACTERS:
        raise PathNotPortable(f"Path is longer than {MAX_PATH_CHARACTERS} characters: {excerpt[:80]}...")
    names = [name for name in path.split("/") if name not in {"", "."}]
    for name in re.split(r"[/\\]", path):
        segment = reserved_segment(name)
        if segment is not None:
            raise PathReserved(segment)
    if path.startswith(("/", "\\")) or _DRIVE.match(path) or ".." in re.split(r"[/\\]", path):
        raise PathEscapes(excerpt)
    if len(names) > MAX_DEPTH:
        raise PathNotPortable(f"Path is deeper than {MAX_DEPTH} folders: {excerpt[:80]}...")
    for name in names:
        _require_portable(name, excerpt, forbidden)
    return tuple(names)


def _require_portable(name: str, path: str, forbidden: re.Pattern[str]) -> None:
    match = forbidden.search(name)
    if match is not None:
        raise PathNotPortable(
            f"Path contains a character that is not allowed on all systems, {match[0]!r}: {path!r}",
            remedy='Remove < > " | ? * : \\ and control characters.',
        )
    if name != name.rstrip(". "):
        raise PathNotPortable(f"Path component {name!r} ends with a dot or a space", remedy="Omit it.")
    if is_device(name):
        raise PathNotPortable(
            f"Path component '{name}' is a reserved device name on Windows", remedy="Choose a different name."
        )
    if len(name.encode()) > MAX_NAME_BYTES:
        raise PathNotPortable(f"Path component is longer than {MAX_NAME_BYTES} bytes: {name[:40]}...")


def _folded(name: str) -> str:
    """A name as the most tolerant file system compares it: no case, marks, invisible characters or trailing dots."""
    flat = unicodedata.normalize("NFKD", name).casefold().replace("ı", "i")
    flat = unicodedata.normalize("NFKD", flat)
    return (
        "".join(character for character in flat if unicodedata.category(character) not in _IGNORED).strip().rstrip(". ")
    )
