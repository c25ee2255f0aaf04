"""Files of a storage. Each file is read over a new connection, so that many can be read."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from mimetypes import guess_type

from headgate.components.storage.paths import clean_path
from headgate.components.storage.storage import Entry as StoredEntry
from headgate.components.storage.storage import opened_storage
from headgate.features.knowledge_sources.errors import SourceInvalid
from headgate.features.knowledge_sources.reading.protocol import (
    LONGEST_KEY,
    MOST_BYTES,
    Content,
    Entry,
    Listing,
    SourceContext,
)
from headgate.features.knowledge_sources.repository import Known
from headgate.features.knowledge_sources.schemas import MOST_DOCUMENTS, StorageSource
from headgate.graph.connection_reference import ConnectionReference
from headgate.sdk import STORAGE_KINDS, ComponentError, Connection

SUBJECT = "Source"
LISTING_SECONDS = 300.0
FILE_SECONDS = 120.0


@asynccontextmanager
async def open_files(ctx: SourceContext, config: StorageSource, known: Mapping[str, Known]) -> AsyncIterator[Listing]:
    """Open the files that match. Raises what the storage refuses."""
    del known  # a listing of files has their versions
    connection = await ctx.connection(ConnectionReference(config.connection, STORAGE_KINDS))
    folder = clean_path(config.folder, subject=SUBJECT, field="folder")
    async with opened_storage(connection, seconds=LISTING_SECONDS, subject=SUBJECT) as storage:
        files = await storage.list_files(folder, config.pattern)
    if len(files) > MOST_DOCUMENTS:
        raise SourceInvalid(
            f"{len(files):,} files match; the limit is {MOST_DOCUMENTS:,}.", remedy="Choose a more specific pattern."
        )
    yield Files(connection, files)


@dataclass(slots=True)
class Files:
    """The files of a storage."""

    connection: Connection
    files: list[StoredEntry]
    complete: bool = True
    notes: list[str] = field(default_factory=list)

    async def entries(self) -> AsyncIterator[Entry]:
        """Yield the files by path."""
        for file in self.files:
            if len(file.path) > LONGEST_KEY:
                self.notes.append(f"Not read, its path is too long: {file.path[:100]}…")
                continue
            yield self._entry(file)

    def _entry(self, file: StoredEntry) -> Entry:
        async def fetch(known: Known | None) -> Content:
            del known
            if file.size > MOST_BYTES:
                raise ComponentError(f"It has {file.size:,} bytes; the limit is {MOST_BYTES:,}.")
            async with opened_storage(self.connection, seconds=FILE_SECONDS, subject=SUBJECT) as storage:
                content = await storage.read(file.path, MOST_BYTES)
            media_type = guess_type(file.path)[0] or "application/octet-stream"
            return Content(content, media_type, file.path.rpartition("/")[2])

        has_version = not file.version.startswith(":")  # neither an entity tag nor a time
        return Entry(file.path, file.path, file.version if has_version else "", fetch)
