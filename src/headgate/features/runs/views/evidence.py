"""Everything about one run in one document (seed 002). The same finished run always gives the same document."""

from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.accounts.principal import Principal
from headgate.features.flows import versions
from headgate.features.runs import repository
from headgate.features.runs.errors import RunNotFound
from headgate.features.runs.schemas import EvidenceOut
from headgate.features.runs.steps.payloads import presented
from headgate.foundation.database import moment
from headgate.foundation.ids import is_id

_TIMES = ("created_at", "started_at", "finished_at", "cancelled_at", "lease_until")
_PRIVATE = ("worker_id", "lease_until", "waiting", "unfinished")
"""Bookkeeping of the engine: who held what, and for how long."""


async def gather_evidence(session: AsyncSession, principal: Principal, run_id: str) -> EvidenceOut:
    """The run, the definition it ran, its steps and their attempts. Raises `RunNotFound`."""
    tenant = principal.tenant_id
    run = await repository.find_run(session, run_id, tenant_id=tenant) if is_id(run_id) else None
    if run is None:
        raise RunNotFound(run_id)
    version = await versions.get_version(session, principal, run.flow_id, run.version)
    steps = await repository.list_steps(session, run_id, tenant_id=tenant)
    attempts = await repository.list_attempts(session, run_id, tenant_id=tenant)
    envelope = _document(run) | {
        "flow_run_id": run.id,
        "flow_version": run.version,
        "definition_checksum": version.checksum,
        "headgate_version": version.headgate_version,
    }
    return EvidenceOut(
        run=envelope,
        definition_snapshot=version.definition,
        step_results=[_document(step) | {"output_payload": presented(step.output_payload)} for step in steps],
        step_attempts=[_document(attempt) for attempt in attempts],
    )


def _document(row: repository.AnyRow) -> dict[str, Any]:
    """A row as a JSON object: times as ISO 8601 in UTC, a duration beside them."""
    found: dict[str, Any] = {name: value for name, value in row._mapping.items() if name not in _PRIVATE}  # noqa: SLF001
    started, finished = found.get("started_at"), found.get("finished_at")
    if started is not None and finished is not None:
        found["latency_ms"] = (finished - started) / 1000
    for name in _TIMES:
        if found.get(name) is not None:
            found[name] = moment(found[name]).isoformat()
    return found
