"""Deliveries over HTTP."""

from collections.abc import AsyncIterator

import httpx2
import pytest

from headgate.features.runs.deliveries.routes import router as deliveries_router
from headgate.features.runs.routes import router as runs_router
from headgate.foundation.ids import new_id
from tests.integration.features.runs.deliveries.conftest import Desk, delivering
from tests.support.api import api
from tests.support.tenants import add_tenant
from tests.support.web_server import answer


@pytest.fixture
async def client(desk: Desk) -> AsyncIterator[httpx2.AsyncClient]:
    async with api(deliveries_router, runs_router, database=desk.database, engine=desk.engine) as found:
        yield found


class TestRoutes:
    async def test_list_what_was_sent(self, desk: Desk, client: httpx2.AsyncClient) -> None:
        desk.server.on("/in", answer(503), answer(200))
        run_id = await desk.run(delivering(desk.server.url("/in")))
        (made,) = (await client.get(f"/flow-runs/{run_id}/deliveries")).json()["items"]
        assert (made["step_id"], made["status"], made["webhook_delivered"]) == ("send", "delivered", True)
        assert [one["status_code"] for one in made["attempts"]] == [503, 200]

    async def test_show_it_with_the_step(self, desk: Desk, client: httpx2.AsyncClient) -> None:
        desk.server.on("/in", answer(404))
        run_id = await desk.run(delivering(desk.server.url("/in")))
        step = (await client.get(f"/flow-runs/{run_id}/steps/send")).json()
        assert step["status"] == "completed"
        assert step["output"]["text"] == "hello"
        assert step["delivery"]["webhook_delivered"] is False
        assert step["delivery"]["webhook_error"]["code"] == "delivery_refused"
        assert (await client.get(f"/flow-runs/{run_id}/steps/start")).json()["delivery"] is None

    async def test_deliver_again(self, desk: Desk, client: httpx2.AsyncClient) -> None:
        desk.server.on("/in", answer(404))
        run_id = await desk.run(delivering(desk.server.url("/in")))
        desk.server.on("/in", answer(200))
        again = await client.post(f"/flow-runs/{run_id}/redeliver")
        assert again.status_code == 200
        (one,) = again.json()["deliveries"]
        await desk.delivery_sender.settle()
        assert (await desk.deliveries(run_id))[0].status == "delivered"
        await client.post(f"/flow-runs/{run_id}/deliveries/{one['id']}/redeliver")
        await desk.delivery_sender.settle()
        assert len(desk.server.requests) == 3
        assert (await client.post(f"/flow-runs/{run_id}/redeliver")).json() == {"deliveries": []}

    async def test_know_nothing_of_another_tenants(self, desk: Desk) -> None:
        desk.server.on("/in", answer(404))
        run_id = await desk.run(delivering(desk.server.url("/in")))
        (made,) = await desk.deliveries(run_id)
        stranger = await add_tenant(desk.database)
        async with api(deliveries_router, database=desk.database, engine=desk.engine, principal=stranger) as other:
            answers = [
                await other.get(f"/flow-runs/{run_id}/deliveries"),
                await other.post(f"/flow-runs/{run_id}/redeliver"),
                await other.post(f"/flow-runs/{run_id}/deliveries/{made.id}/redeliver"),
            ]
        assert [(one.status_code, one.json()["code"]) for one in answers] == [(404, "run_not_found")] * 3
        assert len(desk.server.requests) == 1

    async def test_say_what_does_not_exist(self, desk: Desk, client: httpx2.AsyncClient) -> None:
        desk.server.on("/in", answer(404))
        run_id = await desk.run(delivering(desk.server.url("/in")))
        unknown = await client.post(f"/flow-runs/{run_id}/deliveries/{new_id()}/redeliver")
        assert (unknown.status_code, unknown.json()["code"]) == (404, "delivery_not_found")
        assert (await client.get("/flow-runs/nonsense/deliveries")).status_code == 404
