"""Notices of approvals by mail and chat, through a connection of the flow's space.

A notice holds the question, who asks, the deadline and a link. The question is omitted where the connection may not
carry the classification of what the approval shows; the value is never part of it.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from headgate.components.isolated.calls import TenantIsolation
from headgate.components.mail.messages import MOST_RECIPIENTS, build
from headgate.components.mail.notifying import send_notification
from headgate.components.mail.sending import send_message
from headgate.features.runs.approvals import repository
from headgate.features.runs.approvals.sealed import unseal
from headgate.features.runs.approvals.tables import ApprovalNoticeRow
from headgate.features.runs.approvals.views import deciders_of
from headgate.features.runs.approvals.words import WORDS, Language
from headgate.features.runs.deliveries.attempt import Outcome, outcome_of
from headgate.features.runs.ports.flows import Sealer, SecurityClasses
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.ports.services import CodeRunners, Connections
from headgate.foundation.database import Database, moment
from headgate.foundation.errors import HeadgateError, Invalid
from headgate.foundation.extras import require_extra
from headgate.graph.connection_reference import ConnectionReference
from headgate.graph.names import clipped
from headgate.sdk import Connection
from headgate.sdk.approvals import NOTICE_KINDS

SECONDS = 30.0
"""Time limit of each exchange with the server."""
LONGEST_TITLE = 200
_JOINERS = "\u200c\u200d"
"""Invisible, and part of words and emoji."""
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_MARKUP = re.compile(r"([\\`*_\[\]()<>#|~!])")


class Post(BaseModel):
    """What is stored encrypted of a notice through a connection: the address of a one-time link, until it is sent.

    `language` is that of the step when the notice was stored.
    """

    model_config = ConfigDict(frozen=True)

    link_url: str = ""
    language: Language = "en"


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


@dataclass(frozen=True, slots=True)
class Poster:
    """Sends notices through connections.

    Args:
        database: Holds approvals and users.
        box: Decrypts the question.
        connections: Opens the connection.
        isolated: Processes that prepare the requests of chat services.
        classes: Classifications; None when they are disabled.
        public_url: Address of the page, for links.
    """

    database: Database
    box: Sealer
    connections: Connections
    isolated: CodeRunners
    classes: SecurityClasses | None
    public_url: str

    async def attempt(self, notice: ApprovalNoticeRow, post: Post, origin: Origin) -> Outcome:
        """Send a notice once. Errors are returned as the outcome; nothing is raised."""
        try:
            return await self._send(notice, post, origin)
        except HeadgateError as error:
            return outcome_of(error)

    async def _send(self, notice: ApprovalNoticeRow, post: Post, origin: Origin) -> Outcome:
        name = str(notice.connection)
        connection = await self.connections.open(origin, name)
        connection.require_kind(ConnectionReference(name, NOTICE_KINDS))
        async with self.database.reading() as session:
            row = await repository.find_approval(session, notice.approval_id, tenant_id=notice.tenant_id)
            if row is None:
                raise Invalid("The approval is gone.")
            approval = row[0]
            users = await repository.list_recipients(
                session,
                approval.id,
                deciders_of(approval),
                tenant_id=approval.tenant_id,
                space_id=approval.space_id,
                besides=approval.barred_user_id,
            )
        letter = self._letter(notice.kind, row, post, connection)
        if connection.kind == "smtp":
            recipients = (notice.url_shown,) if post.link_url else users
            return await self._mail(connection, letter, recipients, notice.idempotency_key)
        if post.link_url:
            raise Invalid(
                f"The connection '{name}' sends to a chat, where a one-time link is not for one reader only.",
                remedy="Copy the link and send it yourself, or use a connection of the kind SMTP.",
            )
        require_extra("notify", "A notice by chat")
        await send_notification(
            TenantIsolation(self.isolated, notice.tenant_id),
            connection,
            title=letter.title,
            text=letter.markdown,
            timeout_seconds=SECONDS,
            check=_nothing,
        )
        return Outcome(delivered=True, final=True)

    async def _mail(self, connection: Connection, letter: Letter, recipients: tuple[str, ...], key: str) -> Outcome:
        require_extra("mail", "A notice by mail")
        if not 1 <= len(recipients) <= MOST_RECIPIENTS:
            raise Invalid(
                f"The notice is for {len(recipients)} users with a mail address; 1 to {MOST_RECIPIENTS} are possible.",
                remedy="Assign the approval to fewer users, or to users with an address.",
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

    def _letter(self, kind: str, row: Any, post: Post, connection: Connection) -> Letter:  # noqa: ANN401 - a row
        approval = row[0]
        words = WORDS[post.language]
        headline = words[kind]
        content = unseal(self.box, approval.content)
        asked = words["tool"].format(tool=approval.tool) if approval.tool else str(content["question"])
        title = f"{headline}: {_line(asked)}" if self._may_carry(connection, approval.classification) else headline
        lines = [
            (words["flow"], _line(row.flow_name)),
            (words["by"], _line(row.starter_name) or words["visitor"]),
        ]
        if approval.due_at is not None:
            lines.append((words["before"], f"{moment(approval.due_at):%Y-%m-%d %H:%M} UTC"))
        page = f"{self.public_url.rstrip('/')}/inbox/{approval.id}" if self.public_url else ""
        if not (post.link_url or page):
            lines.append((words["approval"], approval.id))
        return Letter(clipped(title, LONGEST_TITLE), tuple(lines), post.link_url or page)

    def _may_carry(self, connection: Connection, level: int | None) -> bool:
        """Return whether the connection may carry the question of an approval with this classification."""
        if self.classes is None:
            return True
        limit = self.classes.scheme.external_max if connection.classification is None else connection.classification
        return level is not None and level <= limit


async def _nothing() -> None:
    """Check nothing between two requests: the notice belongs to no running step."""


def _plain(text: str) -> str:
    return _MARKUP.sub(r"\\\1", text)


def _line(text: str) -> str:
    """Return one line without invisible characters, which could reorder or hide what a reader sees."""
    seen = "".join(char for char in str(text) if unicodedata.category(char) != "Cf" or char in _JOINERS)
    return clipped(" ".join(_CONTROLS.sub(" ", seen).split()), LONGEST_TITLE)
