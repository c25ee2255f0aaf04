"""Bounds of zip packages: office documents and archives."""

import io
import zipfile

from headgate.components.readers.document import Unreadable

MOST_UNPACKED = 200_000_000
"""Maximum unpacked size of all parts of a document, in bytes: a zip bomb exceeds it."""
MOST_PARTS = 10_000


def require_package(content: bytes, name: str, *, kind: str, remedy: str) -> None:
    """Raise `Unreadable` unless the content is a zip package within the limits.

    Args:
        content: The file.
        name: Its name.
        kind: What it should be, with an article: `a Word document`.
        remedy: The remedy when it is not.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as package:
            parts = package.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise Unreadable(f"'{name}' is not {kind}: {error}.", remedy=remedy) from error
    if len(parts) > MOST_PARTS or sum(part.file_size for part in parts) > MOST_UNPACKED:
        raise Unreadable(
            f"'{name}' unpacks to more than {MOST_UNPACKED // 1_000_000} MB or {MOST_PARTS} parts.", remedy="Split it."
        )
