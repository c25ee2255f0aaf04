"""Notices of approvals by mail and chat, through a connection of the flow's space.

A notice holds the question, who asks, the deadline and a link. The question is omitted where the connection may not
carry the classification of what the approval shows; the value is never part of it.
"""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from headgate.components.isolated.calls import TenantIsolation
from headgate.features.runs.approvals import repository
from headgate.features.runs.approvals.sealed import unseal
from headgate.features.runs.approvals.tables import ApprovalNoticeRow
from headgate.features.runs.approvals.views import deciders_of
from headgate.features.runs.approvals.words import WORDS, Language
from headgate.features.runs.deliveries.attempt import Outcome, outcome_of
from headgate.features.runs.deliveries.letters import LONGEST_TITLE, Letter, one_line, send_chat, send_mail
from headgate.features.runs.ports.flows import Sealer, SecurityClasses
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.ports.services import CodeRunners, Connections
from headgate.foundation.database import Database, moment
from headgate.foundation.errors import HeadgateError, Invalid
from headgate.graph.connection_reference import ConnectionReference
from headgate.graph.names import clipped
from headgate.sdk import Connection
from headgate.sdk.approvals import NOTICE_KINDS

_FEWER = "Assign the approval to fewer users, or to users with an address."


class Post(BaseModel):
    """What is stored encrypted of a notice through a connection: the address of a one-time link, until it is sent.

    `language` is that of the step when the notice was stored.
    """

    model_config = ConfigDict(frozen=True)

    link_url: str = ""
    language: Language = "en"


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
            return await send_mail(connection, letter, recipients, notice.idempotency_key, remedy=_FEWER)
        if post.link_url:
            raise Invalid(
                f"The connection '{name}' sends to a chat, where a one-time link is not for one reader only.",
                remedy="Copy the link and send it yourself, or use a connection of the kind SMTP.",
            )
        return await send_chat(TenantIsolation(self.isolated, notice.tenant_id), connection, letter)

    def _letter(self, kind: str, row: Any, post: Post, connection: Connection) -> Letter:  # noqa: ANN401 - a row
        approval = row[0]
        words = WORDS[post.language]
        headline = words[kind]
        content = unseal(self.box, approval.content)
        asked = words["tool"].format(tool=approval.tool) if approval.tool else str(content["question"])
        title = f"{headline}: {one_line(asked)}" if self._may_carry(connection, approval.classification) else headline
        lines = [
            (words["flow"], one_line(row.flow_name)),
            (words["by"], one_line(row.starter_name) or words["visitor"]),
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
