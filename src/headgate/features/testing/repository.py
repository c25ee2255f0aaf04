"""Queries on flow tests. The tenant is always required, except for a process's own results."""

from collections.abc import Collection, Sequence
from typing import cast

from sqlalchemy import CursorResult, Integer, Table, case, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.jobs.queue import Job, Queue
from headgate.features.testing.tables import TestCaseRow, TestResultRow, TrialRow
from headgate.foundation.database import now

QUEUE = Queue(cast("Table", TestResultRow.__table__))
"""Running results: created claimed, and due only when their process has ended."""
OVER = {"due_at": None, "worker_id": None, "lease_until": None}


async def list_cases(session: AsyncSession, flow_id: str, *, tenant_id: str) -> Sequence[TestCaseRow]:
    """Return the cases of a flow, in order."""
    query = select(TestCaseRow).where(TestCaseRow.flow_id == flow_id, TestCaseRow.tenant_id == tenant_id)
    return (await session.execute(query.order_by(TestCaseRow.position, TestCaseRow.name))).scalars().all()


async def list_results(
    session: AsyncSession, flow_id: str, *, tenant_id: str, limit: int, before: str | None = None
) -> Sequence[TestResultRow]:
    """Results of a flow, newest first."""
    query = select(TestResultRow).where(TestResultRow.flow_id == flow_id, TestResultRow.tenant_id == tenant_id)
    if before is not None:
        query = query.where(TestResultRow.id < before)
    return (await session.execute(query.order_by(TestResultRow.id.desc()).limit(limit))).scalars().all()


async def find_result(session: AsyncSession, result_id: str, *, flow_id: str, tenant_id: str) -> TestResultRow | None:
    """One result of a flow."""
    query = select(TestResultRow).where(
        TestResultRow.id == result_id, TestResultRow.flow_id == flow_id, TestResultRow.tenant_id == tenant_id
    )
    return (await session.execute(query)).scalar_one_or_none()


async def list_over(
    session: AsyncSession, flow_id: str, *, tenant_id: str, logic: str, tests: str
) -> Sequence[TestResultRow]:
    """Return finished results of exactly this content and this set, newest first."""
    query = select(TestResultRow).where(
        TestResultRow.flow_id == flow_id,
        TestResultRow.tenant_id == tenant_id,
        TestResultRow.logic_checksum == logic,
        TestResultRow.set_checksum == tests,
        TestResultRow.status.in_(("passed", "failed")),
    )
    return (await session.execute(query.order_by(TestResultRow.id.desc()))).scalars().all()


async def find_running(session: AsyncSession, flow_id: str, *, tenant_id: str) -> TestResultRow | None:
    """Return the running result of the flow."""
    query = select(TestResultRow).where(
        TestResultRow.flow_id == flow_id,
        TestResultRow.tenant_id == tenant_id,
        TestResultRow.status == "running",
    )
    return (await session.execute(query.limit(1))).scalars().first()


async def list_trials(session: AsyncSession, result_id: str, *, tenant_id: str) -> Sequence[TrialRow]:
    """Trials of a result, by case."""
    query = (
        select(TrialRow)
        .join(TestResultRow)
        .where(TrialRow.result_id == result_id, TestResultRow.tenant_id == tenant_id)
    )
    return (await session.execute(query.order_by(TrialRow.position, TrialRow.trial))).scalars().all()


async def count_trials(
    session: AsyncSession, result_ids: Sequence[str], *, tenant_id: str
) -> dict[str, tuple[int, int]]:
    """Return the number of finished and of failed trials by result."""
    failed = func.sum(1 - TrialRow.passed.cast(Integer))
    query = select(TrialRow.result_id, func.count(), failed)
    query = query.where(TrialRow.result_id.in_(result_ids), TrialRow.tenant_id == tenant_id)
    rows = await session.execute(query.group_by(TrialRow.result_id))
    return {result_id: (finished, int(missed or 0)) for result_id, finished, missed in rows}


async def end(session: AsyncSession, result_id: str, *, tenant_id: str, status: str, reason: str = "") -> bool:
    """End a running result; return whether it was running."""
    change = update(TestResultRow).where(
        TestResultRow.id == result_id, TestResultRow.tenant_id == tenant_id, TestResultRow.status == "running"
    )
    return await _changed(session, change.values(status=status, reason=reason, finished_at=now(), **OVER))


async def is_held(session: AsyncSession, job: Job) -> bool:
    """Return whether this process still owns a result; locks it until the transaction ends."""
    query = select(TestResultRow.id).where(QUEUE.held(job)).with_for_update()
    return (await session.execute(query)).scalar_one_or_none() is not None


async def prune(session: AsyncSession, flow_id: str, *, tenant_id: str, limit: int) -> None:
    """Delete all but the newest results of a flow."""
    query = select(TestResultRow.id).where(TestResultRow.flow_id == flow_id, TestResultRow.tenant_id == tenant_id)
    oldest = (await session.execute(query.order_by(TestResultRow.id.desc()).offset(limit).limit(1))).scalar()
    if oldest is not None:
        await session.execute(
            delete(TestResultRow).where(
                TestResultRow.flow_id == flow_id,
                TestResultRow.tenant_id == tenant_id,
                TestResultRow.id <= oldest,
                TestResultRow.status != "running",
            )
        )


async def forget_runs(
    session: AsyncSession, run_ids: Collection[str], *, flow_ids: Collection[str], tenant_id: str, reason: str
) -> None:
    """Remove outputs of these runs from trials; faults are replaced by the reason."""
    of_flows = select(TestResultRow.id).where(TestResultRow.flow_id.in_(flow_ids), TestResultRow.tenant_id == tenant_id)
    change = update(TrialRow).where(
        TrialRow.result_id.in_(of_flows), TrialRow.tenant_id == tenant_id, TrialRow.run_id.in_(run_ids)
    )
    error = case((TrialRow.error == "", ""), else_=reason)
    await session.execute(change.values(answer="", error=error, run_id=""))


async def _changed(session: AsyncSession, change: object) -> bool:
    return cast("CursorResult[object]", await session.execute(change)).rowcount == 1  # type: ignore[call-overload]
