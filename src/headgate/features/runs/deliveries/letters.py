"""Letters of Headgate itself by mail and chat, through a connection: notices of approvals and of alerts."""

import re
import unicodedata
from dataclasses import dataclass

from headgate.components.isolated.calls import TenantIsolation
from headgate.components.mail.messages import MOST_RECIPIENTS, build
from headgate.components.mail.notifying import send_notification
from headgate.components.mail.sending import send_message
from headgate.features.runs.deliveries.attempt import Outcome
from headgate.foundation.errors import Invalid
from headgate.foundation.extras import require_extra
from headgate.graph.names import clipped
from headgate.sdk import Connection

SECONDS = 30.0
"""Time limit of each exchange with the server."""
LONGEST_TITLE = 200
_JOINERS = "\u200c\u200d"
"""Invisible, and part of words and emoji."""
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_MARKUP = re.compile(r"([\\`*_\[\]()<>#|~!])")


@dataclass(frozen=True, slots=True)
class Letter:
    """What a notice shows."""

    title: str
    lines: tuple[tuple[str, str], ...]
    url: str

    @property
    def text(self) -> str:
        """Plain text, for mail."""
        return "\n".join([self.title, "", *(f"{name}: {value}" for name, value in self.lines), "", self.url]).strip()

    @property
    def markdown(self) -> str:
        """Markdown, for chat; markup in texts of the flow is shown as text."""
        lines = [f"{name}: {_plain(value)}  " for name, value in self.lines]
        return "\n".join([*lines, self.url]).strip()


async def send_mail(
    connection: Connection, letter: Letter, recipients: tuple[str, ...], key: str, *, remedy: str
) -> Outcome:
    """Send a letter by mail, once. Raises `Invalid` with the remedy unless 1 to `MOST_RECIPIENTS` receive it."""
    require_extra("mail", "A notice by mail")
    if not 1 <= len(recipients) <= MOST_RECIPIENTS:
        raise Invalid(
            f"The notice is for {len(recipients)} users with a mail address; 1 to {MOST_RECIPIENTS} are possible.",
            remedy=remedy,
        )
    message, envelope = build(
        sender=connection.text("sender") or connection.text("user"),
        recipients={"to": recipients[0]} if len(recipients) == 1 else {"bcc": ", ".join(recipients)},
        subject=letter.title,
        body=letter.text,
        html=False,
        attachments=(),
        reply={},
        key=key,
    )
    refused = await send_message(connection, message, envelope, SECONDS)
    problem = f"The server refused {', '.join(sorted(refused))}." if refused else None
    return Outcome(delivered=True, final=True, message=problem)


async def send_chat(isolation: TenantIsolation, connection: Connection, letter: Letter) -> Outcome:
    """Send a letter to a chat service, once."""
    require_extra("notify", "A notice by chat")
    await send_notification(
        isolation, connection, title=letter.title, text=letter.markdown, timeout_seconds=SECONDS, check=_nothing
    )
    return Outcome(delivered=True, final=True)


async def _nothing() -> None:
    """Check nothing between two requests: the notice belongs to no running step."""


def _plain(text: str) -> str:
    return _MARKUP.sub(r"\\\1", text)


def one_line(text: str) -> str:
    """Return one line without invisible characters, which could reorder or hide what a reader sees."""
    seen = "".join(char for char in str(text) if unicodedata.category(char) != "Cf" or char in _JOINERS)
    return clipped(" ".join(_CONTROLS.sub(" ", seen).split()), LONGEST_TITLE)
