"""Limits in force, what is used of them, and changing them."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.accounts.spaces.service import get_space, list_spaces
from headgate.features.audit.recorder import record
from headgate.features.files.limits import Left, Whose
from headgate.features.runs.quotas import repository
from headgate.features.runs.quotas.bounds import OF_STARTS, OF_TOKENS, Bound, Quota, Scope, resets
from headgate.features.runs.quotas.errors import QuotaInvalid
from headgate.features.runs.quotas.repository import Stored
from headgate.features.runs.quotas.usage import lock_storage
from headgate.features.runs.transitions import clock
from headgate.foundation.database import Database
from headgate.foundation.settings import QuotaSettings

KEPT_SECONDS = 5.0
"""How long a server uses limits that it has read; another server's change is in force after that."""
MOST_SPACES = 1000


@dataclass(frozen=True, slots=True)
class Usage:
    """A limit, and what is used of it."""

    quota: Quota
    scope: Scope
    space_id: str | None
    """The space; None for the organisation, for visitors, and for the limit of every space."""
    space_name: str | None
    most: int | None
    """In force; None: no limit."""
    stored: int | None
    """What the organisation has set here."""
    ceiling: int | None
    """What the operator of the server allows at most."""
    used: int | None
    """None where it is of nobody in particular: every space, each visitor."""
    resets_at: int | None


@dataclass(frozen=True, slots=True)
class _Subject:
    """Whose limits are listed."""

    tenant_id: str
    scope: Scope
    space_id: str | None = None
    name: str | None = None

    @property
    def id(self) -> str:
        """What usage is counted by; empty where it is of nobody in particular."""
        return self.tenant_id if self.scope is Scope.TENANT else self.space_id or ""


class Quotas:
    """Limits of an installation.

    Args:
        database: Where limits and usage are.
        settings: What the operator allows.
    """

    def __init__(self, database: Database, settings: QuotaSettings) -> None:
        self._database = database
        self._ceilings = ceilings_of(settings)
        self._kept: dict[str, tuple[float, Stored]] = {}

    async def of_start(self, tenant_id: str, space_id: str, visitor: str | None) -> tuple[Bound, ...]:
        """The limits that the store checks when it stores a run. Raises `QuotaExceeded` where tokens are used up."""
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

    async def left(self, session: AsyncSession, whose: Whose, *, lock: bool) -> Left | None:
        """See `StorageLimits`: it is one of those too."""
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
        """The limit in force: the least of the operator's and the organisation's; None: no limit."""
        own = stored.get((scope, subject, quota)) if scope is Scope.SPACE else None
        if own is None:
            own = stored.get((scope, "", quota))
        ceiling = self._ceilings.get((scope, quota))
        amounts = [amount for amount in (own, ceiling) if amount is not None]
        if not amounts:
            return None
        return Bound(quota, scope, subject, min(amounts), by_operator=ceiling is not None and ceiling == min(amounts))

    async def list_usage(self, session: AsyncSession, principal: Principal) -> Sequence[Usage]:
        """Every limit of the caller's organisation with what is used of it. Raises `PermissionMissing`."""
        principal.require(Permission.QUOTAS_MANAGE)
        tenant_id = principal.tenant_id
        stored = await repository.list_limits(session, tenant_id=tenant_id)
        spaces = [seen.space for seen in await list_spaces(session, principal, limit=MOST_SPACES)]
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
            shown = bound or Bound(quota, scope, subject.id, 0, by_operator=False)
            used, oldest = await repository.read_usage(session, shown, now, tenant_id=subject.tenant_id)
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
        most: int | None,
    ) -> None:
        """Set a limit, or remove it with None. Raises `PermissionMissing`, `SpaceNotFound`, `QuotaInvalid`."""
        principal.require(Permission.QUOTAS_MANAGE)
        tenant_id = principal.tenant_id
        if space_id is not None:
            if scope is not Scope.SPACE:
                raise QuotaInvalid(f"A limit of a {scope} names no space.", remedy="Leave the space out.")
            await get_space(session, principal, space_id)
        ceiling = self._ceilings.get((scope, quota))
        if ceiling is not None and most is not None and most > ceiling:
            raise QuotaInvalid(
                f"The operator of the server allows at most {ceiling:,}.",
                remedy=f"Set {ceiling:,} or less, or ask the operator to raise"
                f" HEADGATE_QUOTAS__{scope.upper()}_{quota.upper()}.",
            )
        before = (await repository.list_limits(session, tenant_id=tenant_id)).get((scope, space_id or "", quota))
        await repository.set_limit(session, scope, space_id or "", quota, most, tenant_id=tenant_id)
        await record(
            session,
            principal,
            "quota.changed",
            id=f"{scope}/{quota}",
            name=f"{scope} {quota}",
            space_id=space_id,
            before=before,
            after=most,
            payload={"scope": scope.value, "quota": quota.value, "most": most},
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
    """What the settings allow at most; those without a limit are left out."""
    amounts = {(scope, quota): int(getattr(settings, f"{scope}_{quota}")) for scope in Scope for quota in Quota}
    return {key: amount for key, amount in amounts.items() if amount}
