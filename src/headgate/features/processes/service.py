"""Operations on processes. They belong to the installation, which admins of its first organisation manage."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, get_args

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import DEFAULT_TENANT_ID, Principal
from headgate.features.audit.recorder import record
from headgate.features.jobs.leases import MICROSECONDS, clock
from headgate.features.keyring.errors import NotInstallationAdmin
from headgate.features.processes import repository
from headgate.features.processes.errors import ProcessDead, ProcessNotFound
from headgate.features.processes.heartbeat import DEAD_SECONDS, Kind
from headgate.features.processes.schemas import DrainIn, ProcessOut, ProcessState
from headgate.foundation.database import moment


def may_manage(principal: Principal) -> bool:
    """Return whether the caller manages the processes of the installation."""
    return principal.tenant_id == DEFAULT_TENANT_ID and principal.may(Permission.MAINTENANCE_RUN)


async def list_processes(session: AsyncSession, principal: Principal) -> list[ProcessOut]:
    """Return servers and workers, oldest first, with the work of their children.

    Raises `PermissionMissing`, `NotInstallationAdmin`.
    """
    _require(principal)
    return await _list(session)


async def _list(session: AsyncSession) -> list[ProcessOut]:
    rows = await repository.list_process_rows(session)
    alive = dead_before()
    families: dict[str, list[Any]] = defaultdict(list)
    for row in rows:
        if row.parent_id is None or row.seen_at >= alive:
            families[row.parent_id or row.id].append(row)
    return [_shown(row, families[row.id]) for row in rows if row.parent_id is None]


async def get_process(session: AsyncSession, principal: Principal, process_id: str) -> ProcessOut:
    """Return a server or worker. Raises `ProcessNotFound`, and as `list_processes`."""
    for process in await list_processes(session, principal):
        if process.id == process_id:
            return process
    raise ProcessNotFound(process_id)


async def drain(session: AsyncSession, principal: Principal, process_id: str, body: DrainIn) -> ProcessOut:
    """Let a process take no new work. Raises `ProcessNotFound`, `ProcessDead`, and as `list_processes`."""
    at, seconds = clock(), body.hand_over_seconds
    hand_over_at = None if seconds is None else at + int(seconds * MICROSECONDS)
    process = await _change(session, principal, process_id, draining_at=at, hand_over_at=hand_over_at)
    payload = {"hand_over_seconds": seconds}
    await record(session, principal, "process.drained", id=process_id, name=process.host, payload=payload)
    return process


async def undrain(session: AsyncSession, principal: Principal, process_id: str) -> ProcessOut:
    """Let a process take work again. Raises as `drain`."""
    process = await _change(session, principal, process_id, draining_at=None, hand_over_at=None)
    await record(session, principal, "process.undrained", id=process_id, name=process.host)
    return process


async def count_states(session: AsyncSession) -> dict[ProcessState, int]:
    """Return how many servers and workers are in each state, for the operator's metrics."""
    counts = Counter(process.state for process in await _list(session))
    return {state: counts[state] for state in get_args(ProcessState)}


async def count_takers(session: AsyncSession, kind: Kind) -> tuple[int, int]:
    """Return how many processes of a kind take work, and how many are drained or about to be."""
    states = Counter(process.state for process in await _list(session) if process.kind == kind)
    return states["running"], states["draining"] + states["drained"]


async def times_of_deaths(session: AsyncSession, *, since: int) -> list[int]:
    """Return when servers and workers that died were last seen, of the newest 1,000, in microseconds."""
    rows = await repository.list_dead_processes(session, before=dead_before(), limit=1_000)
    return [row.seen_at for row in rows if row.seen_at >= since]


def dead_before() -> int:
    """Return the time before which a process that was not seen since is dead."""
    return clock() - int(DEAD_SECONDS * MICROSECONDS)


async def _change(
    session: AsyncSession, principal: Principal, process_id: str, *, draining_at: int | None, hand_over_at: int | None
) -> ProcessOut:
    _require(principal)
    await repository.set_drain(session, process_id, draining_at=draining_at, hand_over_at=hand_over_at)
    process = await get_process(session, principal, process_id)
    if process.state == "dead":
        raise ProcessDead(process_id)
    return process


def _require(principal: Principal) -> None:
    principal.require(Permission.MAINTENANCE_RUN)
    if not may_manage(principal):
        raise NotInstallationAdmin


def _shown(row: Any, family: Sequence[Any]) -> ProcessOut:  # noqa: ANN401 - rows
    work: Counter[str] = Counter()
    for member in family:
        work.update(member.work)
    state: ProcessState = "running"
    if row.seen_at < dead_before():
        state = "dead"
    elif row.draining_at is not None:
        # What was stored before it was drained does not say whether it has work left.
        unknown = any(member.seen_at <= row.draining_at for member in family)
        state = "draining" if work or unknown else "drained"
    own: dict[str, Any] = {name: getattr(row, name) for name in ("id", "kind", "host", "pid", "version")}
    for name in ("started_at", "seen_at", "draining_at", "hand_over_at"):
        at = getattr(row, name)
        own[name] = None if at is None else moment(at)
    return ProcessOut(state=state, work=dict(work), **own)
