"""Sends notices of alerts through connections and webhooks, as one kind of job, and test notices at once.

A notice is delivered at least once: an attempt whose outcome was not stored is repeated with the same idempotency key
and mail id. No connection to the database is held while a server answers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import SecretStr
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.components.isolated.calls import TenantIsolation
from headgate.features.access.principal import system_principal
from headgate.features.alerts.evaluation import channels_of
from headgate.features.alerts.letters import Content, body_of, letter_of
from headgate.features.alerts.tables import AlertNoticeRow, AlertRuleRow
from headgate.features.connections.opening import Connections
from headgate.features.connections.repository import find_shared
from headgate.features.jobs.queue import Job, Queue
from headgate.features.jobs.runner import JobKind, JobRunner
from headgate.features.runs.deliveries.attempt import (
    SIGNING_VARIABLE,
    OnePost,
    Outcome,
    outcome_of,
    outcome_of_status,
    signed,
)
from headgate.features.runs.deliveries.letters import SECONDS, send_chat, send_mail
from headgate.features.runs.deliveries.settling import settle
from headgate.features.runs.patience import patiently
from headgate.features.runs.ports.flows import Sealer
from headgate.features.runs.ports.services import CodeRunners
from headgate.features.runs.transitions import clock
from headgate.features.secrets.reads import ReadAudit, SecretReadLog
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError, Invalid, NotFound
from headgate.foundation.ids import new_id
from headgate.foundation.webhooks import delivery_key
from headgate.sdk.approvals import NOTICE_KINDS

KIND = "alert_notices"
_TABLE: Any = AlertNoticeRow.__table__
QUEUE = Queue(_TABLE)
LATER_SECONDS = (5, 60, 300, 1800, 7200)
"""Waits before each further attempt."""
MOST_AT_ONCE = 4
_FEWER = "Set the recipients of the rule."
"""A notice of a rule without recipients."""
SecretOf = Callable[[str, str, ReadAudit], Any]
"""Variables of a tenant's space: `Installation.variables_of`."""


def seal_url(box: Sealer, url: str) -> bytes:
    """Encrypt the address of a webhook."""
    return box.encrypt(SecretStr(url))


@dataclass(frozen=True, slots=True)
class Attempts:
    """Makes attempts.

    Args:
        database: Holds rules and connections.
        box: Decrypts addresses.
        http: Sends webhooks.
        connections: Opens connections.
        isolated: Processes that prepare the requests of chat services.
        variables: Variables, for the signature of webhooks.
        reads: Records reads of secrets.
        public_url: Address of the page, for links.
    """

    database: Database
    box: SecretBox
    http: OnePost
    connections: Connections
    isolated: CodeRunners
    variables: SecretOf
    reads: SecretReadLog
    public_url: str

    async def attempt(self, rule: AlertRuleRow, channel: str, kind: str, content: Content, key: str) -> Outcome:
        """Send a notice once. Errors are returned as the outcome; nothing is raised."""
        try:
            if channel == "webhook":
                return await self._post(rule, kind, content, key)
            return await self._write(rule, channel, kind, content, key)
        except HeadgateError as error:
            return outcome_of(error)

    async def _write(self, rule: AlertRuleRow, channel: str, kind: str, content: Content, key: str) -> Outcome:
        escalates = channel == "escalation"
        connection_id = rule.escalation_connection_id if escalates else rule.connection_id
        async with self.database.reading() as session:
            row = await find_shared(
                session, connection_id or "", tenant_id=rule.tenant_id, space_id=rule.space_id, kinds=NOTICE_KINDS
            )
        if row is None:
            raise NotFound("The connection of the rule was deleted.", remedy="Choose another connection in the rule.")
        audit = self.reads.of(system_principal(rule.tenant_id, row.space_id), "notice")
        connection = await self.connections.opened(row, audit)
        letter = letter_of(rule, kind, content, self.public_url)
        if connection.kind == "smtp":
            recipients = tuple(rule.escalation_recipients if escalates else rule.recipients)
            return await send_mail(connection, letter, recipients, key, remedy=_FEWER)
        return await send_chat(TenantIsolation(self.isolated, rule.tenant_id), connection, letter)

    async def _post(self, rule: AlertRuleRow, kind: str, content: Content, key: str) -> Outcome:
        if rule.webhook is None:
            raise Invalid("The rule has no webhook any more.", remedy="Set one in the rule.")
        url = self.box.decrypt(rule.webhook).get_secret_value()
        body = orjson.dumps(body_of(rule, kind, content, self.public_url))
        headers = {"content-type": "application/json"} | signed(key, body, await self._signing_secret(rule))
        status = await self.http.post_once(url, headers=headers, body=body, timeout_seconds=SECONDS)
        return outcome_of_status(status)

    async def _signing_secret(self, rule: AlertRuleRow) -> SecretStr | None:
        audit = self.reads.of(system_principal(rule.tenant_id, rule.space_id or ""), "notice")
        variables = self.variables(rule.tenant_id, rule.space_id or "", audit)
        try:
            secret: SecretStr = await variables.require(SIGNING_VARIABLE)
        except NotFound:
            return None
        return secret


class AlertSender:
    """Sends notices.

    Args:
        attempts: Makes attempts.
        jobs: Runs due notices.
    """

    def __init__(self, attempts: Attempts, jobs: JobRunner) -> None:
        self._attempts = attempts
        self._database = attempts.database
        jobs.register(JobKind(KIND, QUEUE, self._send, MOST_AT_ONCE, retry_seconds=LATER_SECONDS[0]))

    async def test(self, rule: AlertRuleRow) -> list[tuple[str, Outcome]]:
        """Send a test notice through every channel of a rule, once each, and return the outcomes by channel."""
        channels = [*channels_of(rule), *(["escalation"] if rule.escalation_connection_id else [])]
        key = delivery_key(rule.id, f"test:{new_id()}")
        return [
            (channel, await self._attempts.attempt(rule, channel, "test", Content(), f"{key}-{channel}"))
            for channel in channels
        ]

    async def _send(self, job: Job) -> None:
        async with self._database.reading() as session:
            rule = await _rule_of(session, job)
        if rule is None:  # deleted with its notices
            async with self._database.writing() as session:
                await QUEUE.finish(session, job)
            return
        content = Content.model_validate(job.row.content)
        outcome = await self._attempts.attempt(rule, job.row.channel, job.row.kind, content, job.row.idempotency_key)
        at = clock()

        async def store() -> None:
            async with self._database.writing() as session:
                await settle(session, QUEUE, job, outcome, at, later_seconds=LATER_SECONDS)

        await patiently(store)


async def _rule_of(session: AsyncSession, job: Job) -> AlertRuleRow | None:
    query = select(AlertRuleRow).where(AlertRuleRow.id == job.row.rule_id, AlertRuleRow.tenant_id == job.row.tenant_id)
    rule: AlertRuleRow | None = (await session.execute(query)).scalar_one_or_none()
    return rule
