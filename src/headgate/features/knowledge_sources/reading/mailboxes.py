"""Messages of a mailbox and their attachments, read with the component that flows use, and never marked as read.

A message is stored before its attachments. Its version says how many there are: one whose attachments were not all
stored, because that was interrupted, is read again.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from headgate.components.mail.reading import ReadMail, Search, Selection
from headgate.components.readers.mail import message_text
from headgate.components.readers.reading import kind_of
from headgate.features.knowledge_sources.reading.protocol import Content, Entry, Gone, Listing, SourceContext
from headgate.features.knowledge_sources.repository import Known
from headgate.features.knowledge_sources.schemas import MailSource
from headgate.features.triggers.hooks.bodies import Upload
from headgate.graph.connection_reference import ConnectionReference
from headgate.sdk import ComponentError

BATCH = 20
"""Messages that one session reads."""
_LONGEST_NOTE = 500


@asynccontextmanager
async def open_mail(ctx: SourceContext, config: MailSource, known: Mapping[str, Known]) -> AsyncIterator[Listing]:
    """List the newest messages. Raises what the server refuses."""
    reference = ConnectionReference(config.connection, ("imap",))
    await ctx.connection(reference)
    reader = ctx.reader(ReadMail, mailbox=reference, folder=config.folder)
    search = Search(config.sender, config.subject, None, unseen=False, most=config.most_messages)
    selection: Selection = await reader.selection(search)
    complete = len(selection.uids) < config.most_messages
    yield Mailbox(ctx, reader, selection, known, complete)


@dataclass(slots=True)
class Mailbox:
    """The newest messages of a folder. A message never changes."""

    ctx: SourceContext
    reader: Any
    selection: Selection
    known: Mapping[str, Known]
    complete: bool
    notes: list[str] = field(default_factory=list)
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Messages that were read ahead, by uid."""
    attachments: list[Upload] = field(default_factory=list)
    """Of the message that was read last."""

    async def entries(self) -> AsyncIterator[Entry]:
        """Yield the messages, the newest first, each one followed by its attachments."""
        if not self.complete:
            self.notes.append(
                f"Older messages than the newest {len(self.selection.uids):,} are neither read nor deleted."
            )
        uids = self.selection.uids
        missing = [uid for uid in uids if self._attached(uid) is None]
        batches = {
            uid: missing[at : at + BATCH] for at in range(0, len(missing), BATCH) for uid in missing[at : at + BATCH]
        }
        for uid in uids:
            attached = self._attached(uid)
            self.attachments.clear()
            yield self._entry(uid, batches.get(uid, [uid]), attached)
            for number in range(1, (len(self.attachments) if attached is None else attached) + 1):
                yield self._attachment(uid, number, stored=attached is not None)

    def _key(self, uid: str) -> str:
        return f"{self.selection.validity}:{uid}"

    def _attached(self, uid: str) -> int | None:
        """Return the number of attachments of a message that was stored with all of them; else None."""
        key = self._key(uid)
        message = self.known.get(key)
        count = "" if message is None else message.version.removeprefix(f"{key}+")
        if not count.isdecimal():
            return None
        parts = [message, *(self.known.get(_part(key, number)) for number in range(1, int(count) + 1))]
        complete = all(item is not None and item.document_id and not item.problem for item in parts)
        return int(count) if complete else None

    def _entry(self, uid: str, batch: Sequence[str], attached: int | None) -> Entry:
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
            files = [self.ctx.files.contents[str(file["id"])] for file in row["files"]]
            self.attachments = [file for file in files if _reason(file) is None]
            return message_of(row, [reason for file in files if (reason := _reason(file)) is not None], self._key(uid))

        version = "" if attached is None else f"{self._key(uid)}+{attached}"
        return Entry(self._key(uid), f"Message {uid}", version, fetch)

    def _attachment(self, uid: str, number: int, *, stored: bool) -> Entry:
        key = _part(self._key(uid), number)

        async def fetch(known: Known | None) -> Content:
            del known
            file = self.attachments[number - 1]
            return Content(file.content, file.media_type, file.name)

        if stored:
            return Entry(key, "", self.known[key].version, fetch)
        name = self.attachments[number - 1].name
        names = [file.name for file in self.attachments[: number - 1]]
        unique = f"{number} {name}" if name in names else name
        return Entry(key, f"Message {uid}/{unique}", key, fetch, self._key(uid))


def _part(key: str, number: int) -> str:
    """Return the key of an attachment of a message."""
    return f"{key}/{number}"


def _reason(file: Upload) -> str | None:
    """Return why an attachment has no document; None: it is read."""
    if not file.content:
        return f"'{file.name}' is empty."
    try:
        kind_of(file.content, file.name, file.media_type)
    except ComponentError as error:
        return error.detail
    return None


def message_of(row: Mapping[str, Any], omitted: Sequence[str], key: str) -> Content:
    """Return a message as a document, with why attachments have none."""
    note = f"Attachments that are not read: {' '.join(omitted)}"[:_LONGEST_NOTE] if omitted else ""
    version = f"{key}+{len(row['files']) - len(omitted)}"
    return Content(message_text(row).encode(), "text/markdown", "message.md", version=version, note=note)
