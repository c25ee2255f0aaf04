"""Counts failures of hosts for each tenant, refuses requests to hosts that fail, and lets one request try again."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.audit.recorder import record
from headgate.features.runs.circuits import repository
from headgate.features.runs.circuits.errors import CircuitNotFound, CircuitOpen
from headgate.features.runs.transitions import clock
from headgate.foundation.database import Database, moment
from headgate.foundation.settings import HttpSettings

SECOND = 1_000_000
KEPT_SECONDS = 1.0
"""How long a process caches the state of a host."""
MOST_CACHED = 2_000
PROBE_SECONDS = 60
"""After this time another request may try a host whose last one did not come back."""
KEPT_DAYS = 7
MOST_LISTED = 500


class CircuitState(StrEnum):
    """State of a host."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(frozen=True, slots=True)
class HostCircuit:
    """A host with failures in a row."""

    host: str
    state: CircuitState
    failures: int
    since: datetime
    open_until: datetime | None
    last_error: str


class Circuits:
    """The circuit breakers of an installation (`ports.Circuits`).

    Args:
        database: Holds the failures.
        settings: Number, window and pause.
    """

    def __init__(self, database: Database, settings: HttpSettings) -> None:
        self._database = database
        self._most = settings.circuit_failures
        self._window = int(settings.circuit_window_seconds * SECOND)
        self._pause = int(settings.circuit_open_seconds * SECOND)
        self._cache: dict[tuple[str, str], tuple[float, Any]] = {}

    async def enter(self, tenant_id: str, host: str, *, at_once: bool = False) -> None:
        """Return when a host may be asked. Raises `CircuitOpen`.

        With `at_once` also a pause after a single failure counts: something else can be asked in its place.
        """
        if not self._most:
            return
        row = await self._row(tenant_id, host)
        if row is None or row.open_until is None or not (at_once or row.failures >= self._most):
            return
        now = clock()
        if now >= row.open_until:
            async with self._database.writing() as session:
                until = now + PROBE_SECONDS * SECOND
                if await repository.claim_probe(session, host, now, until, tenant_id=tenant_id):
                    return
                row = await repository.find_circuit(session, host, tenant_id=tenant_id)
            if row is None:
                return
        seconds = max(1, -(-(row.open_until - now) // SECOND))
        raise CircuitOpen(
            f"{host} failed {_times(row.failures)}, last with {row.last_error}, and is not asked now.",
            remedy="Try again later, or reset it in Settings, Limits once it works again.",
            host=host,
            failures=row.failures,
            retry_after_seconds=seconds,
        )

    async def failed(
        self, tenant_id: str, host: str, code: str, *, pause_seconds: float = 0.0, counts: bool = True
    ) -> None:
        """Count a failure; open the circuit after the last one allowed, and again after a failed probe.

        With `pause_seconds` it opens at once, for those who can ask something else. A failure that says nothing about
        others, such as that of a wrong key, does not count.
        """
        if not self._most:
            return
        now = clock()
        async with self._database.writing() as session:
            values = {"host": host, "failures": 0, "since": now, "last_error": code, "changed_at": now}
            before = now - KEPT_DAYS * 86_400 * SECOND
            await repository.add_circuit(session, values, tenant_id=tenant_id, before=before)
            row = await repository.find_circuit(session, host, tenant_id=tenant_id, lock=True)
            stale = row.open_until is None and now - row.since > self._window
            failures, since = (int(counts), now) if stale else (row.failures + counts, row.since)
            until = max(
                now + self._pause if failures >= self._most else 0,
                now + int(pause_seconds * SECOND),
                row.open_until or 0,
            )
            changes = {"failures": failures, "since": since, "last_error": code[:64], "changed_at": now}
            changes |= {"open_until": until if until > now else None, "probe_until": None}
            await repository.change_circuit(session, host, changes, tenant_id=tenant_id)
        self._cache.pop((tenant_id, host), None)

    async def succeeded(self, tenant_id: str, host: str) -> None:
        """Forget the failures of a host that answered. An open circuit is closed only by the request that tries it.

        Others began before it opened, and say less than the failures since.
        """
        if self._most and self._cache.get((tenant_id, host), (0.0, None))[1] is not None:
            async with self._database.writing() as session:
                await repository.close_circuit(session, host, tenant_id=tenant_id)
            self._cache.pop((tenant_id, host), None)

    async def _row(self, tenant_id: str, host: str) -> Any:  # noqa: ANN401 - a row
        now = time.monotonic()
        read_at, row = self._cache.get((tenant_id, host), (-KEPT_SECONDS, None))
        if now - read_at >= KEPT_SECONDS:
            async with self._database.reading() as session:
                row = await repository.find_circuit(session, host, tenant_id=tenant_id)
            if len(self._cache) >= MOST_CACHED:
                self._cache.clear()
            self._cache[tenant_id, host] = now, row
        return row


async def list_circuits(session: AsyncSession, principal: Principal) -> Sequence[HostCircuit]:
    """List the hosts of the caller's organisation that failed last. Raises `PermissionMissing`."""
    principal.require(Permission.QUOTAS_MANAGE)
    now = clock()
    return [
        HostCircuit(
            host=row.host,
            state=_state(row, now),
            failures=row.failures,
            since=moment(row.since),
            open_until=None if row.open_until is None else moment(row.open_until),
            last_error=row.last_error,
        )
        for row in await repository.list_circuits(session, tenant_id=principal.tenant_id, limit=MOST_LISTED)
    ]


async def reset_circuit(session: AsyncSession, principal: Principal, host: str) -> None:
    """Let a host be asked again at once; on other servers within a second.

    Raises `PermissionMissing`, `CircuitNotFound`.
    """
    principal.require(Permission.QUOTAS_MANAGE)
    if not await repository.delete_circuit(session, host, tenant_id=principal.tenant_id):
        raise CircuitNotFound(f"'{host}' has no failures.", remedy="List the hosts to see their names.")
    await record(session, principal, "circuit.reset", id=host, name=host, payload={"host": host})


def _times(failures: int) -> str:
    return "once" if failures <= 1 else f"{failures} times in a row"


def _state(row: Any, now: int) -> CircuitState:  # noqa: ANN401 - a row
    if row.open_until is None:
        return CircuitState.CLOSED
    return CircuitState.OPEN if now < row.open_until else CircuitState.HALF_OPEN
