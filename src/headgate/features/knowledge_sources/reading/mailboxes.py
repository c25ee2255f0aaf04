"""Messages of a mailbox, read with the component that flows use, and never marked as read."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from headgate.components.mail.reading import ReadMail, Search, Selection
from headgate.features.knowledge_sources.reading.protocol import Content, Entry, Gone, Listing, SourceContext
from headgate.features.knowledge_sources.repository import Known
from headgate.features.knowledge_sources.schemas import MailSource
from headgate.graph.connection_reference import ConnectionReference
from headgate.sdk import ComponentError

BATCH = 20
"""Messages that one session reads."""
_HEADER = ("from", "to", "cc", "date", "subject")


@asynccontextmanager
async def open_mail(ctx: SourceContext, config: MailSource, known: Mapping[str, Known]) -> AsyncIterator[Listing]:
    """List the newest messages. Raises what the server refuses."""
    reference = ConnectionReference(config.connection, ("imap",))
    await ctx.connection(reference)
    reader = ctx.reader(ReadMail, mailbox=reference, folder=config.folder)
    search = Search(config.sender, config.subject, None, unseen=False, most=config.most_messages)
    selection: Selection = await reader.selection(search)
    read = {key for key, item in known.items() if item.document_id and not item.problem}
    complete = len(selection.uids) < config.most_messages
    yield Mailbox(ctx, reader, selection, read, complete)


@dataclass(slots=True)
class Mailbox:
    """The newest messages of a folder. A message never changes: its key is its version."""

    ctx: SourceContext
    reader: Any
    selection: Selection
    read: set[str]
    complete: bool
    notes: list[str] = field(default_factory=list)
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Messages that were read ahead, by uid."""

    async def entries(self) -> AsyncIterator[Entry]:
        """Yield the messages, the newest first."""
        if not self.complete:
            self.notes.append(
                f"Older messages than the newest {len(self.selection.uids):,} are neither read nor deleted."
            )
        uids = self.selection.uids
        missing = [uid for uid in uids if self._key(uid) not in self.read]
        batches = {
            uid: missing[at : at + BATCH] for at in range(0, len(missing), BATCH) for uid in missing[at : at + BATCH]
        }
        for uid in uids:
            yield self._entry(uid, batches.get(uid, [uid]))

    def _key(self, uid: str) -> str:
        return f"{self.selection.validity}:{uid}"

    def _entry(self, uid: str, batch: Sequence[str]) -> Entry:
        async def fetch(known: Known | None) -> Content:
            del known
            if uid not in self.rows:
                rest = tuple(batch[batch.index(uid) :])
                self.ctx.files.contents.clear()
                rows = await self.reader.read(Selection(self.selection.validity, rest))
                self.rows = {row["uid"]: row for row in rows if row["complete"] or row["uid"] == uid}
            row = self.rows.pop(uid, None)
            if row is None:
                raise Gone(f"Message {uid} was deleted meanwhile.")
            if not row["complete"]:
                raise ComponentError(f"Message {uid} is larger than a message may be.")
            return message_of(row)

        return Entry(self._key(uid), f"Message {uid}", self._key(uid), fetch)


def message_of(row: Mapping[str, Any]) -> Content:
    """Return a message as a document, with what of it is not in the document."""
    header = "\n".join(f"{name.capitalize()}: {row[name]}" for name in _HEADER if row[name])
    files = ", ".join(str(file["name"]) for file in row["files"])
    note = f"Attachments are not in the document: {files[:300]}." if files else ""
    text = f"# {row['subject'] or 'Message'}\n\n{header}\n\n{row['text']}"
    return Content(text.encode(), "text/markdown", "message.md", note=note)
