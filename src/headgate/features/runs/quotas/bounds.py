"""Quotas as values: kind, scope, limit. Pure."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from headgate.features.files.errors import NoRoomForFile
from headgate.features.files.limits import RemainingBytes
from headgate.features.runs.quotas.errors import QuotaExceeded

SECOND = 1_000_000
HOUR = 3600 * SECOND


class Quota(StrEnum):
    """Kind of a limit."""

    RUNS = "runs"
    RUNS_PER_HOUR = "runs_per_hour"
    TOKENS_PER_DAY = "tokens_per_day"
    TOKENS_PER_MONTH = "tokens_per_month"
    STORAGE_BYTES = "storage_bytes"


class Scope(StrEnum):
    """Scope of a limit."""

    TENANT = "tenant"
    SPACE = "space"
    VISITOR = "visitor"


OF_STARTS = (Quota.RUNS, Quota.RUNS_PER_HOUR)
"""Checked in the transaction that stores a run. Tokens are only known once a model has answered."""
OF_TOKENS = (Quota.TOKENS_PER_DAY, Quota.TOKENS_PER_MONTH)
_WHO = {Scope.TENANT: "Your organisation has", Scope.SPACE: "This space has", Scope.VISITOR: "This visitor has"}
_WHAT = {
    Quota.RUNS: "queued and running runs",
    Quota.RUNS_PER_HOUR: "runs started within one hour",
    Quota.TOKENS_PER_DAY: "tokens used today (UTC)",
    Quota.TOKENS_PER_MONTH: "tokens used this month (UTC)",
    Quota.STORAGE_BYTES: "bytes of stored files",
}
RETRY_SECONDS = 5
"""For a quota that is free again as soon as a run ends."""


@dataclass(frozen=True, slots=True)
class Bound:
    """One limit of one subject."""

    quota: Quota
    scope: Scope
    subject: str
    """Id of the tenant or the space, or digest of a visitor's network address."""
    most: int
    by_operator: bool
    """Whether only the operator of the server can raise it."""

    def check(self, used: int, oldest: int | None, at: int) -> None:
        """Raise `QuotaExceeded` when it is used up. `oldest`: creation time of the first run that counts."""
        if used < self.most:
            return
        resets_at = resets(self.quota, oldest, at)
        retry = RETRY_SECONDS if resets_at is None else max(1, -(-(resets_at - at) // SECOND))
        raise QuotaExceeded(
            f"{_WHO[self.scope]} {used:,} of {self.most:,} {_WHAT[self.quota]}.",
            remedy=f"{_when(resets_at)} {self._who_raises()}",
            quota=self.quota.value,
            scope=self.scope.value,
            used=used,
            most=self.most,
            resets_at=None if resets_at is None else _moment(resets_at).isoformat(),
            retry_after_seconds=retry,
        )

    def room(self, used: int) -> RemainingBytes:
        """Return the remaining bytes of a storage limit."""
        refusal = NoRoomForFile(
            f"{_WHO[self.scope]} a limit of {self.most:,} bytes for stored files, which this file would exceed.",
            remedy=f"Store a smaller file, or delete old runs with their files (HEADGATE_RETENTION__RUN_DAYS). "
            f"{self._who_raises()}",
            limit=self.most,
            scope=self.scope.value,
        )
        return RemainingBytes(self.most - used, refusal)

    def _who_raises(self) -> str:
        if self.by_operator:
            setting = f"HEADGATE_QUOTAS__{self.scope}_{self.quota}".upper()
            return f"The operator of the server can raise it: {setting}."
        return "An administrator of the organisation can raise it under Settings, Limits."


def since(quota: Quota, at: int) -> int:
    """Return when counting of usage starts; microseconds in UTC."""
    if quota in {Quota.RUNS, Quota.STORAGE_BYTES}:
        return 0
    if quota is Quota.RUNS_PER_HOUR:
        return at - HOUR
    day = _moment(at).replace(hour=0, minute=0, second=0, microsecond=0)
    return _microseconds(day if quota is Quota.TOKENS_PER_DAY else day.replace(day=1))


def resets(quota: Quota, oldest: int | None, at: int) -> int | None:
    """Return when some of it is free again; None when that does not depend on time."""
    if quota in {Quota.RUNS, Quota.STORAGE_BYTES}:
        return None
    if quota is Quota.RUNS_PER_HOUR:
        return (at if oldest is None else oldest) + HOUR
    start = _moment(since(quota, at))
    if quota is Quota.TOKENS_PER_DAY:
        return _microseconds(start + timedelta(days=1))
    return _microseconds((start + timedelta(days=32)).replace(day=1))


def _when(resets_at: int | None) -> str:
    if resets_at is None:
        return "Try again when a run has ended."
    return f"Try again after {_moment(resets_at):%Y-%m-%d %H:%M:%S} UTC."


def _moment(at: int) -> datetime:
    return datetime.fromtimestamp(at / SECOND, UTC)


def _microseconds(moment: datetime) -> int:
    return round(moment.timestamp() * SECOND)
