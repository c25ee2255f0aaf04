"""Audit of secret reads: each read is in the audit log before the value is used, with reader, purpose and name.

`service.reveal` decrypts a variable, after calling a `ReadAudit`. A run's reads are written by `runs.secret_reads`, one
entry per name and run; all others by `SecretReadLog`. `NO_READS` is for checks, which test whether a variable exists
and never read its value.
"""

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Literal, Protocol

from headgate.features.access.principal import Principal
from headgate.features.audit.recorder import record
from headgate.foundation.database import Database

Source = Literal["space", "organisation", "server"]
"""Owner of the variable: the space, the organisation, or the server's environment."""

Purpose = Literal[
    "assistant",
    "connection",
    "development",
    "evaluation",
    "flowise",
    "knowledge",
    "mcp",
    "models",
    "notice",
    "redaction",
    "test",
    "trigger",
]
"""Purposes of secret reads outside of runs. docs/operate/audit-log.md describes them."""

REPEATED_SECONDS = 3600.0
"""Reads of one name by one user for one purpose and session are one entry within this time."""
MOST_REMEMBERED = 10_000
STORED_WITH = ":"
"""In the name of a value that is stored with a server: `mcp_server:crm`. Variable names cannot contain it."""


class ReadAudit(Protocol):
    """Records reads of secrets."""

    async def note(self, name: str, source: Source) -> None:
        """Record a read; the value is used only afterwards."""


class _NoReads:
    async def note(self, name: str, source: Source) -> None:  # noqa: ARG002
        """Refuse: a check reads no value."""
        raise RuntimeError(f"{name} was opened for a check, which reads no secret.")


NO_READS: ReadAudit = _NoReads()
"""For checks: a secret cannot be read with it."""

_Read = tuple[str, str, str, Purpose, str, str, Source]


class SecretReadLog:
    """Writes reads of secrets outside of runs to the audit log.

    Args:
        database: The database of the audit log. A read is committed in a separate transaction.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._remembered: OrderedDict[_Read, float] = OrderedDict()

    def of(self, principal: Principal, purpose: Purpose, session_id: str = "") -> ReadAudit:
        """Return the audit for a user's reads with a purpose, in one session of the user if there is one."""
        return _Reads(self, principal, purpose, session_id)

    async def write(self, principal: Principal, purpose: Purpose, session_id: str, name: str, source: Source) -> None:
        """Write and commit a read, unless the same one was written within the hour."""
        read = (principal.tenant_id, principal.user_id, principal.space_id, purpose, session_id, name, source)
        written_at = self._remembered.get(read)
        if written_at is not None and time.monotonic() - written_at < REPEATED_SECONDS:
            return
        payload = {"purpose": purpose, "source": source} | ({"session_id": session_id} if session_id else {})
        async with self._database.writing() as session:
            await record(
                session,
                principal,
                "variable.read",
                id=name,
                name=name,
                space_id=principal.space_id or None,
                payload=payload,
            )
        self._remembered[read] = time.monotonic()
        self._remembered.move_to_end(read)
        while len(self._remembered) > MOST_REMEMBERED:
            self._remembered.popitem(last=False)


@dataclass(frozen=True, slots=True)
class _Reads:
    log: SecretReadLog
    principal: Principal
    purpose: Purpose
    session_id: str
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def note(self, name: str, source: Source) -> None:
        """See `ReadAudit`."""
        async with self._one_at_a_time:
            await self.log.write(self.principal, self.purpose, self.session_id, name, source)
