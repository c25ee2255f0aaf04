"""The component that reads mail."""

import base64
import imaplib
import socket
import ssl
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import JsonValue, PrivateAttr

from headgate.components.mail.parsing import UNKNOWN, Raw, grouped, parse
from headgate.components.sockets import closed_after, open_socket
from headgate.foundation.errors import UpstreamFailed
from headgate.foundation.flow_threads import wait_in_flow_thread
from headgate.foundation.lazy import lazy_module
from headgate.graph.names import clipped
from headgate.sdk import Component, ComponentError, Connection, ConnectionReference, Data, Table, Text, field, output
from headgate.sdk.calls import CallRequest
from headgate.sdk.coerce import data_of
from headgate.sdk.outside import mark

if TYPE_CHECKING:
    import imap_tools
else:
    imap_tools = lazy_module("imap_tools")

Result = TypeVar("Result")
MOST_MESSAGES = 200
MOST_MESSAGE_BYTES = 20_000_000
MOST_BYTES = 50_000_000
MOST_HEADER_BYTES = 1_000_000
MOST_RECEIVED = 2 * MOST_BYTES
"""Bytes of one session, whatever the server says."""
_COLUMNS = ["uid", "date", "from", "to", "cc", "subject", "text", "message_id", "in_reply_to", "seen", "files"]


@dataclass(frozen=True, slots=True)
class Search:
    """Which messages to read."""

    sender: str
    subject: str
    since: date | None
    unseen: bool
    most: int
    above: int | None = None
    """Only messages with a higher uid, the oldest first."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Messages of a folder, the newest first, or in the order of the search."""

    validity: str
    """What the uids are valid with."""
    uids: tuple[str, ...]


