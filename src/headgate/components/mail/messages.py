"""Builds mail messages: plain text and HTML of Markdown, attachments, one Message-ID for every attempt."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime, getaddresses
from mimetypes import guess_extension

from headgate.components.clock import current_time
from headgate.graph.names import clipped
from headgate.sdk import ComponentError, File

MOST_RECIPIENTS = 100
MOST_BYTES = 25_000_000
"""Maximum size of all attachments; larger messages are refused by most servers."""
_CONTROL = re.compile(r"[\r\n\x00-\x1f\x7f]")
_ADDRESS = re.compile(r"(?P<user>[^\s@<>(),;:\"\[\]\\]{1,64})@(?P<domain>[\w](?:[\w.-]{0,250}[\w])?)")
_STYLE = "font-family:system-ui,sans-serif;line-height:1.5"


@dataclass(frozen=True, slots=True)
class Envelope:
    """Who a message is from and for, checked."""

    sender: str
    recipients: tuple[str, ...]
    """Addresses of To, Cc and Bcc, each once."""


def addresses(text: str, *, field: str) -> tuple[Address, ...]:
    """Return the addresses of a text such as `Ann <ann@example.org>, bo@example.org`.

    Raises `ComponentError` for anything that is no address, line breaks included: they would add headers.
    """
    if not text.strip():
        return ()
    mailboxes: list[Address] = []
    for name, address in getaddresses([text.replace(";", ",")]):
        match = _ADDRESS.fullmatch(address)
        if match is None or "@" in name or _CONTROL.search(text):
            raise ComponentError(
                f"SendMail: {clipped(text, 80)!r} is not a list of addresses.",
                remedy="Write addresses as ann@example.org, separated by commas.",
                field=field,
            )
        mailboxes.append(Address(name, match["user"], match["domain"]))
    return tuple(mailboxes)


def build(
    *,
    sender: str,
    recipients: Mapping[str, str],
    subject: str,
    body: str,
    html: bool,
    attachments: Sequence[tuple[File, bytes]],
    reply: Mapping[str, str],
    key: str,
) -> tuple[EmailMessage, Envelope]:
    """Return a message and its envelope.

    Args:
        sender: Address of the sender.
        recipients: `to`, `cc` and `bcc`; Bcc is in the envelope only.
        subject: The subject; line breaks become spaces.
        body: Markdown.
        html: Whether to add an HTML version.
        attachments: Files and their contents. An image that the body refers to by name is shown inline.
        reply: `reply_to` and `in_reply_to`, empty when not used.
        key: Unique for the step of the run: the Message-ID is derived from it.

    Raises:
        ComponentError: An address is not valid, there are no or too many recipients, or the files are too large.
    """
    origin = addresses(sender, field="server")
    by_field = {name: addresses(text, field=name) for name, text in recipients.items()}
    everyone = tuple(dict.fromkeys(mailbox.addr_spec for group in by_field.values() for mailbox in group))
    _require_bounds(origin, everyone, attachments)
    message = EmailMessage()
    message["From"] = origin[0]
    for name, header in (("to", "To"), ("cc", "Cc")):
        if by_field.get(name):
            message[header] = by_field[name]
    message["Subject"] = " ".join(_CONTROL.sub(" ", subject).split())
    message["Date"] = format_datetime(current_time())
    digest = hashlib.sha256(key.encode()).hexdigest()[:32]
    message["Message-ID"] = f"<{digest}@{origin[0].domain}>"
    if reply.get("reply_to"):
        message["Reply-To"] = addresses(reply["reply_to"], field="reply_to")
    if reply.get("in_reply_to"):
        parent = _message_id(reply["in_reply_to"])
        message["In-Reply-To"] = parent
        message["References"] = parent
    inline = _fill(message, body, html=html, attachments=attachments, digest=digest)
    for file, content in attachments:
        if file.id not in inline:
            main, _, sub = (file.media_type.partition(";")[0] or "application/octet-stream").partition("/")
            message.add_attachment(content, maintype=main, subtype=sub or "octet-stream", filename=_file_name(file))
    return message, Envelope(origin[0].addr_spec, everyone)


def _require_bounds(
    origin: Sequence[Address], everyone: Sequence[str], attachments: Sequence[tuple[File, bytes]]
) -> None:
    if len(origin) != 1:
        raise ComponentError("SendMail: the connection names no sender.", remedy="Set its sender.", field="server")
    if not everyone:
        raise ComponentError("SendMail: there are no recipients.", remedy="Fill 'to'.", field="to")
    if len(everyone) > MOST_RECIPIENTS:
        raise ComponentError(f"SendMail: more than {MOST_RECIPIENTS} recipients.", remedy="Use ForEach.", field="to")
    require_size(sum(len(content) for _, content in attachments))


def require_size(size: int) -> None:
    """Raise `ComponentError` for attachments that are too large together."""
    if size > MOST_BYTES:
        raise ComponentError(f"SendMail: the files have more than {MOST_BYTES} bytes.", remedy="Send links instead.")


def _fill(
    message: EmailMessage, body: str, *, html: bool, attachments: Sequence[tuple[File, bytes]], digest: str
) -> set[str]:
    """Set the body; return the ids of files that are shown inline."""
    message.set_content(body)
    if not html:
        return set()
    markup = to_html(body)
    inline = [(file, content) for file, content in attachments if file.media_type.startswith("image/")]
    inline = [(file, content) for file, content in inline if f'src="{file.name}"' in markup]
    for number, (file, _) in enumerate(inline):
        markup = markup.replace(f'src="{file.name}"', f'src="cid:{digest}.{number}"')
    message.add_alternative(f'<html><body style="{_STYLE}">{markup}</body></html>', subtype="html")
    part = message.get_body(("html",))
    for number, (file, content) in enumerate(inline):
        if part is not None:
            subtype = file.media_type.partition(";")[0].partition("/")[2]
            part.add_related(content, "image", subtype, cid=f"<{digest}.{number}>", filename=_file_name(file))
    return {file.id for file, _ in inline}


def to_html(markdown: str) -> str:
    """Return the HTML of Markdown; HTML in it is shown as text, and links lead to web and mail addresses only."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - used by few flows

    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
    rendered: str = parser.render(markdown)
    return rendered


def _message_id(text: str) -> str:
    match = re.fullmatch(r"<?([^\s<>@]{1,200}@[^\s<>@]{1,200})>?", text.strip())
    if match is None:
        raise ComponentError(
            f"SendMail: {clipped(text, 80)!r} is not a Message-ID.",
            remedy="Use the id of a message that ReadMail returned.",
            field="in_reply_to",
        )
    return f"<{match[1]}>"


def _file_name(file: File) -> str:
    name = _CONTROL.sub("", file.name)
    return name or f"file{guess_extension(file.media_type) or ''}"
