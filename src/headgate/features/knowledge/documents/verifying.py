"""Verifies citations: that the cited text is in the document with the cited checksum."""

import asyncio
from dataclasses import dataclass, field

from headgate.components.isolated.calls import Runners
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.files import service as files
from headgate.features.files.storage import Storage
from headgate.features.knowledge import repository
from headgate.features.knowledge.documents.schemas import CitationIn, VerdictOut, VerifyOut
from headgate.features.knowledge.passages.chunking import digest_of
from headgate.features.knowledge.passages.extraction import extract
from headgate.features.knowledge.rights import readable, reader_of
from headgate.features.knowledge.tables import DocumentRow, DocumentVersionRow
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError

AT_ONCE = 2
"""Files that one process reads for verification at once."""
_UNKNOWN = "The document does not exist, or you may not read it."


@dataclass(frozen=True, slots=True)
class Verifier:
    """Reads the file of each cited version again, after its checksum was verified."""

    database: Database
    storage: Storage
    isolated: Runners
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    async def verify(self, principal: Principal, citations: list[CitationIn]) -> VerifyOut:
        """Return a verdict for each citation, in their order. Raises `PermissionMissing`."""
        principal.require_somewhere(Permission.KNOWLEDGE_VIEW)
        places: dict[tuple[str, int, str], list[int]] = {}
        for place, citation in enumerate(citations):
            places.setdefault((*citation.content, citation.document_sha256), []).append(place)
        verdicts: dict[int, VerdictOut] = {}
        for cited in places.values():  # one content at a time: it may be large
            async with self.turns:
                text = await self._text(principal, citations[cited[0]])
            verdicts |= {place: _verdict(citations[place], text) for place in cited}
        ordered = [verdicts[place] for place in range(len(citations))]
        return VerifyOut(verified=all(verdict.verified for verdict in ordered), citations=ordered)

    async def _text(self, principal: Principal, citation: CitationIn) -> tuple[str, str] | str:
        """Return name and text of the cited version; or the reason why there is none."""
        tenant_id = principal.tenant_id
        async with self.database.reading() as session:
            place = await repository.find_indexed(session, citation.document_id)
            if place is None or place[0].tenant_id != tenant_id or not principal.sees(place[1].space_id):
                return _UNKNOWN
            document, base = place
            condition = readable(await reader_of(session, principal, base.space_id))
            if not await repository.is_visible(session, document.id, tenant_id=tenant_id, visible=condition):
                return _UNKNOWN
            version = await repository.find_version(session, document.id, citation.version, tenant_id=tenant_id)
        if version is None:
            return f"Version {citation.version} of '{document.name}' is not kept."
        if version.sha256 != citation.document_sha256:
            return f"Version {citation.version} of '{document.name}' has another checksum: {version.sha256}."
        try:
            return document.name, await self._read(document, version)
        except HeadgateError as error:
            return f"'{document.name}' cannot be read: {error.detail}"

    async def _read(self, document: DocumentRow, version: DocumentVersionRow) -> str:
        async with self.database.reading() as session:
            file = await files.get_file_system(session, tenant_id=document.tenant_id, file_id=version.file_id)
        content = await files.read_content(self.storage, file)
        read = await extract(
            self.isolated, content, tenant_id=document.tenant_id, name=file.name, media_type=version.media_type
        )
        return read.text


def _verdict(citation: CitationIn, text: tuple[str, str] | str) -> VerdictOut:
    name, content = text if isinstance(text, tuple) else ("", "")
    verified = isinstance(text, tuple) and digest_of(content[citation.start : citation.end]) == citation.sha256
    if isinstance(text, str):
        reason = text
    elif verified:
        reason = f"Characters {citation.start} to {citation.end} of the document are the cited text."
    else:
        reason = f"Characters {citation.start} to {citation.end} of the document are another text."
    return VerdictOut(
        document_id=citation.document_id, document=name, version=citation.version, start=citation.start,
        end=citation.end, verified=verified, reason=reason,
    )  # fmt: skip