class ReadMail(Component):
    """Reads messages of a mailbox over IMAP, the newest first, with their files. By default it changes nothing."""

    label = "Read mail"
    category = "data"
    outside = True
    icon = "mail-open"
    needs_extra = "mail"
    keywords = (
        "email", "e-mail", "imap", "inbox", "mailbox", "messages", "unread", "attachments", "gmail", "outlook", "fetch",
        "search mail",
    )  # fmt: skip

    mailbox: ConnectionReference = field(
        label="Mailbox", help="A connection of the kind IMAP.", connection_kinds=("imap",)
    )
    folder: str = field(default="INBOX", label="Folder", help="The folder to read.", max_length=500)
    sender: str = field(
        default="", name="from", label="From", help="Only messages whose sender contains this text.", tool_mode=True,
        main=True, max_length=500,
    )  # fmt: skip
    subject: str = field(
        default="", label="Subject", help="Only messages whose subject contains this text.", tool_mode=True,
        max_length=500,
    )  # fmt: skip
    since: str = field(
        default="", label="Since", help="Only messages of this day or later: 2027-01-31.", tool_mode=True, max_length=40
    )
    unseen: bool = field(default=True, label="Unread only", help="Only messages that are not read.", port=False)
    most_messages: int = field(
        default=20, label="Most messages", help="The newest messages, at most this many.", ge=1, le=MOST_MESSAGES
    )
    mark_seen: bool = field(
        default=False,
        label="Mark as read",
        help="Marks the messages as read in the mailbox.",
        port=False,
    )
    timeout_seconds: float = field(
        default=60, label="Time limit", help="Maximum wait in seconds.", ge=1, le=300, advanced=True
    )
    _rows: list[dict[str, JsonValue]] | None = PrivateAttr(default=None)

    @classmethod
    def template(cls, params: Any = None) -> Any:  # noqa: ANN401 - as the base class
        """Return a template with an effect when messages are marked as read."""
        return super().template(params).model_copy(update={"effect": bool((params or {}).get("mark_seen"))})

    @output(
        help="One row per message: uid, date, from, to, cc, subject, text, message_id, in_reply_to, seen and files."
    )
    async def messages(self) -> Table:
        """Return the messages, the newest first; their files are stored."""
        rows = await self._stored()
        return Table(columns=_COLUMNS, rows=[[row[name] for name in _COLUMNS] for row in rows])

    @output(help="All files of the messages: a list of objects with id, name, media_type and size.")
    async def files(self) -> Data:
        """Return the files."""
        rows = await self._stored()
        return [file for row in rows for file in _list(row["files"])]

    @output(help="The messages as Markdown: sender, date, subject and text.")
    async def text(self) -> Text:
        """Return the messages as text."""
        return "\n\n---\n\n".join(
            f"**{row['subject']}**\nFrom {row['from']}, {row['date']}\n\n{row['text']}" for row in await self._stored()
        )

    async def _stored(self) -> list[dict[str, JsonValue]]:
        """Read once, and store the files."""
        if self._rows is None:
            connection = await self.ctx.connection(self.mailbox)
            search = Search(self.sender, self.subject, _day(self.since), self.unseen, self.most_messages)
            selection = await self._selection(connection, search) if self.mark_seen else await self.selection(search)
            rows = await self.read(selection)
            read = [str(row["uid"]) for row in rows if row["complete"]]
            if self.mark_seen and read:
                await self.mark_read(selection, read)
            self._rows = rows
            self.ctx.log("The mailbox was read.", messages=len(rows))
        return self._rows

    async def selection(self, search: Search) -> Selection:
        """Return the messages of a search."""
        connection = await self.ctx.connection(self.mailbox)
        return await self._session(connection, lambda box: _select(box, search))

    async def read(self, selection: Selection) -> list[dict[str, JsonValue]]:
        """Return messages, and store their files.

        A message that is not `complete` has its header only; one with a `problem` could not be parsed, and has nothing.
        """
        connection = await self.ctx.connection(self.mailbox)
        mails = await self._session(connection, lambda box: _messages(box, selection))
        self.ctx.mark_outside([mark("connection", connection.name)])
        rows: list[dict[str, JsonValue]] = []
        for group in grouped(mails):
            parsed = await parse(self.ctx, group)
            rows += [await self._row(mail, parts) for mail, parts in zip(group, parsed, strict=True)]
        return rows

    async def mark_read(self, selection: Selection, uids: Sequence[str]) -> None:
        """Mark messages of a selection as read."""
        connection = await self.ctx.connection(self.mailbox)
        await self._session(connection, lambda box: _mark_seen(box, selection, uids), read_only=False)

    async def _selection(self, connection: Connection, search: Search) -> Selection:
        """Return the messages to read and mark: every attempt at the step reads the same, marked already or not."""

        async def select() -> JsonValue:
            selection = await self.selection(search)
            return {"validity": selection.validity, "uids": list(selection.uids)}

        request = {"mailbox": connection.name, "folder": self.folder, **asdict(search)}
        selected = (await self.ctx.once(CallRequest.of("value", "ReadMail", request), select)).value
        stored = cast("dict[str, Any]", selected)
        return Selection(stored["validity"], tuple(stored["uids"]))

    async def _session(
        self, connection: Connection, work: "Callable[[imap_tools.BaseMailBox], Result]", *, read_only: bool = True
    ) -> Result:
        """Work on the folder, signed in, in a thread; within the time limit altogether."""
        await self.ctx.check_cancelled()
        stream = await open_socket(connection, timeout_seconds=self.timeout_seconds)
        async with closed_after(stream, self.timeout_seconds, subject="ReadMail"):
            return await wait_in_flow_thread(in_folder, connection, stream, self.folder, work, read_only=read_only)

    async def _row(self, mail: Raw, parts: dict[str, Any]) -> dict[str, JsonValue]:
        """Return the row of a message, and store its files."""
        if "problem" in parts:
            self.ctx.log("A message could not be parsed.", uid=mail.uid, problem=parts["problem"])
            parts = UNKNOWN | {"text": f"({parts['problem']})", "attachments": [], "problem": parts["problem"]}
        files: list[JsonValue] = []
        for name, media_type, content in parts.pop("attachments"):
            await self.ctx.check_cancelled()
            file = await self.ctx.files.save(name, base64.b64decode(content), media_type)
            files.append(data_of(file))
        is_complete = mail.complete and "problem" not in parts
        seen = mail.seen or (self.mark_seen and is_complete)
        return parts | {"uid": mail.uid, "seen": seen, "complete": is_complete, "files": files}


