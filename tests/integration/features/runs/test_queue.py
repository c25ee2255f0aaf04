"""The queue over HTTP: who sees what, why runs wait, limits of spaces, and a priority that a user changes."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import event

from headgate.features.access.principal import DEFAULT_TENANT_ID, LOCAL
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.queue.service import read_queue
from headgate.features.runs.quotas.service import Quotas
from headgate.features.runs.slots.service import Slots
from headgate.features.runs.transitions import RunKey
from headgate.foundation.settings import QuotaSettings, Settings
from tests.integration.features.processes.test_api import drain, own, until_state
from tests.integration.features.runs.test_slot_cycles import NoLimits, waiting_run
from tests.support.people import add_tenant_row
from tests.support.rows import execute
from tests.support.team import FLOW, Team, team


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    """A team whose only server takes no work."""
    async with team(settings, quotas=QuotaSettings(space_runs=50)) as found:
        await drain(found, (await own(found))["id"])
        await until_state(found, "drained")
        yield found


async def queued(us: Team, who: str = "editor", **more: Any) -> tuple[str, str]:
    """A flow and its run, which no server takes."""
    flow_id = (await us.make(who, "/flows", spec=FLOW.replace("heard", "s")))["id"]
    return flow_id, (await us.make(who, f"/flows/{flow_id}/runs", text="hello", **more))["id"]


async def test_shows_runs_of_the_spaces_of_the_caller_and_why_they_wait(us: Team) -> None:
    flow_id, first = await queued(us, priority=-3)
    second = (await us.make("owner", f"/flows/{flow_id}/runs", text="hello"))["id"]
    _, third = await queued(us, "stranger")
    await us.make("editor", f"/flow-runs/{first}/pause")
    queue = await us.get("viewer", "/queue")
    assert (queue["waiting"], queue["paused"], queue["running"]) == (1, 1, 0)
    waits, paused = queue["runs"]
    assert (waits["id"], waits["reason"], waits["position"], waits["may_change"]) == (second, "draining", 1, False)
    assert (paused["id"], paused["reason"], paused["position"], paused["priority"]) == (first, "paused", None, -3)
    classes = {(group["flow_id"], group["reason"], group["priority_class"]) for group in queue["groups"]}
    assert classes == {(flow_id, "draining", "normal"), (flow_id, "paused", "low")}
    assert (queue["workers"], queue["tenants"]) == (None, [])
    space = {name: queue["limits"][0][name] for name in ("name", "kind", "most", "used")}
    assert space == {"name": f"space:{us.space}", "kind": "space", "most": 50, "used": 1}
    assert [run["id"] for run in (await us.get("stranger", "/queue"))["runs"]] == [third]


async def test_shows_an_admin_of_the_installation_counts_of_every_organisation(us: Team) -> None:
    _, run_id = await queued(us)
    other = await add_tenant_row(us.database, "Other")
    assert (await us.get("admin", "/queue"))["workers"] == 0
    (own_counts,) = (await us.get("admin", "/queue"))["tenants"]
    assert (own_counts["waiting"], own_counts["oldest_at"]) == (
        1,
        (await us.get("admin", "/queue"))["runs"][0]["since"],
    )
    assert other != own_counts["id"] == DEFAULT_TENANT_ID
    await us.ask("admin", "DELETE", f"/processes/{(await own(us))['id']}/drain")
    assert (await us.get("editor", f"/flow-runs/{run_id}?wait=true")) is not None


async def test_says_that_no_worker_runs(us: Team) -> None:
    await queued(us)
    await execute(us.database, "UPDATE processes SET seen_at = 0")
    assert (await us.get("editor", "/queue"))["runs"][0]["reason"] in {"no_worker", "draining"}


async def test_reads_a_queue_of_any_length_in_the_same_statements(us: Team) -> None:
    counts = []
    for _ in range(2):
        await queued(us)
        statements: list[str] = []
        async with us.database.reading() as session:
            connection = (await session.connection()).sync_connection
            event.listen(connection, "before_cursor_execute", lambda *sent, to=statements: to.append(sent[2]))
            queue = await read_queue(
                session, LOCAL, backend="embedded", quotas=Quotas(us.database, QuotaSettings(space_runs=50))
            )
        counts.append((len(queue.runs), len(statements)))
    assert [runs for runs, _ in counts] == [1, 2]
    assert counts[0][1] == counts[1][1] <= 7


class TestPriority:
    async def test_is_changed_by_those_who_may_start_runs_and_recorded(self, us: Team) -> None:
        _, run_id = await queued(us)
        allowed = await us.allowed("PUT", f"/flow-runs/{run_id}/priority", json={"priority": 20})
        assert allowed == {"runner", "editor", "publisher", "owner", "admin"}
        assert (await us.get("viewer", "/queue"))["runs"][0]["priority"] == 20
        assert (await us.get("viewer", f"/flow-runs/{run_id}/limits"))["priority"] == 20
        entries = (await us.get("admin", "/audit", params={"action": "run.prioritized"}))["items"]
        assert entries[-1]["payload"] | {"flow_id": ""} == {"flow_id": "", "before": 0, "after": 20}
        too_high = await us.ask("editor", "PUT", f"/flow-runs/{run_id}/priority", json={"priority": 101})
        assert too_high.status_code == 422
        await us.make("editor", f"/flow-runs/{run_id}/cancel")
        over = await us.ask("editor", "PUT", f"/flow-runs/{run_id}/priority", json={"priority": 1})
        assert (over.status_code, over.json()["code"]) == (409, "run_over")

    async def test_is_that_of_the_runs_of_its_steps_too(self, us: Team) -> None:
        flow_id, run_id = await queued(us)
        version = (await us.get("editor", f"/flow-runs/{run_id}"))["version"]
        flow = RunKey(run_id, DEFAULT_TENANT_ID, flow_id, version)
        child = await waiting_run(us.database, flow, "slot", flow)
        grandchild = await waiting_run(us.database, flow, "slot", child)
        slots = Slots(us.database, NoLimits())
        holder = await waiting_run(us.database, flow, "retry")
        running = "UPDATE flow_step_results SET status = 'running' WHERE flow_run_id = :id"
        await execute(us.database, running, id=holder.run_id)
        assert await slots.take_key(Origin(holder, "s"), us.space, "erp", 1)
        assert not await slots.take_key(Origin(grandchild, "s"), us.space, "erp", 1)
        of_child = await us.ask("editor", "PUT", f"/flow-runs/{child.run_id}/priority", json={"priority": 9})
        assert (of_child.status_code, of_child.json()["code"]) == (409, "run_of_step")
        await us.ask("editor", "PUT", f"/flow-runs/{run_id}/priority", json={"priority": 9})
        (shown,) = [run for run in (await us.get("editor", "/queue"))["runs"] if run["reason"] == "limit"]
        assert (shown["id"], shown["priority"], shown["of_step"]) == (grandchild.run_id, 9, True)
        later = await waiting_run(us.database, flow, "slot", grandchild)
        assert not await slots.take_key(Origin(later, "s"), us.space, "erp", 1)
        limit = next(limit for limit in (await us.get("editor", "/queue"))["limits"] if limit["kind"] == "key")
        assert (limit["title"], limit["used"], limit["waiting"]) == ("erp", 1, 2)
        runs = [run for run in (await us.get("editor", "/queue"))["runs"] if run["reason"] == "limit"]
        assert [(run["id"], run["priority"], run["position"]) for run in runs] == [
            (grandchild.run_id, 9, 1),
            (later.run_id, 9, 2),
        ]
