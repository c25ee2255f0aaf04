"""Results of flow tests: starting, reading, listing, ending."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.audit.recorder import record_of
from headgate.features.catalog.registry import Components
from headgate.features.flows.history import get_version
from headgate.features.flows.service import definition_of, get_flow
from headgate.features.flows.versions import draft_logic
from headgate.features.testing import repository
from headgate.features.testing.errors import NoTests, TestResultNotFound, TestsRunning
from headgate.features.testing.gate import standing_of
from headgate.features.testing.schemas import TestResultOut, TestResultSummary, TestSetOut, TrialOut
from headgate.features.testing.service import cases_of, checksum_of, revision_of
from headgate.features.testing.tables import TestResultRow
from headgate.foundation.database import now
from headgate.foundation.ids import is_id
from headgate.graph.cases import TestCase

MOST_RESULTS = 50
"""Maximum results of a flow; older ones are deleted."""
FORGOTTEN = "Failed. Its run was deleted by retention."
INTERRUPTED = "The process that ran the tests ended before they were finished."


async def read_tests(session: AsyncSession, principal: Principal, catalog: Components, flow_id: str) -> TestSetOut:
    """Return a flow's tests, and the test status of its draft. Raises `FlowNotFound`, `PermissionMissing`."""
    flow = await get_flow(session, principal, flow_id, permission=Permission.FLOWS_VIEW)
    settings = definition_of(flow).settings
    logic = await draft_logic(session, catalog, flow)
    running = await repository.find_running(session, flow_id, tenant_id=principal.tenant_id)
    cases = await cases_of(session, flow_id, tenant_id=principal.tenant_id)
    return TestSetOut(
        revision=revision_of(cases),
        cases=cases,
        required=settings.require_tests,
        required_trials=settings.required_trials,
        standing=await standing_of(session, flow, logic=logic, trials=settings.required_trials),
        running=running.id if running else None,
    )


async def cases_to_run(session: AsyncSession, principal: Principal, flow_id: str) -> list[TestCase]:
    """Return the tests of a flow that the caller may run. Raises `NoTests`, `FlowNotFound`, `PermissionMissing`."""
    await get_flow(session, principal, flow_id, permission=Permission.RUNS_TEST)
    return await cases_of(session, flow_id, tenant_id=principal.tenant_id) or _no_tests()


async def add_result(
    session: AsyncSession,
    principal: Principal,
    flow_id: str,
    *,
    version: int,
    trials: int | None,
    result_id: str,
    claimed: Mapping[str, Any],
) -> tuple[TestResultRow, list[TestCase]]:
    """Add the result of starting tests of a version, claimed by this process with these job columns.

    Raises `TestsRunning` while other tests of the flow run, `NoTests`.
    """
    flow = await get_flow(session, principal, flow_id, permission=Permission.RUNS_TEST, lock=True)
    running = await repository.find_running(session, flow_id, tenant_id=principal.tenant_id)
    if running is not None:
        if running.worker_id is not None:
            raise TestsRunning(running.id)
        await repository.end(session, running.id, tenant_id=principal.tenant_id, status="cancelled", reason=INTERRUPTED)
    cases = await cases_of(session, flow_id, tenant_id=principal.tenant_id) or _no_tests()
    version_row = await get_version(session, principal, flow_id, version, permission=Permission.RUNS_TEST)
    each = trials or definition_of(flow).settings.required_trials
    row = TestResultRow(
        id=result_id,
        tenant_id=principal.tenant_id,
        flow_id=flow_id,
        version=version,
        logic_checksum=version_row.logic_checksum,
        set_checksum=checksum_of(cases),
        trials=each,
        of=each * len(cases),
        status="running",
        reason="",
        started_by=principal.user_id or None,
        started_at=now(),
        finished_at=None,
        **claimed,
    )
    session.add(row)
    await repository.prune(session, flow_id, tenant_id=principal.tenant_id, limit=MOST_RESULTS)
    await session.flush()
    payload = {"result_id": row.id, "version": version, "trials": each, "tests": len(cases)}
    await record_of(session, principal, "flow.tests_run", flow, payload=payload)
    return row, cases


async def cancel_result(session: AsyncSession, principal: Principal, flow_id: str, result_id: str) -> bool:
    """End a result early; return whether it was running. Its process is notified. Raises `TestResultNotFound`."""
    flow = await get_flow(session, principal, flow_id, permission=Permission.RUNS_TEST)
    await _find(session, principal, flow_id, result_id)
    changed = await repository.end(
        session,
        result_id,
        tenant_id=principal.tenant_id,
        status="cancelled",
        reason=f"Cancelled by {principal.actor.name}.",
    )
    if changed:
        await record_of(session, principal, "flow.tests_cancelled", flow, payload={"result_id": result_id})
    return changed


async def read_result(session: AsyncSession, principal: Principal, flow_id: str, result_id: str) -> TestResultOut:
    """Return a result with its trials, which contain outputs of runs.

    Raises `TestResultNotFound`, `FlowNotFound`, `PermissionMissing`.
    """
    await get_flow(session, principal, flow_id, permission=Permission.RUNS_VIEW)
    row = await _find(session, principal, flow_id, result_id)
    lines = [
        TrialOut.model_validate(line)
        for line in await repository.list_trials(session, result_id, tenant_id=principal.tenant_id)
    ]
    members = TestResultSummary.model_validate(row).model_dump()
    members |= {"done": len(lines), "failures": sum(not line.passed for line in lines)}
    return TestResultOut(**members, lines=lines)


async def list_results(
    session: AsyncSession, principal: Principal, flow_id: str, *, limit: int = 20, before: str | None = None
) -> Sequence[TestResultSummary]:
    """Results of a flow, newest first. Raises `FlowNotFound`, `PermissionMissing`."""
    await get_flow(session, principal, flow_id, permission=Permission.FLOWS_VIEW)
    rows = await repository.list_results(session, flow_id, tenant_id=principal.tenant_id, limit=limit, before=before)
    counts = await repository.count_trials(session, [row.id for row in rows], tenant_id=principal.tenant_id)
    summaries = []
    for row in rows:
        finished, failures = counts.get(row.id, (0, 0))
        summary = TestResultSummary.model_validate(row)
        summaries.append(summary.model_copy(update={"done": finished, "failures": failures}))
    return summaries


async def forget_runs(
    session: AsyncSession, run_ids: Collection[str], *, flow_ids: Collection[str], tenant_id: str
) -> None:
    """Remove outputs of these deleted runs; whether they passed stays."""
    await repository.forget_runs(session, run_ids, flow_ids=flow_ids, tenant_id=tenant_id, reason=FORGOTTEN)


async def _find(session: AsyncSession, principal: Principal, flow_id: str, result_id: str) -> TestResultRow:
    result = None
    if is_id(result_id):
        result = await repository.find_result(session, result_id, flow_id=flow_id, tenant_id=principal.tenant_id)
    if result is None:
        raise TestResultNotFound(result_id)
    return result


def _no_tests() -> list[TestCase]:
    raise NoTests