def _day(text: str) -> date | None:
    if not text.strip():
        return None
    try:
        return date.fromisoformat(text.strip()[:10])
    except ValueError as error:
        raise ComponentError(
            f"ReadMail: {clipped(text, 40)!r} is not a date.", remedy="Write it as 2027-01-31.", field="since"
        ) from error


def in_folder(
    connection: Connection,
    stream: socket.socket,
    folder: str,
    work: "Callable[[imap_tools.BaseMailBox], Result]",
    *,
    read_only: bool,
) -> Result:
    """Work on a folder over a connected socket. Blocking. Raises `ComponentError`, `UpstreamFailed`."""
    host = connection.text("host")
    try:
        with stream:
            box = _mailbox(connection, stream)
            try:
                box.folder.set(folder, readonly=read_only)
                return work(box)
            finally:
                box.client.shutdown()
    except imap_tools.MailboxLoginError as error:
        raise ComponentError(
            f"ReadMail: {host} did not accept the user and password of '{connection.name}'.",
            remedy="Correct the connection.",
            field="mailbox",
        ) from error
    except imap_tools.MailboxFolderSelectError as error:
        raise ComponentError(
            f"ReadMail: there is no folder '{clipped(folder, 60)}'.",
            remedy="Correct the folder.",
            field="folder",
        ) from error
    except (imaplib.IMAP4.error, imap_tools.ImapToolsError, OSError, ValueError) as error:
        raise UpstreamFailed(
            f"ReadMail: {host} failed: {clipped(str(error) or type(error).__name__, 200)}.",
            remedy="Check host, port and security of the connection.",
        ) from error


def _mailbox(connection: Connection, stream: socket.socket) -> "imap_tools.BaseMailBox":
    """Return a mailbox, signed in over a socket of ours."""
    host, security = connection.text("host"), connection.text("security", "tls")
    context = None if security == "none" else ssl.create_default_context()

    class Client(imaplib.IMAP4):
        def _create_socket(self, timeout: float | None) -> socket.socket:
            del timeout  # it was connected within its time
            if context is not None and security == "tls":
                return context.wrap_socket(stream, server_hostname=host)
            return stream

        def read(self, size: int) -> bytes:
            self._count(size)
            return super().read(size)

        def readline(self) -> bytes:
            line = super().readline()
            self._count(len(line))
            return line

        def _count(self, size: int) -> None:
            """Raise for more than a mailbox may send: the server says how much comes next."""
            self._received = getattr(self, "_received", 0) + size
            if self._received > MOST_RECEIVED:
                raise self.error(f"it sends more than {MOST_RECEIVED // 1_000_000} MB")

    class Box(imap_tools.BaseMailBox):
        def _get_mailbox_client(self) -> imaplib.IMAP4:
            client = Client(host, connection.number("port"))
            if context is not None and security == "starttls":
                client.starttls(context)
            return client

    box = Box()
    try:
        box.login(connection.text("user"), connection.secret("password"), initial_folder=None)
    except BaseException:
        box.client.shutdown()
        raise
    return box


def _select(box: "imap_tools.BaseMailBox", search: Search) -> Selection:
    """Return the messages of a search."""
    uids = sorted(box.uids(_criteria(search), charset="UTF-8"), key=int, reverse=search.above is None)
    if search.above is not None:  # `above + 1:*` always includes the last message
        uids = [uid for uid in uids if int(uid) > search.above]
    return Selection(validity(box), tuple(uids[: search.most]))


