"""Opens documents: the files of their versions, and the pages of PDFs and images as pictures."""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.components.isolated.calls import Runners, TenantIsolation, draw_page
from headgate.features.access.principal import Principal
from headgate.features.files import service as files
from headgate.features.files.storage import Storage
from headgate.features.files.tables import StoredFile
from headgate.features.knowledge import repository
from headgate.features.knowledge.documents.service import get_document, require_readable
from headgate.features.knowledge.errors import NoPicture, VersionNotFound
from headgate.foundation.database import Database
from headgate.foundation.extras import require_extra

PDF = "application/pdf"
AT_ONCE = 2
"""Pages that one process draws at once."""
MOST_CACHED_BYTES = 32_000_000
"""Of pictures that one process keeps, the latest ones."""
Key = tuple[str, int]
"""File and page."""


async def file_of(
    session: AsyncSession, principal: Principal, base_id: str, document_id: str, *, version: int | None
) -> StoredFile:
    """Return the file of a version, by default the current one. Raises `DocumentNotFound`, `VersionNotFound`.

    The caller must be one of the readers of the document.
    """
    document = await get_document(session, principal, base_id, document_id)
    await require_readable(session, principal, document)
    row = document.version
    if version is not None and version != row.version:
        earlier = await repository.find_version(session, document.row.id, version, tenant_id=principal.tenant_id)
        if earlier is None:
            raise VersionNotFound(document.row.name, version)
        row = earlier
    return await files.get_file_system(session, tenant_id=row.tenant_id, file_id=row.file_id)


@dataclass(frozen=True, slots=True)
class Pictures:
    """Draws pages of PDFs and images in the sandbox, and keeps the latest pictures. Rights are checked each time."""

    database: Database
    storage: Storage
    isolated: Runners
    recent: OrderedDict[Key, bytes] = field(default_factory=OrderedDict)
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    async def find(
        self, principal: Principal, base_id: str, document_id: str, *, version: int | None, page: int
    ) -> StoredFile:
        """Return the file of a page. Raises like `file_of`, and `NoPicture` for a file that is no PDF or image."""
        require_extra("ocr", "Pictures of pages")
        async with self.database.reading() as session:
            file = await file_of(session, principal, base_id, document_id, version=version)
        if file.media_type != PDF and not file.media_type.startswith("image/"):
            raise NoPicture(f"Page {page} of '{file.name}' has no picture: it is no PDF or image.")
        return file

    async def draw(self, file: StoredFile, page: int) -> bytes:
        """Return a page as a WebP picture. Raises `Unreadable`, `FileDamaged`."""
        key = file.id, page
        if key not in self.recent:
            async with self.turns:
                if key not in self.recent:  # another request may have drawn it meanwhile
                    content = await files.read_content(self.storage, file)
                    isolation = TenantIsolation(self.isolated, file.tenant_id)
                    self.recent[key] = await draw_page(isolation, content, name=file.name, page=page)
        self.recent.move_to_end(key)
        picture = self.recent[key]
        while sum(map(len, self.recent.values())) > MOST_CACHED_BYTES:
            self.recent.popitem(last=False)
        return picture
