"""Reads what limits runs and flows."""

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.flows import service as flows
from headgate.features.runs.budgets.accounts import accounts_of
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.limits.schemas import BudgetOut, FlowLimitsOut, RunLimitsOut, SlotOut
from headgate.features.runs.permitted import require_of_run
from headgate.features.runs.service import read_run
from headgate.features.runs.terms import terms_of
from headgate.features.runs.transitions import clock


async def limits_of_run(engine: ExecutionBackend, principal: Principal, run_id: str) -> RunLimitsOut:
    """Return what limits a run. Raises `RunNotFound`, `PermissionMissing`."""
    run = await read_run(engine, principal, run_id)
    await require_of_run(engine.services.spaces, principal, run, Permission.RUNS_VIEW)
    at = run.finished_at or clock()
    terms = terms_of(run.terms)
    uses = await engine.services.budgets.read(run.tenant_id, terms.budgets, at)
    slots = await engine.services.slots.read(run.tenant_id, run_id)
    return RunLimitsOut(
        budgets=[BudgetOut.model_validate(use) for use in uses],
        priority=terms.priority,
        slots=[SlotOut.model_validate(use) for use in slots],
    )


async def limits_of_flow(
    session: AsyncSession, engine: ExecutionBackend, principal: Principal, flow_id: str
) -> FlowLimitsOut:
    """Return what limits the runs of a flow. Raises `FlowNotFound`, `PermissionMissing`."""
    row = await flows.get_flow(session, principal, flow_id, permission=Permission.RUNS_VIEW)
    settings = flows.definition_of(row).settings
    accounts = accounts_of("", flow_id, run=(), daily=settings.daily_budget, inherited=())
    uses = await engine.services.budgets.read(row.tenant_id, accounts, clock())
    running, queued = await engine.services.slots.count_flow(row.tenant_id, flow_id)
    return FlowLimitsOut(
        budgets=[BudgetOut.model_validate(use) for use in uses],
        max_concurrent_runs=settings.max_concurrent_runs,
        running=running,
        queued=queued,
    )
