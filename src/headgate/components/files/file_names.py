"""File names that are safe on every system."""

import re
import unicodedata

LONGEST = 120
"""Maximum length of a name in characters; under the 255 bytes of common file systems in any script except emoji."""
_BYTES = 240
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\s]+')
_DEVICES = re.compile(r"^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)$", re.IGNORECASE)


def safe_name(name: str, *, default: str = "result.txt") -> str:
    """A portable file name: no separators, control or bidirectional characters, no Windows device, limited length.

    Forbidden characters become `-`; the extension is kept; an empty name becomes `default`.
    """
    text = unicodedata.normalize("NFC", name)
    text = "".join(" " if char.isspace() else char for char in text if char.isspace() or _visible(char))
    text = re.sub(r"-{2,}", "-", _FORBIDDEN.sub(lambda match: " " if match[0] == " " else "-", text))
    stem, dot, extension = text.strip(" .-").rpartition(".")
    if not dot:
        stem, extension = extension, ""
    stem, extension = stem.strip(" .-"), extension.strip(" -")[:16]
    if not stem:
        return default
    if _DEVICES.match(stem.partition(".")[0].strip()):
        stem = f"_{stem}"
    ending = f".{extension}" if extension else ""
    return _clipped(stem, ending) + ending


def _visible(char: str) -> bool:
    """Return whether it is neither control, format (zero-width, right-to-left override), surrogate nor unassigned."""
    return unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Cn", "Co"}


def _clipped(stem: str, ending: str) -> str:
    stem = stem[: LONGEST - len(ending)]
    while len((stem + ending).encode()) > _BYTES:
        stem = stem[:-1]
    return stem.rstrip(" .-")
