"""Reads mail messages (MIME). Run it in a separate process."""

import base64
from collections.abc import Mapping
from datetime import datetime
from mimetypes import guess_type
from typing import TYPE_CHECKING, Any, cast

from pydantic import JsonValue

from headgate.components.files.file_names import safe_name
from headgate.components.readers.document import Document, Unreadable
from headgate.foundation.extras import ExtraNotInstalled, is_installed
from headgate.foundation.lazy import lazy_module
from headgate.graph.names import clipped
from headgate.sdk.coerce import clean_text

if TYPE_CHECKING:
    import bs4
else:
    bs4 = lazy_module("bs4")

LONGEST_TEXT = 200_000
MOST_FILES = 50
MESSAGE = "message/rfc822"
NO_DATE = datetime(1900, 1, 1)  # noqa: DTZ001 - what the library returns for a missing or invalid date
_HEADER = ("from", "to", "cc", "date", "subject")


def read_mail(content: bytes, *, name: str) -> Document:
    """Return a message as Markdown: its header and text. Its attachments are named, and not read.

    Raises `Unreadable`.
    """
    message = parse_mail(content, complete=True, name=name)
    names: list[JsonValue] = [clean_text(entry[0]) for entry in cast("list[Any]", message["attachments"])]
    notes = (f"Attachments that are not read: {', '.join(map(str, names))}.",) if names else ()
    return Document(message_text(message), message | {"attachments": names}, notes=notes)


def message_text(message: Mapping[str, Any]) -> str:
    """Return a parsed message as Markdown: subject, header and text."""
    values = {name: message[name] for name in _HEADER}
    shown = {name: ", ".join(value) if isinstance(value, list) else value for name, value in values.items()}
    header = "\n".join(f"{name.capitalize()}: {value}" for name, value in shown.items() if value)
    return f"# {message['subject'] or 'Message'}\n\n{header}\n\n{message['text']}"


def parse_mail(content: bytes, *, complete: bool, name: str = "A message") -> dict[str, JsonValue]:
    """Return a message: date, from, to, cc, subject, text, message_id, in_reply_to and attachments.

    An attachment is `[name, media type, content in base64]`; `omitted` counts those beyond `MOST_FILES`. An attached
    message is one attachment, with its own text and attachments in it. The text is the plain version, or that of the
    HTML.

    Args:
        content: The message, or its header.
        complete: Whether it is more than the header.
        name: What it is called in errors.

    Raises:
        Unreadable: It cannot be parsed.
    """
    if not is_installed("mail"):
        missing = ExtraNotInstalled("mail", f"'{name}'")
        raise Unreadable(missing.detail, remedy=missing.remedy)
    from imap_tools import MailMessage  # noqa: PLC0415 - an optional library

    try:
        message: Any = MailMessage.from_bytes(content)
        parts = _own_attachments(message) if complete else []
        attachments: list[JsonValue] = [_attachment(part) for part in parts[:MOST_FILES]]
        for part in parts:
            if part.content_type == MESSAGE:  # its text is not that of this message
                part.part.set_payload([])
        text = message.text or _plain(message.html)
        return {
            "date": "" if message.date == NO_DATE else message.date.isoformat(),
            "from": clean_text(message.from_),
            "to": [clean_text(address) for address in message.to],
            "cc": [clean_text(address) for address in message.cc],
            "subject": clean_text(message.subject),
            "text": clean_text(text[:LONGEST_TEXT]) if complete else "(The message is too large to be read.)",
            "message_id": _header(message, "message-id"),
            "in_reply_to": _header(message, "in-reply-to"),
            "attachments": attachments,
            "omitted": max(0, len(parts) - MOST_FILES),
        }
    except Exception as error:  # the error depends on where the message is damaged
        raise Unreadable(f"{name} cannot be parsed: {clipped(str(error), 200)}.") from error


def _own_attachments(message: Any) -> list[Any]:  # noqa: ANN401 - a lazily imported type
    """Return the attachments of a message without those of attached messages."""
    inner = {
        id(part)
        for outer in message.obj.walk()
        if outer.get_content_type() == MESSAGE
        for part in outer.walk()
        if part is not outer
    }
    return [attachment for attachment in message.attachments if id(attachment.part) not in inner]


def _attachment(part: Any) -> list[JsonValue]:  # noqa: ANN401 - a lazily imported type
    name = safe_name(part.filename or ("message.eml" if part.content_type == MESSAGE else "file"), default="file")
    media_type = part.content_type or guess_type(name)[0] or "application/octet-stream"
    return [name, media_type, base64.b64encode(part.payload).decode()]


def _header(message: Any, name: str) -> str | None:  # noqa: ANN401
    values = message.headers.get(name) or ()
    return clean_text(" ".join(values[0].split())) if values else None


def _plain(html: str) -> str:
    if not html:
        return ""
    soup = bs4.BeautifulSoup(html[: 5 * LONGEST_TEXT], "lxml")
    for tag in soup(["script", "style", "head"]):
        tag.decompose()
    return soup.get_text("\n", strip=True)
