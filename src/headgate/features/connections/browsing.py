"""Browsing of the storage of a connection: one folder, searched and in pages."""

from headgate.components.storage.paths import clean_path
from headgate.components.storage.storage import MOST_LISTED, Entry, opened_storage
from headgate.features.connections.errors import BadConnection
from headgate.features.connections.schemas import StoredFileOut
from headgate.foundation.api import Page
from headgate.sdk import STORAGE_KINDS, ComponentError, Connection

PAGE_SIZE = 100
_SUBJECT = "The folder"


def require_storage(kind: str, name: str) -> None:
    """Raise `BadConnection` for a kind without files."""
    if kind not in STORAGE_KINDS:
        raise BadConnection(
            f"The connection '{name}' is of the kind {kind}, which has no files.",
            remedy=f"Choose one of the kinds {', '.join(STORAGE_KINDS)}.",
        )


async def browse(
    connection: Connection, folder: str, *, search: str, cursor: str, seconds: float
) -> Page[StoredFileOut]:
    """Return a page of what is in a folder: folders first, then files, by name.

    Args:
        connection: A storage.
        folder: Path from the folder of the connection; empty is that folder.
        search: Only names that contain it, in upper or lower case.
        cursor: Of the page before; empty for the first. Entries that are added or deleted meanwhile move no other.
        seconds: Time limit.

    Raises:
        HeadgateError: The path is none, there is no such folder, or the storage cannot be used.
    """
    path = clean_path(folder, subject=_SUBJECT, field="folder")
    async with opened_storage(connection, seconds=seconds, subject=_SUBJECT) as storage:
        entries = await storage.list_folder(path)
    if len(entries) > MOST_LISTED:
        raise ComponentError(
            f"{_SUBJECT} has more than {MOST_LISTED:,} entries.", remedy="Write the path, or choose a smaller folder."
        )
    matching = [entry for entry in entries if search.casefold() in _name(entry).casefold() and _key(entry) > cursor]
    page = matching[:PAGE_SIZE]
    items = [_stored_file(entry) for entry in page]
    return Page(items=items, next_cursor=_key(page[-1]) if len(matching) > PAGE_SIZE else None)


def _stored_file(entry: Entry) -> StoredFileOut:
    size = 0 if entry.is_folder else entry.size
    return StoredFileOut(
        name=_name(entry), path=entry.path, is_folder=entry.is_folder, size=size, changed=entry.changed
    )


def _name(entry: Entry) -> str:
    return entry.path.rpartition("/")[2]


def _key(entry: Entry) -> str:
    """Return what the entries of a folder are sorted by, as text."""
    return f"{'dir' if entry.is_folder else 'file'}:{_name(entry)}"
