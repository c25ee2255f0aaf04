"""Every query on tests of flows. The tenant is always required, but for what a process does for its own results."""

from collections.abc import Collection, Sequence
from typing import cast

from sqlalchemy import CursorResult, Integer, Table, case, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.jobs.queue import Job, Queue
from headgate.features.testing.tables import TestCaseRow, TestResultRow, TrialRow
from headgate.foundation.database import now

QUEUE = Queue(cast("Table", TestResultRow.__table__))
"""Results that are being made: made claimed, and due only when their process is gone."""
OVER = {"due_at": None, "worker_id": None, "lease_until": None}


async def list_cases(session: AsyncSession, flow_id: str, *, tenant_id: str) -> Sequence[TestCaseRow]:
    """The cases of a flow, in their order."""
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
    """Results of exactly this content and this set that passed or failed, newest first."""
    query = select(TestResultRow).where(
        TestResultRow.flow_id == flow_id,
        TestResultRow.tenant_id == tenant_id,
        TestResultRow.logic_checksum == logic,
        TestResultRow.set_checksum == tests,
        TestResultRow.status.in_(("passed", "failed")),
    )
    return (await session.execute(query.order_by(TestResultRow.id.desc()))).scalars().all()


async def find_running(session: AsyncSession, flow_id: str, *, tenant_id: str) -> TestResultRow | None:
    """The result of a flow that is being made."""
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
    """Result to how many of its trials are over, and how many of those failed."""
    failed = func.sum(1 - TrialRow.passed.cast(Integer))
    query = select(TrialRow.result_id, func.count(), failed)
    query = query.where(TrialRow.result_id.in_(result_ids), TrialRow.tenant_id == tenant_id)
    rows = await session.execute(query.group_by(TrialRow.result_id))
    return {result_id: (done, int(missed or 0)) for result_id, done, missed in rows}


async def end(session: AsyncSession, result_id: str, *, tenant_id: str, status: str, reason: str = "") -> bool:
    """End a result that is running; whether it was."""
    change = update(TestResultRow).where(
        TestResultRow.id == result_id, TestResultRow.tenant_id == tenant_id, TestResultRow.status == "running"
    )
    return await _changed(session, change.values(status=status, reason=reason, finished_at=now(), **OVER))


async def is_held(session: AsyncSession, job: Job) -> bool:
    """Whether a result still is to be made by this process; until the transaction ends nobody changes that."""
    query = select(TestResultRow.id).where(QUEUE.held(job)).with_for_update()
    return (await session.execute(query)).scalar_one_or_none() is not None


async def prune(session: AsyncSession, flow_id: str, *, tenant_id: str, keep: int) -> None:
    """Forget all but the newest results of a flow."""
    query = select(TestResultRow.id).where(TestResultRow.flow_id == flow_id, TestResultRow.tenant_id == tenant_id)
    oldest = (await session.execute(query.order_by(TestResultRow.id.desc()).offset(keep).limit(1))).scalar()
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
    session: AsyncSession, run_ids: Collection[str], *, flow_ids: Collection[str], tenant_id: str, why: str
) -> None:
    """Take out of trials what these runs of these flows answered; a fault becomes why it is not told any more."""
    of_flows = select(TestResultRow.id).where(TestResultRow.flow_id.in_(flow_ids), TestResultRow.tenant_id == tenant_id)
    change = update(TrialRow).where(
        TrialRow.result_id.in_(of_flows), TrialRow.tenant_id == tenant_id, TrialRow.run_id.in_(run_ids)
    )
    error = case((TrialRow.error == "", ""), else_=why)
    await session.execute(change.values(answer="", error=error, run_id=""))


async def _changed(session: AsyncSession, change: object) -> bool:
    return cast("CursorResult[object]", await session.execute(change)).rowcount == 1  # type: ignore[call-overload]
