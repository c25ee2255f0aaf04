"""Files of a Git repository. A listing has their blob ids, so only changed contents are read, many at a time."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from mimetypes import guess_type

from headgate.components.git.opening import opened_repository
from headgate.components.git.reading import GIT_KINDS
from headgate.components.git.trees import LFS, RepositoryFile
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
from headgate.features.knowledge_sources.schemas import MOST_DOCUMENTS, GitSource
from headgate.graph.connection_reference import ConnectionReference
from headgate.sdk import ComponentError, Connection

SUBJECT = "Source"
BATCH = 50
"""Files that one session reads."""
SECONDS = 300.0


@asynccontextmanager
async def open_repository(ctx: SourceContext, config: GitSource, known: Mapping[str, Known]) -> AsyncIterator[Listing]:
    """List the files that match. Raises what the server refuses."""
    connection = await ctx.connection(ConnectionReference(config.connection, GIT_KINDS))
    async with opened_repository(connection, config.repository, seconds=SECONDS, subject=SUBJECT) as opened:
        snapshot = await opened.call(lambda repository: repository.snapshot(config.ref, config.pattern))
    files, omitted = snapshot.listing.files, snapshot.listing.omitted()
    if len(files) > MOST_DOCUMENTS:
        raise SourceInvalid(
            f"{len(files):,} files match; the limit is {MOST_DOCUMENTS:,}.", remedy="Choose a more specific pattern."
        )
    changed = [file for file in files if file.path not in known or known[file.path].version != file.id]
    yield RepositoryFiles(connection, config.repository, files, changed, notes=[omitted] if omitted else [])


@dataclass(slots=True)
class RepositoryFiles:
    """The files of a commit. The id of a content is its version."""

    connection: Connection
    repository: str
    files: list[RepositoryFile]
    changed: list[RepositoryFile]
    complete: bool = True
    notes: list[str] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)
    """Contents that were read ahead, by id."""

    async def entries(self) -> AsyncIterator[Entry]:
        """Yield the files by path."""
        for file in self.files:
            if len(file.path) > LONGEST_KEY:
                self.notes.append(f"Not read, its path is too long: {file.path[:100]}…")
                continue
            yield self._entry(file)

    def _entry(self, file: RepositoryFile) -> Entry:
        async def fetch(known: Known | None) -> Content:
            del known
            content = await self._content(file)
            if len(content) > MOST_BYTES:
                raise ComponentError(f"It has {len(content):,} bytes; the limit is {MOST_BYTES:,}.")
            if content.startswith(LFS):
                raise ComponentError("Its content is in Git LFS, not in the repository.")
            media_type = guess_type(file.path)[0] or "application/octet-stream"
            return Content(content, media_type, file.path.rpartition("/")[2])

        return Entry(file.path, file.path, file.id, fetch)

    async def _content(self, file: RepositoryFile) -> bytes:
        """Return a content; read with those after it, or alone when they are too large together."""
        if file.id not in self.contents:
            at = self.changed.index(file) if file in self.changed else 0
            batch = [other.id for other in self.changed[at : at + BATCH]] if file in self.changed else []
            try:
                self.contents = await self._read(batch or [file.id])
            except ComponentError:
                self.contents = await self._read([file.id])
        return self.contents[file.id]

    async def _read(self, ids: list[str]) -> dict[str, bytes]:
        async with opened_repository(self.connection, self.repository, seconds=SECONDS, subject=SUBJECT) as opened:
            return await opened.call(lambda repository: repository.contents(ids))
