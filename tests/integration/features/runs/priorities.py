"""Runs with priorities that wait for a server or worker: the same for both engines."""

from pathlib import Path

from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.slots.service import change_priority
from headgate.foundation.database import Database
from tests.integration.features.runs.conformance import appears, over
from tests.support.engine import make_chain, make_flow, new_run, store_flow
from tests.support.rows import run_row


async def runs_in_order_of_priority(engine: ExecutionBackend, database: Database, folder: Path) -> list[str]:
    """Let runs wait behind one that holds the only place, and change a priority. Returns the order of their starts."""
    gate = new_run(await store_flow(database, make_flow({"g": "Gate"}, g={"folder": str(folder)})))
    await engine.start(gate)
    await appears(folder / "gate.started")
    version = await store_flow(database, make_chain(1))
    ahead = new_run(version)  # a worker has its message already
    await engine.start(ahead)
    runs = {name: new_run(version, priority=priority) for name, priority in _PRIORITIES.items()}
    for request in runs.values():
        await engine.start(request)
    changed = runs["raised"].key
    async with database.writing() as session:
        await change_priority(session, changed.run_id, 90, tenant_id=changed.tenant_id)
    await engine.recover()
    (folder / "gate.open").touch()
    started: dict[str, int] = {}
    for name, request in runs.items():
        await over(engine, request.key.run_id)
        row = await run_row(database, request.key.run_id)
        assert row.status == "completed"
        started[name] = row.started_at
    return sorted(started, key=lambda name: started[name])


_PRIORITIES = {"low": -50, "raised": 0, "normal": 0, "high": 50}
