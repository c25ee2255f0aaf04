"""What every execution backend must do with steps and tool calls that wait for approval: see `conformance`."""

import asyncio
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headgate.features.access.principal import LOCAL
from headgate.features.runs.approvals import service
from headgate.features.runs.approvals.errors import ApprovalDecided
from headgate.features.runs.approvals.schemas import ApprovalSummary, DecisionIn
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.foundation.database import Database
from headgate.graph.model import Flow, Node, StepPolicy, ToolApproval
from tests.integration.features.runs.conformance import over, until
from tests.support.engine import PlainSealer, make_flow, new_run, store_flow
from tests.support.rows import attempts, run_row, step_rows


def calling_flow(folder: Path) -> Flow:
    """`start -> agent -> end`; of the agent's two tools the second needs approval."""
    policy = StepPolicy(tool_approval=ToolApproval(tools=("second",)))
    return make_flow(
        {
            "start": "Start",
            "first": "Stamp",
            "second": "Stamp",
            "agent": Node(id="agent", type="Caller", policy=policy),
            "end": "Echo",
        },
        [
            "start.text -> agent.input",
            "first.tool -> agent.tools",
            "second.tool -> agent.tools",
            "agent.text -> end.input",
        ],
        first={"path": str(folder / "first")},
        second={"path": str(folder / "second")},
    )


def stamps(folder: Path, name: str) -> list[str]:
    """The lines that a tool has written."""
    path = folder / name
    return path.read_text().splitlines() if path.exists() else []


async def asked(database: Database, run_id: str) -> ApprovalSummary:
    """Wait until a run only waits, and return its approval."""
    shown: list[Sequence[ApprovalSummary]] = []

    async def is_waiting() -> bool:
        row = await run_row(database, run_id)
        assert row.status not in {"failed", "completed"}, row.error_message
        async with database.reading() as session:
            shown.append(
                await service.list_approvals(session, LOCAL, box=PlainSealer(), status="pending", run_id=run_id)
            )
        return bool(row.status == "waiting" and shown[-1])

    await until(is_waiting)
    [approval] = shown[-1]
    return approval


async def decide(database: Database, approval_id: str, decision: Any = "approve", **more: Any) -> bool:
    """Decide as a user does. Returns False when it was decided already."""
    try:
        async with database.writing() as session:
            await service.decide(session, LOCAL, approval_id, DecisionIn(decision=decision, **more), box=PlainSealer())
    except ApprovalDecided:
        return False
    return True


class ApprovalConformance:
    """An agent whose tool needs approval holds nothing, and makes the call once."""

    async def test_a_tool_call_is_made_once_under_a_hundred_decisions(
        self, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        engine = await make_engine(max_concurrent_runs=1, spare_concurrent_runs=0)
        request = new_run(await store_flow(database, calling_flow(tmp_path)), "order")
        await engine.start(request)
        run_id = request.key.run_id
        approval = await asked(database, run_id)
        assert approval.tool == "second"
        step = (await step_rows(database, run_id))["agent"]
        assert (step.status, step.waits_for, step.worker_id) == ("waiting", "approval", None)
        assert (stamps(tmp_path, "first"), stamps(tmp_path, "second")) == (["order"], [])
        decisions = await asyncio.gather(*(decide(database, approval.id) for _ in range(100)))
        assert decisions.count(True) == 1
        await over(engine, run_id)
        assert (stamps(tmp_path, "first"), stamps(tmp_path, "second")) == (["order"], ["order"])
        row = await run_row(database, run_id)
        assert (row.status, row.output_payload["text"]) == ("completed", "stamped order, stamped order")
        assert [row[2] for row in await attempts(database, run_id) if row[0] == "agent"] == ["suspended", "completed"]

    async def test_a_rejected_tool_call_is_never_made(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        request = new_run(await store_flow(database, calling_flow(tmp_path)), "order")
        await engine.start(request)
        approval = await asked(database, request.key.run_id)
        assert await decide(database, approval.id, "reject", comment="too dear")
        await over(engine, request.key.run_id)
        assert stamps(tmp_path, "second") == []
        row = await run_row(database, request.key.run_id)
        assert "too dear" in row.output_payload["text"]


class ApprovalDeathConformance:
    """What waits for approval outlives its worker."""

    async def test_an_approved_call_is_made_after_its_worker_was_killed(
        self, processes: Any, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        process, run_id = await processes.start(await store_flow(database, calling_flow(tmp_path)), "order")
        approval = await asked(database, run_id)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert await decide(database, approval.id)
        await over(await make_engine(), run_id)
        assert (stamps(tmp_path, "first"), stamps(tmp_path, "second")) == (["order"], ["order"])
        assert (await run_row(database, run_id)).status == "completed"
