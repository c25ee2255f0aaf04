"""Idempotent start of a run for callers other than HTTP routes: the command line and MCP clients."""

from collections.abc import Sequence
from functools import partial

from headgate.features.access.principal import Principal
from headgate.features.idempotency.keys import StartKey, start_key
from headgate.features.idempotency.service import StartOnce
from headgate.features.runs import service
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.schemas import RunStart
from headgate.foundation.database import Database


async def start_once(
    database: Database,
    engine: ExecutionBackend,
    principal: Principal,
    flow_id: str,
    start: RunStart,
    *,
    idempotency_key: str | None,
    outside: Sequence[str] = (),
) -> str:
    """Start a run, unless one was started with the same key and input. Returns the run's id.

    `outside` marks the input as untrusted: a model chose it after reading content from outside.

    Raises `KeyInvalid`, `KeyReused`, or what `start_run` raises.
    """
    key = start_key(principal, idempotency_key, "run_flow", flow_id, start.model_dump(mode="json"))

    async def begin(once: StartKey | None) -> str:
        return (await service.start_run(database, engine, principal, flow_id, start, once=once, outside=outside)).run_id

    return await StartOnce(database, key).begin(begin, may_read=partial(service.get_run, engine, principal))
