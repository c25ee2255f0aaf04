"""The component that sends mail."""

import asyncio
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue

from headgate.components.mail.messages import Envelope, addresses, build, require_size
from headgate.components.sockets import open_socket
from headgate.foundation.errors import UpstreamFailed
from headgate.foundation.lazy import lazy_module
from headgate.graph.names import clipped
from headgate.graph.template import FieldKind
from headgate.sdk import (
    Component,
    ComponentError,
    Connection,
    ConnectionReference,
    Data,
    File,
    Message,
    Table,
    field,
    output,
)
from headgate.sdk.calls import CallRequest
from headgate.sdk.coerce import text_of

if TYPE_CHECKING:
    from email.message import EmailMessage

    import aiosmtplib
else:
    aiosmtplib = lazy_module("aiosmtplib")


class SendMail(Component):
    """Sends a mail over SMTP: Markdown as text and HTML, with files. Every attempt of a run has one Message-ID."""

    label = "Send mail"
    category = "output"
    outside = True
    effect = True
    icon = "mail"
    needs_extra = "mail"
    keywords = (
        "email", "e-mail", "smtp", "send", "message", "notify", "reply", "attachment", "gmail", "outlook", "newsletter",
        "report", "html mail",
    )  # fmt: skip

    server: ConnectionReference = field(
        label="Server", help="A connection of the kind SMTP.", connection_kinds=("smtp",)
    )
    to: str = field(label="To", help="Addresses, separated by commas.", tool_mode=True, max_length=10_000)
    subject: str = field(label="Subject", help="The subject.", tool_mode=True, max_length=500)
    body: str | Message | Table | Data = field(
        label="Text", help="The message in Markdown; a table becomes one.", main=True, tool_mode=True,
        kind=FieldKind.MULTILINE,
    )  # fmt: skip
    attachments: list[File] = field(
        default_factory=list,
        label="Attachments",
        help="Files to attach; an image that the text shows by name is inline.",
        many=True,
    )
    cc: str = field(default="", label="Cc", help="Addresses of copies.", advanced=True, max_length=10_000)
    bcc: str = field(default="", label="Bcc", help="Addresses of hidden copies.", advanced=True, max_length=10_000)
    reply_to: str = field(
        default="", label="Reply to", help="Address that answers go to; empty is the sender.", advanced=True,
        max_length=500,
    )  # fmt: skip
    in_reply_to: str = field(
        default="", label="In reply to", help="Message-ID of the mail that this one answers.", advanced=True,
        max_length=500,
    )  # fmt: skip
    html: bool = field(
        default=True, label="HTML", help="Send an HTML version besides the text.", port=False, advanced=True
    )
    timeout_seconds: float = field(
        default=60, label="Time limit", help="Maximum wait in seconds.", ge=1, le=300, advanced=True
    )

    @output(help="message_id, recipients, and refused: addresses that the server did not accept.")
    async def data(self) -> Data:
        """Send the message. A later attempt at an interrupted step reuses a stored answer."""
        require_size(sum(file.size for file in self.attachments))
        contents = [(file, await self.ctx.files.read(file)) for file in self.attachments]
        connection = await self.ctx.connection(self.server)
        body = self.body.text if isinstance(self.body, Message) else text_of(self.body)
        message, envelope = build(
            sender=connection.text("sender") or connection.text("user"),
            recipients={"to": self.to, "cc": self.cc, "bcc": self.bcc},
            subject=self.subject,
            body=body,
            html=self.html,
            attachments=contents,
            reply={"reply_to": self.reply_to, "in_reply_to": self.in_reply_to},
            key=self.ctx.idempotency_key(),
        )
        await self.ctx.check_cancelled()
        answers = [address.addr_spec for address in addresses(self.reply_to, field="reply_to")]
        self.ctx.check_effect(connection.text("host"), [*envelope.recipients, *answers])

        async def send() -> JsonValue:
            refused = await send_message(connection, message, envelope, self.timeout_seconds)
            accepted = [address for address in envelope.recipients if address not in refused]
            self.ctx.log("The mail was sent.", recipients=len(accepted), refused=len(refused))
            return {
                "message_id": str(message["Message-ID"]),
                "recipients": cast("JsonValue", accepted),
                "refused": cast("JsonValue", sorted(refused)),
            }

        request = {"message_id": str(message["Message-ID"]), "recipients": list(envelope.recipients)}
        return (await self.ctx.once(CallRequest.of("value", "SendMail", request), send)).value


async def send_message(
    connection: Connection, message: "EmailMessage", envelope: Envelope, timeout_seconds: float
) -> set[str]:
    """Send a message to the server of a connection and return the refused recipients.

    Raises `ComponentError` when the server refuses the user or the message, `UpstreamFailed` when it fails.
    """
    host, security = connection.text("host"), connection.text("security", "starttls")
    stream = await open_socket(connection, timeout_seconds=timeout_seconds)
    stream.settimeout(0)
    client = aiosmtplib.SMTP(
        hostname=host,
        sock=stream,
        local_hostname="headgate",
        timeout=timeout_seconds,
        use_tls=security == "tls",
        start_tls=security == "starttls",
        username=connection.text("user") or None,
        password=connection.secret("password") or None,
    )
    try:
        async with client:
            refused, _ = await client.send_message(
                message, sender=envelope.sender, recipients=list(envelope.recipients)
            )
    except (aiosmtplib.SMTPAuthenticationError, aiosmtplib.SMTPNotSupported) as error:
        raise ComponentError(
            f"SendMail: {host} did not accept the user and password of '{connection.name}'.",
            remedy="Correct the connection.",
            field="server",
        ) from error
    except (aiosmtplib.SMTPRecipientsRefused, aiosmtplib.SMTPSenderRefused, aiosmtplib.SMTPDataError) as error:
        raise _refused(error, host) from error
    except (aiosmtplib.SMTPException, OSError, asyncio.IncompleteReadError) as error:
        raise UpstreamFailed(
            f"SendMail: {host} failed: {clipped(str(error) or type(error).__name__, 200)}.",
            remedy="Check host, port and security of the connection.",
        ) from error
    return set(refused)


def _refused(error: Exception, host: str) -> ComponentError | UpstreamFailed:
    """Return the error of a refused message: temporary refusals (4xx) may be repeated."""
    many = getattr(error, "recipients", None)
    first = many[0] if isinstance(many, list) and many else error
    code, text = int(getattr(first, "code", 0) or 0), clipped(str(getattr(first, "message", "") or first), 200)
    detail = f"SendMail: {host} refused the message: {code} {text}."
    if 400 <= code < 500:
        return UpstreamFailed(detail, remedy="Try again later.")
    return ComponentError(detail, remedy="Check the addresses and the size of the message.", field="to")