def validity(box: "imap_tools.BaseMailBox", name: str = "UIDVALIDITY") -> str:
    """Return what the uids of the selected folder are valid with (RFC 3501, 2.3.1.1), or its `UIDNEXT`."""
    (value, *_) = box.client.untagged_responses.get(name, [b""])
    return value.decode("ascii", "replace") if isinstance(value, bytes) else ""


def _require_valid(box: "imap_tools.BaseMailBox", selection: Selection) -> None:
    if validity(box) != selection.validity:
        raise UpstreamFailed("ReadMail: the server has numbered the messages of the folder again.", remedy="Try again.")


def _messages(box: "imap_tools.BaseMailBox", selection: Selection) -> list[Raw]:
    """Return messages within the limits; of larger ones only the header."""
    _require_valid(box, selection)
    sizes = _sizes(box, selection.uids)
    messages: list[Raw] = []
    remaining = MOST_BYTES
    for uid in selection.uids:
        fits = sizes.get(uid, MOST_MESSAGE_BYTES + 1) <= min(MOST_MESSAGE_BYTES, remaining)
        messages += _fetched(box, uid, "" if fits else "HEADER", MOST_MESSAGE_BYTES if fits else MOST_HEADER_BYTES)
        remaining -= sum(len(raw.content) for raw in messages[-1:] if raw.uid == uid)
    return messages


def _mark_seen(box: "imap_tools.BaseMailBox", selection: Selection, uids: Sequence[str]) -> None:
    """Mark messages as read."""
    _require_valid(box, selection)
    box.flag(list(uids), imap_tools.MailMessageFlags.SEEN, value=True)


def _fetched(box: "imap_tools.BaseMailBox", uid: str, section: str, most: int) -> list[Raw]:
    """Return a message, or nothing when it has gone; it is not marked as read."""
    _, parts = box.client.uid("fetch", uid, f"(FLAGS BODY.PEEK[{section}]<0.{most}>)")
    for part in parts:
        if isinstance(part, tuple) and len(part) == 2:
            seen = b"\\Seen" in b" ".join(piece if isinstance(piece, bytes) else piece[0] for piece in parts if piece)
            return [Raw(uid, seen, not section, part[1])]
    return []


def _criteria(search: Search) -> Any:  # noqa: ANN401 - a lazily imported type
    """Return the search; the library quotes its texts."""
    conditions: dict[str, Any] = {}
    if search.sender.strip():
        conditions["from_"] = search.sender.strip()
    if search.subject.strip():
        conditions["subject"] = search.subject.strip()
    if search.since is not None:
        conditions["date_gte"] = search.since
    if search.unseen:
        conditions["seen"] = False
    if search.above is not None:
        conditions["uid"] = imap_tools.U(str(search.above + 1), "*")
    for text in conditions.values():
        if isinstance(text, str) and any(char in text for char in "\r\n\0"):
            raise ComponentError("ReadMail: a search text has a line break.", remedy="Remove it.", field="subject")
    return imap_tools.AND(**conditions) if conditions else "ALL"


def _sizes(box: "imap_tools.BaseMailBox", uids: Sequence[str]) -> dict[str, int]:
    """Return the size of each message, before any is fetched."""
    if not uids:
        return {}
    _, lines = box.client.uid("fetch", ",".join(uids), "(UID RFC822.SIZE)")
    sizes: dict[str, int] = {}
    for line in lines:
        words = (line if isinstance(line, bytes) else b"").replace(b"(", b" ").replace(b")", b" ").split()
        if b"UID" in words and b"RFC822.SIZE" in words:
            uid, size = words[words.index(b"UID") + 1], words[words.index(b"RFC822.SIZE") + 1]
            if size.isdigit():
                sizes[uid.decode("ascii", "replace")] = int(size)
    return sizes


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
