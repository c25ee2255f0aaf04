"""Records that a run reads a secret before the run receives its value, and lists variable usage."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import SYSTEM, Access, Actor, Principal
from headgate.features.audit.recorder import record
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.secret_reads import repository
from headgate.features.runs.transitions import RunKey
from headgate.features.secrets.reads import Source
from headgate.foundation import secret_values
from headgate.foundation.database import Database, now

MOST_USES = 1000
"""Most pairs of variable and flow in the list."""


@dataclass(frozen=True, slots=True)
class SecretReads:
    """The secret reads of one step. Each secret is recorded and audited once per run."""

    database: Database
    origin: Origin

    async def note(self, name: str, source: Source) -> None:
        """Record a read. It is committed on return: only then may the value be used."""
        names = secret_values.names_read()
        if names is not None and name in names:
            return
        async with self.database.writing() as session:
            await self._note(session, name, source)
        if names is not None:
            names.add(name)

    async def _note(self, session: AsyncSession, name: str, source: Source) -> None:
        key, step_id = self.origin.key, self.origin.step_id
        first = await repository.add_read(
            session,
            name,
            tenant_id=key.tenant_id,
            run_id=key.run_id,
            flow_id=key.flow_id,
            step_id=step_id,
            source=source,
            at=now(),
        )
        reader = await repository.find_reader(session, key.run_id, tenant_id=key.tenant_id) if first else None
        if reader is None:
            return
        actor = SYSTEM if reader.user_id is None else Actor("user", reader.user_name)
        await record(
            session,
            Principal(key.tenant_id, reader.user_id or "", reader.space_id, Access(), actor),
            "variable.read",
            id=name,
            name=name,
            space_id=reader.space_id,
            payload={
                "run_id": key.run_id,
                "flow_id": key.flow_id,
                "version": key.version,
                "step_id": step_id,
                "source": source,
            },
        )


@dataclass(frozen=True, slots=True)
class WrittenDown:
    """Secret reads that are already recorded, by another process."""

    names: frozenset[str]

    async def note(self, name: str, source: Source) -> None:  # noqa: ARG002
        """Do nothing for recorded names. Raises `LookupError` for any other."""
        if name not in self.names:
            raise LookupError(name)


async def names_read_by(database: Database, key: RunKey) -> Sequence[str]:
    """Return the names of the secrets that a run has read so far, in any process."""
    async with database.reading() as session:
        return await repository.names_of(session, key.run_id, tenant_id=key.tenant_id)


async def starter_of(database: Database, key: RunKey) -> str:
    """Return the id of the user who started a run; empty for a visitor or when the user no longer exists."""
    async with database.reading() as session:
        reader = await repository.find_reader(session, key.run_id, tenant_id=key.tenant_id)
    return "" if reader is None else reader.user_id or ""


async def list_uses(session: AsyncSession, principal: Principal) -> Sequence[repository.AnyRow]:
    """Which flows that the caller sees read which variables in stored runs, the last read first."""
    return await repository.list_uses(
        session, tenant_id=principal.tenant_id, spaces=principal.visible_spaces, limit=MOST_USES
    )
