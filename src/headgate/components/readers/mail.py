"""Parses mail messages (MIME). Run it in a separate process."""

import base64
from mimetypes import guess_type
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from headgate.components.files.file_names import safe_name
from headgate.components.readers.document import Unreadable
from headgate.foundation.lazy import lazy_module
from headgate.graph.names import clipped
from headgate.sdk.coerce import clean_text

if TYPE_CHECKING:
    import bs4
else:
    bs4 = lazy_module("bs4")

LONGEST_TEXT = 200_000
MOST_FILES = 50


def parse_mail(content: bytes, *, complete: bool) -> dict[str, JsonValue]:
    """Return a message: date, from, to, cc, subject, text, message_id, in_reply_to and attachments.

    An attachment is `[name, media type, content in base64]`. The text is the plain version, or that of the HTML.

    Args:
        content: The message, or its header.
        complete: Whether it is more than the header.

    Raises:
        Unreadable: It cannot be parsed.
    """
    from imap_tools import MailMessage  # noqa: PLC0415 - an optional library

    message: Any = MailMessage.from_bytes(content)
    try:
        text = message.text or _plain(message.html)
        attachments = [_attachment(part) for part in message.attachments[:MOST_FILES]] if complete else []
        return {
            "date": message.date.isoformat(),
            "from": clean_text(message.from_),
            "to": [clean_text(address) for address in message.to],
            "cc": [clean_text(address) for address in message.cc],
            "subject": clean_text(message.subject),
            "text": clean_text(text[:LONGEST_TEXT]) if complete else "(The message is too large to be read.)",
            "message_id": _header(message, "message-id"),
            "in_reply_to": _header(message, "in-reply-to"),
            "attachments": attachments,
        }
    except Exception as error:  # the error depends on where the message is damaged
        raise Unreadable(f"A message cannot be parsed: {clipped(str(error), 200)}.") from error


def _attachment(part: Any) -> list[JsonValue]:  # noqa: ANN401 - a lazily imported type
    name = safe_name(part.filename or "file", default="file")
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
