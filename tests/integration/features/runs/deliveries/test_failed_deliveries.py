"""Failed deliveries are shown on runs, in lists and across runs, and sent again together; on both databases."""

from collections.abc import AsyncIterator

import httpx2
import pytest

from headgate.features.runs.deliveries.routes import router
from headgate.features.runs.routes import router as runs_router
from tests.integration.features.runs.deliveries.conftest import Desk, delivering
from tests.support.api import api
from tests.support.tenants import add_tenant
from tests.support.web_server import answer


@pytest.fixture
async def client(desk: Desk) -> AsyncIterator[httpx2.AsyncClient]:
    async with api(router, runs_router, database=desk.database, engine=desk.engine) as client:
        yield client


async def some_runs(desk: Desk) -> tuple[list[str], str]:
    """Two runs whose delivery failed, and one whose delivery was made."""
    desk.server.on("/in", answer(401))
    failed = [await desk.run(delivering(desk.server.url("/in"))) for _ in range(2)]
    desk.server.on("/in", answer(200))
    return failed, await desk.run(delivering(desk.server.url("/in")))


class TestRuns:
    async def test_show_that_a_delivery_failed(self, desk: Desk, client: httpx2.AsyncClient) -> None:
        failed, made = await some_runs(desk)
        listed = {one["id"]: one["deliveries_failed"] for one in (await client.get("/flow-runs")).json()["items"]}
        assert listed == {failed[0]: 1, failed[1]: 1, made: 0}
        for run_id, count in listed.items():
            assert (await client.get(f"/flow-runs/{run_id}")).json()["deliveries_failed"] == count

    async def test_are_filtered_by_it(self, desk: Desk, client: httpx2.AsyncClient) -> None:
        failed, made = await some_runs(desk)
        for state, expected in (("failed", failed), ("delivered", [made]), ("pending", [])):
            runs = (await client.get("/flow-runs", params={"deliveries": state})).json()["items"]
            assert {run["id"] for run in runs} == set(expected)
        runs = (await client.get("/flow-runs", params={"deliveries": "failed", "search": "hello"})).json()["items"]
        assert {run["id"] for run in runs} == set(failed)


class TestDeliveries:
    async def test_of_all_runs_are_one_list_in_pages(self, desk: Desk, client: httpx2.AsyncClient) -> None:
        failed, _ = await some_runs(desk)
        first = (await client.get("/deliveries", params={"status": "failed", "limit": 1})).json()
        second = (await client.get("/deliveries", params={"status": "failed", "cursor": first["next_cursor"]})).json()
        deliveries = [*first["items"], *second["items"]]
        assert [delivery["run_id"] for delivery in deliveries] == failed[::-1]
        assert {delivery["webhook_error"]["code"] for delivery in deliveries} == {"delivery_refused"}
        assert all(delivery["attempts"] for delivery in deliveries)
        assert len((await client.get("/deliveries")).json()["items"]) == 3

    async def test_that_failed_are_sent_again_together(self, desk: Desk, client: httpx2.AsyncClient) -> None:
        await some_runs(desk)
        sent = (await client.post("/deliveries/redeliver")).json()["ids"]
        assert len(sent) == 2
        await desk.delivery_sender.settle()
        assert (await client.get("/deliveries", params={"status": "failed"})).json()["items"] == []
        assert (await client.post("/deliveries/redeliver")).json()["ids"] == []

    async def test_are_sent_again_by_id_or_flow(self, desk: Desk, client: httpx2.AsyncClient) -> None:
        await some_runs(desk)
        newest, oldest = (await client.get("/deliveries", params={"status": "failed"})).json()["items"]
        by_id = await client.post("/deliveries/redeliver", json={"ids": [newest["id"]]})
        by_flow = await client.post("/deliveries/redeliver", json={"flow_id": oldest["flow_id"]})
        assert (by_id.json()["ids"], by_flow.json()["ids"]) == ([newest["id"]], [oldest["id"]])
        await desk.delivery_sender.settle()

    async def test_of_another_tenant_are_not_there(self, desk: Desk) -> None:
        await some_runs(desk)
        stranger = await add_tenant(desk.database)
        async with api(router, principal=stranger, database=desk.database, engine=desk.engine) as client:
            assert (await client.get("/deliveries")).json()["items"] == []
            assert (await client.post("/deliveries/redeliver")).json()["ids"] == []
