"""Flows that run flows, and limits of flows, asked for without a model: real application, on both databases."""

from typing import Any

import httpx2

from tests.integration.agents.assistant.test_offline_files import asked
from tests.integration.http.conftest import ECHO, app, client, created

__all__ = ["app", "client"]


async def published(client: httpx2.AsyncClient) -> dict[str, Any]:
    flow = await created(client, ECHO)
    answer = await client.post(f"/api/v1/flows/{flow['id']}/publish", json={})
    assert answer.is_success, answer.text
    return flow


class TestOtherFlows:
    async def test_are_run_for_each_row_when_they_are_published(self, client: httpx2.AsyncClient) -> None:
        await published(client)
        _, data = await asked(client, "for each row of the csv run the flow echo, two at a time")
        assert data["declined"] is False, data["result"]
        assert "- 'echo' runs the flow 'Echo' for each item, 2 at a time" in data["result"]
        assert "Before it can run" not in data["result"]

    async def test_that_there_are_not_are_refused_with_those_that_there_are(self, client: httpx2.AsyncClient) -> None:
        _, data = await asked(client, "for each row of the csv run the flow Invoice")
        assert (data["declined"], data["changes"]) == (True, [])
        assert "There is no published flow 'Invoice'; no flow is published yet" in data["result"]
        await published(client)
        _, data = await asked(client, "kör flödet Faktura för varje rad i csv-filen")
        assert "Det finns inget publicerat flöde 'Faktura'. Du får köra 'Echo'." in data["result"]

    async def test_do_not_include_the_one_at_hand(self, client: httpx2.AsyncClient) -> None:
        flow = await published(client)
        _, data = await asked(client, "run the flow Echo before said", flow_id=flow["id"])
        assert (data["declined"], data["changes"]) == (True, [])


class TestLimits:
    async def test_are_stored_in_the_settings_of_the_flow_at_hand(self, client: httpx2.AsyncClient) -> None:
        flow = await created(client, ECHO)
        request = "limit this flow to 2 dollars per run and 10 per day, at most 3 runs at the same time"
        _, data = await asked(client, request, flow_id=flow["id"])
        assert data["declined"] is False, data["result"]
        for line in ("A run may use: usd 2.", "All runs on one day may use: usd 10.", "at most 3."):
            assert line in data["result"]
        assert any("daily_budget" in line for line in data["changes"]), data["changes"]
