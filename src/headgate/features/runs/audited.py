"""Audit log entries of runs: who started, cancelled or resumed them.

An entry holds a digest of the run's input, the length of its text and the names of its answers. The rows of a run
are purged eventually; the audit log is not.
"""

from typing import Any

import orjson

from headgate.features.access.principal import Principal
from headgate.features.audit.actions import Action
from headgate.features.audit.chain import Entry
from headgate.features.audit.recorder import entry_of
from headgate.features.runs.engine.backend import ExecutionBackend, RunRequest
from headgate.features.runs.run_input import input_payload
from headgate.features.runs.transitions import RunKey
from headgate.foundation.errors import HeadgateError


async def start_of(engine: ExecutionBackend, principal: Principal, request: RunRequest) -> Entry:
    """Return the audit entry of a run that is about to start."""
    run_input, reuse = request.input, request.reuse
    payload: dict[str, Any] = {
        "characters": len(run_input.text),
        "answers": list(run_input.form_data),
        "files": [file.id for file in run_input.files],
        "session_id": request.session_id,
    }
    if reuse is not None:
        payload |= {"takes_over": reuse.run_id, "from_step": reuse.step_id}
    if request.part is not None:
        payload["part"] = orjson.loads(request.part.stored())
    decoded = orjson.loads(input_payload(run_input))
    action: Action = "run.started" if reuse is None else "run.rerun"
    return await _entry(engine, principal, action, request.key, payload, after=decoded)


async def change_of(engine: ExecutionBackend, principal: Principal, key: RunKey, action: Action) -> Entry:
    """Return the audit entry of a cancel or a resume."""
    return await _entry(engine, principal, action, key, {})


async def _entry(
    engine: ExecutionBackend,
    principal: Principal,
    action: Action,
    key: RunKey,
    payload: dict[str, Any],
    *,
    after: Any = None,  # noqa: ANN401 - a JSON value
) -> Entry:
    try:
        name = (await engine.plans.of(key)).flow.name
    except HeadgateError:  # its components no longer fit together; it can still be cancelled
        name = ""
    return entry_of(
        principal,
        action,
        id=key.run_id,
        name=name,
        space_id=await engine.services.spaces.of(key.tenant_id, key.flow_id),
        after=after,
        payload={"flow_id": key.flow_id, "version": key.version, **payload},
    )
