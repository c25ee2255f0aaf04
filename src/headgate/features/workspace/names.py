"""Which paths a workspace takes: relative, with names that mean one file on every system (seed 003).

What is refused here is refused before anything is touched. Links are another matter: they are met when a path is
opened, in `folder.py`.
"""

import re
import unicodedata

from headgate.features.workspace.errors import PathEscapes, PathNotPortable, PathReserved

RESERVED_SEGMENTS = (".lfsig", ".components")
"""Names that no tool may touch in any spelling: signatures of contents, and the components a person's agent made."""
MAX_NAME_BYTES = 255
MAX_PATH_CHARACTERS = 1_024
MAX_DEPTH = 32

_UNSEEN = r"\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff"
"""Control characters, what breaks lines or turns the direction of writing, and halves of characters."""
_FORBIDDEN = re.compile(rf'[<>"|?*:\\{_UNSEEN}]')
_FORBIDDEN_IN_PATTERNS = re.compile(rf'[<>"|:\\{_UNSEEN}]')
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(\..*)?", re.IGNORECASE)
_IGNORED = frozenset({"Cf", "Mn", "Me", "Cc"})
"""Characters that some file systems leave out when they compare names: invisible ones and marks on a letter."""
_SHORT_NAMES = {"lfsig": ".lfsig", "compon": ".components"}
"""What Windows calls the reserved names in eight letters, before `~1`."""
_DRIVE = re.compile(r"[A-Za-z]:")


def path_parts(path: str) -> tuple[str, ...]:
    """The names that a relative path consists of; none for the root (`""`, `"."`).

    Raises:
        PathEscapes: It is absolute or goes up.
        PathReserved: It names something that Headgate keeps for itself, in whatever spelling.
        PathNotPortable: It has a name that not every system takes.
    """
    return _parts(path, _FORBIDDEN)


def pattern_parts(pattern: str) -> tuple[str, ...]:
    """The names of a path in which `*`, `?` and `[...]` stand for others. Raises what `path_parts` raises."""
    return _parts(pattern, _FORBIDDEN_IN_PATTERNS)


def reserved_segment(name: str) -> str | None:
    """The reserved name that a file system may take this one for; None when it is free."""
    folded = _folded(name)
    if folded in RESERVED_SEGMENTS:
        return folded
    stem, tilde, number = folded.lstrip(".").partition("~")
    return _SHORT_NAMES.get(stem) if tilde and number.isdigit() else None


def is_possible(name: str) -> bool:
    """Whether a name that is on the disk is one that a path may have; others are not shown."""
    return _FORBIDDEN.search(name) is None and reserved_segment(name) is None


def is_device(name: str) -> bool:
    """Whether Windows takes the name for a device, as it does with any ending."""
    return _DEVICE.fullmatch(name) is not None


def _parts(path: str, forbidden: re.Pattern[str]) -> tuple[str, ...]:
    shown = path[:MAX_PATH_CHARACTERS].encode(errors="replace").decode()
    if len(path) > MAX_PATH_CHARACTERS:
        raise PathNotPortable(f"Path is longer than {MAX_PATH_CHARACTERS} characters: {shown[:80]}...")
    names = [name for name in path.split("/") if name not in {"", "."}]
    for name in re.split(r"[/\\]", path):
        segment = reserved_segment(name)
        if segment is not None:
            raise PathReserved(segment)
    if path.startswith(("/", "\\")) or _DRIVE.match(path) or ".." in re.split(r"[/\\]", path):
        raise PathEscapes(shown)
    if len(names) > MAX_DEPTH:
        raise PathNotPortable(f"Path is deeper than {MAX_DEPTH} folders: {shown[:80]}...")
    for name in names:
        _require_portable(name, shown, forbidden)
    return tuple(names)


def _require_portable(name: str, path: str, forbidden: re.Pattern[str]) -> None:
    found = forbidden.search(name)
    if found is not None:
        raise PathNotPortable(
            f"Path contains a character that not every system takes, {found[0]!r}: {path!r}",
            remedy='Leave out < > " | ? * : \\ and control characters.',
        )
    if name != name.rstrip(". "):
        raise PathNotPortable(f"Path component {name!r} ends with a dot or a space", remedy="Leave it out.")
    if is_device(name):
        raise PathNotPortable(
            f"Path component '{name}' is a reserved device name on Windows", remedy="Choose a different name."
        )
    if len(name.encode()) > MAX_NAME_BYTES:
        raise PathNotPortable(f"Path component is longer than {MAX_NAME_BYTES} bytes: {name[:40]}...")


def _folded(name: str) -> str:
    """A name as the most forgiving file system reads it: no case, marks, invisible characters or ending dots."""
    flat = unicodedata.normalize("NFKD", name).casefold().replace("ı", "i")
    flat = unicodedata.normalize("NFKD", flat)
    return "".join(letter for letter in flat if unicodedata.category(letter) not in _IGNORED).strip().rstrip(". ")
