"""What tests of flows leave in a tenant, as rows: one result is being made by a process elsewhere."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.jobs.leases import MICROSECONDS, clock
from headgate.features.testing.tables import TestCaseRow, TestResultRow, TrialRow
from headgate.foundation.ids import new_id

TESTED = "e" * 64
"""Checksum of what was tested, and of the tests."""


async def add_tests(  # noqa: PLR0917 - what a test is made of
    session: AsyncSession, tenant_id: str, flow_ids: Sequence[str], run_id: str, file_id: str, marker: str
) -> str:
    """Tests of flows, each given the file; a result of the first that passed, and one that is being made elsewhere.

    Its trials were `run_id`. Gives the id of the one that is being made.
    """
    case = {"text": marker, "file_ids": [file_id]}
    for flow_id in flow_ids:
        session.add(TestCaseRow(flow_id=flow_id, name="same", tenant_id=tenant_id, position=0, case=case))
    passed, running = new_id(), new_id()
    for result_id, status in ((passed, "passed"), (running, "running")):
        result: dict[str, Any] = {"id": result_id, "tenant_id": tenant_id, "flow_id": flow_ids[0], "version": 1}
        result |= {"logic_checksum": TESTED, "set_checksum": TESTED, "trials": 1, "of": 1, "status": status}
        held = {"worker_id": "elsewhere", "lease_until": clock() + 3600 * MICROSECONDS} if status == "running" else {}
        await session.execute(insert(TestResultRow).values(**result, reason=marker, **held))
        trial = {"result_id": result_id, "position": 0, "trial": 1, "tenant_id": tenant_id, "name": "same"}
        came = {"passed": True, "misses": [], "answer": marker, "error": "", "run_id": run_id, "ms": 1, "tokens": 1}
        await session.execute(insert(TrialRow).values(**trial, **came))
    return running
