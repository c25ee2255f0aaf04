"""Names and media types of files: external names are sanitised, missing types are guessed."""

import re
import unicodedata
from mimetypes import MimeTypes
from urllib.parse import quote

MAX_NAME_BYTES = 200
UNNAMED = "file"
OCTETS = "application/octet-stream"

# Separators, characters forbidden on Windows, and characters that hide or reorder others.
_UNSAFE = re.compile(
    r'[<>:"|?*\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffc\ufffd\ud800-\udfff]'
)
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\..*)?", re.IGNORECASE)
_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,126}/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}", re.ASCII)

_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"%PDF-", "application/pdf"),
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (8, b"WAVE", "audio/wav"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"OggS", "audio/ogg"),
    (0, b"fLaC", "audio/flac"),
    (4, b"ftypM4A", "audio/mp4"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1f\x8b", "application/gzip"),
)
"""Offset, bytes and the media type that they prove. ZIP is decided by name: many document types are ZIP files."""

_BY_NAME = MimeTypes()
for _type, _ending in (
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", ".docx"),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xlsx"),
    ("application/vnd.openxmlformats-officedocument.presentationml.presentation", ".pptx"),
    ("application/yaml", ".yaml"),
    ("application/yaml", ".yml"),
    ("text/markdown", ".md"),
    ("text/csv", ".csv"),
    ("text/plain", ".log"),
    ("audio/mp4", ".m4a"),
    ("audio/wav", ".wav"),
    ("image/webp", ".webp"),
):
    _BY_NAME.add_type(_type, _ending)


def safe_name(name: str) -> str:
    """Return a portable file name without folders, up to 200 bytes; the extension is kept."""
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    cleaned = _UNSAFE.sub("_", last).strip(" .")
    if not cleaned.strip("_"):
        return UNNAMED
    if _DEVICE.fullmatch(cleaned):
        cleaned = f"_{cleaned}"
    return _shortened(cleaned)


def _shortened(name: str) -> str:
    if len(name.encode()) <= MAX_NAME_BYTES:
        return name
    stem, dot, ending = name.rpartition(".")
    if not dot or len(ending) > 16 or not ending.isascii():
        stem, dot, ending = name, "", ""
    room = MAX_NAME_BYTES - len(dot + ending)
    return stem.encode()[:room].decode(errors="ignore").rstrip(" .") + dot + ending


def media_type_of(name: str, head: bytes, given: str = "") -> str:
    """Return the media type: proven by the first bytes, else by the name, else as declared, else text or bytes.

    Args:
        name: The file's name.
        head: Its first bytes, 512 are enough.
        given: As declared by the sender; ignored when it is not a media type.
    """
    for offset, magic, proven in _MAGIC:
        if head.startswith(magic, offset):
            return proven
    guessed, encoding = _BY_NAME.guess_type(f"file.{name.rpartition('.')[2]}")
    if guessed is not None and encoding is None:
        return guessed
    claimed = given.partition(";")[0].strip().lower()
    if _MEDIA_TYPE.fullmatch(claimed) and claimed != OCTETS:
        return claimed
    return "text/plain" if head and _is_text(head) else OCTETS


def attachment(name: str) -> str:
    """The `Content-Disposition` of a download (RFC 6266): an ASCII name for old clients, the real one for others."""
    safe = safe_name(name)
    ascii_name = unicodedata.normalize("NFKD", safe).encode("ascii", "ignore").decode()
    ascii_name = re.sub(r"[^A-Za-z0-9 ._()+-]", "_", ascii_name).strip(" .") or UNNAMED
    return f"attachment; filename=\"{ascii_name}\"; filename*=UTF-8''{quote(safe, safe='')}"


def _is_text(head: bytes) -> bool:
    if b"\x00" in head:
        return False
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return error.start >= len(head) - 3  # a character split by the end of the head
    return True
