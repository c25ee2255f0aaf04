"""Operations on service level objectives. An objective belongs to its flow."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.audit.actions import Action
from headgate.features.audit.recorder import record
from headgate.features.flows.service import get_flow
from headgate.features.jobs.leases import clock
from headgate.features.slos import repository
from headgate.features.slos.counting import KEPT
from headgate.features.slos.errors import SloConflict, SloInvalid, SloNotFound
from headgate.features.slos.figures import FAST, PART, SECOND, SLOW, SPANS, Count, budget_left, start_of
from headgate.features.slos.repository import AnyRow
from headgate.features.slos.schemas import BurnRates, SloDetail, SloIn, SloOut, SloPart, SloPatch
from headgate.features.slos.tables import SloRow
from headgate.foundation.database import moment
from headgate.foundation.ids import is_id, new_id

MOST_OF_FLOW, MOST = 5, 500
"""Objectives of a flow, and of an organisation."""
MOST_EXPORTED = 40
"""Objectives in the operator's metrics: a label of a metric has at most 200 values, and each has five windows."""
_DAY = 86_400 * SECOND
_PARTS = {7: (28, _DAY // 4), 28: (28, _DAY), 30: (30, _DAY)}
"""Number and length of the parts of a window, by its days."""
_RECORDED = ("name", "flow_id", "kind", "runs", "target", "seconds", "window_days")


@dataclass(frozen=True, slots=True)
class Burn:
    """How fast a flow uses the error budget of an objective, by window of `SPANS`."""

    flow_id: str
    flow_name: str
    flow_space_id: str
    target: float
    spans: Mapping[str, Count]

    def rate(self, preset: tuple[str, str, float], *, fewest_runs: int) -> float | None:
        """Return the burn rate of the long window of `FAST` or `SLOW`; None unless both windows reach the preset's."""
        long, short, least = preset
        rates = [self.spans[name].burn_rate(self.target) for name in (long, short)]
        burns = all(rate is not None and round(rate, 6) >= least for rate in rates)
        return rates[0] if burns and self.spans[long].total >= fewest_runs else None


async def add_slo(session: AsyncSession, principal: Principal, flow_id: str, body: SloIn) -> SloOut:
    """Add an objective. Raises `FlowNotFound`, `PermissionMissing`, `SloInvalid`, `SloConflict`.

    Runs that ended before it was added count, too.
    """
    flow = await get_flow(session, principal, flow_id, permission=Permission.ALERTS_MANAGE)
    if (body.kind == "latency") != (body.seconds is not None):
        raise SloInvalid("Only a latency objective has a duration, and it needs one.", remedy="Set `seconds` for it.")
    for most, of_flow in ((MOST_OF_FLOW, flow.id), (MOST, None)):
        if await repository.count_slos(session, tenant_id=flow.tenant_id, flow_id=of_flow) >= most:
            whose = "flow" if of_flow else "organisation"
            raise SloConflict(f"The {whose} has {most} objectives, which is the most.", remedy="Remove some.")
    at = clock()
    row = SloRow(
        **body.model_dump(),
        id=new_id(),
        tenant_id=flow.tenant_id,
        flow_id=flow.id,
        counted_until=at - at % PART - KEPT,
        created_by_user_id=principal.user_id or None,
        created_at=at,
        updated_at=at,
        due_at=at,
        attempts=0,
    )
    session.add(row)
    await _flush(session, row.name)
    await _record(session, principal, "slo.created", row, flow.space_id)
    return await get_slo(session, principal, row.id)


async def change_slo(session: AsyncSession, principal: Principal, slo_id: str, body: SloPatch) -> SloOut:
    """Change an objective. Raises `SloNotFound`, `PermissionMissing`, `SloConflict`."""
    row, space_id = await _managed(session, principal, slo_id)
    before = _recorded(row)
    for name, value in body.model_dump(exclude_none=True).items():
        setattr(row, name, value)
    row.updated_at = clock()
    await _flush(session, row.name)
    await _record(session, principal, "slo.changed", row, space_id, before=before)
    return await get_slo(session, principal, slo_id)


async def remove_slo(session: AsyncSession, principal: Principal, slo_id: str) -> None:
    """Remove an objective with its counts. Raises `SloNotFound`, `PermissionMissing`."""
    row, space_id = await _managed(session, principal, slo_id)
    await _record(session, principal, "slo.removed", row, space_id)
    await session.delete(row)
    await session.flush()


async def list_slos(session: AsyncSession, principal: Principal, *, flow_id: str | None = None) -> list[SloOut]:
    """List the objectives of the caller's spaces, or of one flow: the one with the least error budget left first."""
    spaces = principal.spaces_where(Permission.RUNS_VIEW)
    rows = await repository.list_slos(session, tenant_id=principal.tenant_id, spaces=spaces, flow_id=flow_id)
    slos = await _measured(session, rows, tenant_id=principal.tenant_id)
    return sorted(slos, key=lambda slo: (slo.budget_left, slo.flow_name, slo.name))


async def get_slo(session: AsyncSession, principal: Principal, slo_id: str) -> SloDetail:
    """Return an objective with its window over time. Raises `SloNotFound`, `PermissionMissing`."""
    row = await _find(session, principal, slo_id, Permission.RUNS_VIEW)
    [slo] = await _measured(session, [row], tenant_id=principal.tenant_id)
    number, step = _PARTS[slo.window_days]
    at = clock()
    start = start_of(number * step, at)
    by_place = await repository.parts(session, slo.id, start, step, tenant_id=principal.tenant_id)
    counts = [by_place.get(place, Count()) for place in range(number)]
    counts[-1] += by_place.get(number, Count())  # of the started five minutes before which the window begins
    parts, total, bad = [], sum(count.total for count in counts), 0
    for place, count in enumerate(counts):
        bad += count.total - count.good
        left = round(budget_left(bad, total, slo.target), 2)
        parts.append(SloPart(at=moment(start + place * step), total=count.total, good=count.good, budget_left=left))
    return SloDetail(**slo.model_dump(), parts=parts)


async def burns(session: AsyncSession, *, tenant_id: str, at: int) -> list[Burn]:
    """Return how fast each objective of a tenant burns, over the windows of `FAST` and `SLOW`."""
    rows = await repository.list_slos(session, tenant_id=tenant_id, spaces=None)
    starts = {name: start_of(SPANS[name], at) for preset in (FAST, SLOW) for name in preset[:2]}
    sums = await repository.sums(session, [row[0].id for row in rows], starts, tenant_id=tenant_id)
    return [Burn(slo.flow_id, name, space_id, slo.target, sums[slo.id]) for slo, name, space_id in rows]


async def list_exported(session: AsyncSession) -> tuple[list[SloOut], int]:
    """Return the oldest `MOST_EXPORTED` objectives of the installation, for the operator's metrics, and how many more.

    One query per tenant that has some of them.
    """
    rows = await repository.list_of_installation(session, limit=MOST_EXPORTED)
    tenants: dict[str, list[AnyRow]] = defaultdict(list)
    for row in rows:
        tenants[row[0].tenant_id].append(row)
    slos = [slo for tenant_id, own in tenants.items() for slo in await _measured(session, own, tenant_id=tenant_id)]
    more = 0 if len(rows) < MOST_EXPORTED else await repository.count_of_installation(session) - len(rows)
    return slos, more


async def _measured(session: AsyncSession, rows: Sequence[AnyRow], *, tenant_id: str) -> list[SloOut]:
    at = clock()
    windows = {f"window_{days}": days * _DAY for days in sorted({row[0].window_days for row in rows})}
    starts = {name: start_of(span, at) for name, span in {**SPANS, **windows}.items()}
    sums = await repository.sums(session, [row[0].id for row in rows], starts, tenant_id=tenant_id)
    return [_slo_out(row, sums[row[0].id]) for row in rows]


def _slo_out(listed: AnyRow, sums: Mapping[str, Count]) -> SloOut:
    row, flow_name, space_id = listed
    count = sums[f"window_{row.window_days}"]
    rates = {name: sums[name].burn_rate(row.target) for name in SPANS}
    values = {name: getattr(row, name) for name in (*_RECORDED, "id")}
    return SloOut(
        **values,
        flow_name=flow_name,
        space_id=space_id,
        total=count.total,
        good=count.good,
        attained=None if count.attained is None else round(count.attained, 4),
        budget_left=round(budget_left(count.total - count.good, count.total, row.target), 2),
        burn=BurnRates(**{name: None if rate is None else round(rate, 2) for name, rate in rates.items()}),
        created_at=moment(row.created_at),
        updated_at=moment(row.updated_at),
    )


async def _find(session: AsyncSession, principal: Principal, slo_id: str, permission: Permission) -> AnyRow:
    hidden = SloNotFound(slo_id)
    if not is_id(slo_id):
        raise hidden
    tenant_id, spaces = principal.tenant_id, principal.visible_spaces
    rows = await repository.list_slos(session, tenant_id=tenant_id, spaces=spaces, slo_id=slo_id)
    if not rows:
        raise hidden
    principal.require_in(rows[0].space_id, permission, hidden)
    return rows[0]


async def _managed(session: AsyncSession, principal: Principal, slo_id: str) -> tuple[SloRow, str]:
    space_id: str = (await _find(session, principal, slo_id, Permission.ALERTS_MANAGE)).space_id
    row = await repository.lock_slo(session, slo_id, tenant_id=principal.tenant_id)
    if row is None:
        raise SloNotFound(slo_id)
    return row, space_id


async def _flush(session: AsyncSession, name: str) -> None:
    try:
        await session.flush()
    except IntegrityError as error:
        raise SloConflict(f"The flow has an objective named '{name}'.", remedy="Choose another name.") from error


def _recorded(row: SloRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in _RECORDED}


async def _record(
    session: AsyncSession,
    principal: Principal,
    action: Action,
    row: SloRow,
    space_id: str,
    *,
    before: dict[str, Any] | None = None,
) -> None:
    after, removed = _recorded(row), action == "slo.removed"
    await record(
        session,
        principal,
        action,
        id=row.id,
        name=row.name,
        space_id=space_id,
        before=after if removed else before,
        after=None if removed else after,
        payload=after,
    )
