"""Reads effective limits and their usage, and changes limits."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.accounts.spaces.service import get_space, list_spaces
from headgate.features.audit.recorder import record
from headgate.features.files.limits import FileOwner, RemainingBytes
from headgate.features.runs.quotas import repository
from headgate.features.runs.quotas.bounds import OF_STARTS, OF_TOKENS, Bound, Quota, Scope, resets
from headgate.features.runs.quotas.errors import QuotaInvalid
from headgate.features.runs.quotas.repository import Stored
from headgate.features.runs.quotas.usage import lock_storage
from headgate.features.runs.transitions import clock
from headgate.foundation.database import Database
from headgate.foundation.settings import QuotaSettings

KEPT_SECONDS = 5.0
"""How long a server caches limits; a change on another server applies after that."""
MOST_SPACES = 1000


@dataclass(frozen=True, slots=True)
class Usage:
    """A limit and its usage."""

    quota: Quota
    scope: Scope
    space_id: str | None
    """The space; None for the organisation, for visitors, and for the default limit of spaces."""
    space_name: str | None
    most: int | None
    """The effective limit; None: no limit."""
    stored: int | None
    """The limit set by the organisation."""
    ceiling: int | None
    """The maximum that the operator of the server allows."""
    used: int | None
    """None for limits that apply to each space or visitor."""
    resets_at: int | None


@dataclass(frozen=True, slots=True)
class _Subject:
    """A subject whose limits are listed."""

    tenant_id: str
    scope: Scope
    space_id: str | None = None
    name: str | None = None

    @property
    def id(self) -> str:
        """Id that usage is counted by; empty for limits that apply to each."""
        return self.tenant_id if self.scope is Scope.TENANT else self.space_id or ""


class Quotas:
    """The quotas of an installation.

    Args:
        database: Holds limits and usage.
        settings: The operator's limits.
    """

    def __init__(self, database: Database, settings: QuotaSettings) -> None:
        self._database = database
        self._ceilings = ceilings_of(settings)
        self._kept: dict[str, tuple[float, Stored]] = {}

    async def of_start(self, tenant_id: str, space_id: str, visitor: str | None) -> tuple[Bound, ...]:
        """Return the limits that the store checks for a new run. Raises `QuotaExceeded` where tokens are used up."""
        stored = await self._stored(tenant_id)
        subjects = {Scope.TENANT: tenant_id, Scope.SPACE: space_id, Scope.VISITOR: visitor}
        bounds = [
            bound
            for scope, subject in subjects.items()
            if subject is not None
            for quota in Quota
            if (bound := self.bound(stored, quota, scope, subject)) is not None
        ]
        tokens = [bound for bound in bounds if bound.quota in OF_TOKENS]
        if tokens:
            now = clock()
            async with self._database.reading() as session:
                for bound in tokens:
                    bound.check(*await repository.read_usage(session, bound, now, tenant_id=tenant_id), now)
        return tuple(bound for bound in bounds if bound.quota in OF_STARTS)

    async def left(self, session: AsyncSession, whose: FileOwner, *, lock: bool) -> RemainingBytes | None:
        """Return the remaining storage; implements `StorageLimits`."""
        stored = await repository.list_limits(session, tenant_id=whose.tenant_id)
        subjects = {Scope.TENANT: whose.tenant_id, Scope.SPACE: whose.space_id, Scope.VISITOR: whose.visitor}
        bounds = [
            bound
            for scope, subject in subjects.items()
            if subject and (bound := self.bound(stored, Quota.STORAGE_BYTES, scope, subject)) is not None
        ]
        if bounds and lock:
            await lock_storage(session, tenant_id=whose.tenant_id)
        rooms = []
        for bound in bounds:
            used, _ = await repository.read_usage(session, bound, clock(), tenant_id=whose.tenant_id)
            rooms.append(bound.room(used))
        return min(rooms, key=lambda room: room.size_bytes, default=None)

    def bound(self, stored: Stored, quota: Quota, scope: Scope, subject: str) -> Bound | None:
        """Return the effective limit: the lower of the operator's and the organisation's; None: no limit."""
        space_limit = stored.get((scope, subject, quota)) if scope is Scope.SPACE else None
        if space_limit is None:
            space_limit = stored.get((scope, "", quota))
        ceiling = self._ceilings.get((scope, quota))
        amounts = [amount for amount in (space_limit, ceiling) if amount is not None]
        if not amounts:
            return None
        return Bound(quota, scope, subject, min(amounts), by_operator=ceiling is not None and ceiling == min(amounts))

    async def list_usage(self, session: AsyncSession, principal: Principal) -> Sequence[Usage]:
        """List every limit of the caller's organisation with its usage. Raises `PermissionMissing`."""
        principal.require(Permission.QUOTAS_MANAGE)
        tenant_id = principal.tenant_id
        stored = await repository.list_limits(session, tenant_id=tenant_id)
        spaces = [space.space for space in await list_spaces(session, principal, limit=MOST_SPACES)]
        subjects = [
            _Subject(tenant_id, Scope.TENANT),
            _Subject(tenant_id, Scope.SPACE),
            *(_Subject(tenant_id, Scope.SPACE, space.id, space.name) for space in spaces),
            _Subject(tenant_id, Scope.VISITOR),
        ]
        now = clock()
        return [await self._usage(session, stored, quota, subject, now) for subject in subjects for quota in Quota]

    async def _usage(self, session: AsyncSession, stored: Stored, quota: Quota, subject: "_Subject", now: int) -> Usage:
        scope, space_id = subject.scope, subject.space_id
        bound = self.bound(stored, quota, scope, subject.id)
        used: int | None = None
        resets_at: int | None = None
        if subject.id:
            bound_shown = bound or Bound(quota, scope, subject.id, 0, by_operator=False)
            used, oldest = await repository.read_usage(session, bound_shown, now, tenant_id=subject.tenant_id)
            resets_at = resets(quota, oldest, now) if used else None
        return Usage(
            quota,
            scope,
            space_id,
            subject.name,
            most=None if bound is None else bound.most,
            stored=stored.get((scope, space_id or "", quota)),
            ceiling=self._ceilings.get((scope, quota)),
            used=used,
            resets_at=resets_at,
        )

    async def set_limit(
        self,
        session: AsyncSession,
        principal: Principal,
        *,
        scope: Scope,
        space_id: str | None,
        quota: Quota,
        limit: int | None,
    ) -> None:
        """Set a limit, or remove it with None. Raises `PermissionMissing`, `SpaceNotFound`, `QuotaInvalid`."""
        principal.require(Permission.QUOTAS_MANAGE)
        tenant_id = principal.tenant_id
        if space_id is not None:
            if scope is not Scope.SPACE:
                raise QuotaInvalid(f"A limit of a {scope} does not apply to a space.", remedy="Omit the space.")
            await get_space(session, principal, space_id)
        ceiling = self._ceilings.get((scope, quota))
        if ceiling is not None and limit is not None and limit > ceiling:
            raise QuotaInvalid(
                f"The operator of the server allows at most {ceiling:,}.",
                remedy=f"Set {ceiling:,} or less, or ask the operator to raise"
                f" HEADGATE_QUOTAS__{scope.upper()}_{quota.upper()}.",
            )
        previous = (await repository.list_limits(session, tenant_id=tenant_id)).get((scope, space_id or "", quota))
        await repository.set_limit(session, scope, space_id or "", quota, limit, tenant_id=tenant_id)
        await record(
            session,
            principal,
            "quota.changed",
            id=f"{scope}/{quota}",
            name=f"{scope} {quota}",
            space_id=space_id,
            before=previous,
            after=limit,
            payload={"scope": scope.value, "quota": quota.value, "most": limit},
        )
        self._kept.pop(tenant_id, None)

    async def _stored(self, tenant_id: str) -> Stored:
        now = time.monotonic()
        read_at, stored = self._kept.get(tenant_id, (-KEPT_SECONDS, {}))
        if now - read_at >= KEPT_SECONDS:
            async with self._database.reading() as session:
                stored = await repository.list_limits(session, tenant_id=tenant_id)
            self._kept[tenant_id] = now, stored
        return stored


def ceilings_of(settings: QuotaSettings) -> Mapping[tuple[Scope, Quota], int]:
    """Return the maximums of the settings, without unlimited ones."""
    amounts = {(scope, quota): int(getattr(settings, f"{scope}_{quota}")) for scope in Scope for quota in Quota}
    return {key: amount for key, amount in amounts.items() if amount}
