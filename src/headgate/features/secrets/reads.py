"""Reads of secrets: each is in the audit log before its value is used. Who reads, what for, and which name.

`service.reveal` decrypts a variable, and asks a `ReadAudit` first. A run's reads are written by
`runs.secret_reads`, one entry per name and run; all others by `SecretReadLog`. `NO_READS` is for checks, which ask
whether a variable is there and never what it is.
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
"""Whose variable was read: the space's, the organisation's, or one of the server's environment."""

Purpose = Literal["assistant", "development", "flowise", "mcp", "models", "notice", "redaction", "test"]
"""What a secret is read for outside of runs. docs/operate/audit-log.md explains them."""

REPEATED_SECONDS = 3600.0
"""Reads of one name by one user for one purpose and session are one entry in this time."""
MOST_REMEMBERED = 10_000
STORED_WITH = ":"
"""In the name of a value that is stored with a server: `mcp_server:crm`. No variable has it in its name."""


class ReadAudit(Protocol):
    """Where reads of secrets are written down."""

    async def note(self, name: str, source: Source) -> None:
        """Write down a read; the value is used only after that."""
        ...


class _NoReads:
    async def note(self, name: str, source: Source) -> None:  # noqa: ARG002
        """Refuse: a check reads no value."""
        raise RuntimeError(f"{name} is opened for a check, which reads no secret.")


NO_READS: ReadAudit = _NoReads()
"""For checks: a secret cannot be read with it."""

_Read = tuple[str, str, str, Purpose, str, str, Source]


class SecretReadLog:
    """Writes reads of secrets outside of runs into the audit log.

    Args:
        database: Where the audit log is. A read is committed in a transaction of its own.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._remembered: OrderedDict[_Read, float] = OrderedDict()

    def of(self, principal: Principal, purpose: Purpose, session_id: str = "") -> ReadAudit:
        """The reads of a user for a purpose, in one session of theirs where there is one."""
        return _Reads(self, principal, purpose, session_id)

    async def write(self, principal: Principal, purpose: Purpose, session_id: str, name: str, source: Source) -> None:
        """Write a read down, committed on return, unless the same one was within the hour."""
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
