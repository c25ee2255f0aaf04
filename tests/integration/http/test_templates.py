"""Every template with its sample data, through the application: imported, ready, run by the embedded engine."""

import asyncio
from typing import Any

import httpx2
import pytest

from headgate.components import BUILTINS
from headgate.features.catalog.gallery import Recipe, find_recipe, load_gallery
from headgate.features.catalog.registry import Registry
from tests.integration.http.conftest import created
from tests.support.openai_server import OpenAIServer
from tests.support.scripted_server import Asked, Reply

TEMPLATES = load_gallery()
REGISTRY = Registry(BUILTINS)
AS_IT_IS = [
    recipe
    for recipe in TEMPLATES
    if not recipe.needs_model and not recipe.needs_network and not recipe.needs_connections(REGISTRY)
]


def key_of(recipe: Recipe) -> str:
    return recipe.key


class TestTemplates:
    async def test_say_their_category_needs_and_sample(self, client: httpx2.AsyncClient) -> None:
        listed = {one["id"]: one for one in (await client.get("/api/v1/templates")).json()}
        assert set(listed) == {recipe.key for recipe in TEMPLATES}
        totals, summary = listed["csv-totals"], listed["document-summary"]
        assert (totals["category"], totals["needs_model"], totals["needs_network"]) == ("spreadsheets", False, False)
        assert totals["sample"]["file"]["name"] == "sales.csv"
        assert summary["needs_model"]
        assert listed["page-to-file"]["needs_network"]
        assert listed["mail-reply-drafts"]["needs_connections"] == [
            {"name": "office-inbox", "kinds": ["imap"]},
            {"name": "office-mail", "kinds": ["smtp"]},
        ]
        assert listed["return-label"]["needs_flows"] == listed["order-confirmation"]["needs_flows"] == ["Address check"]

    async def test_are_mostly_ready_without_anything_else(self) -> None:
        assert len(AS_IT_IS) * 2 > len(TEMPLATES)

    @pytest.mark.timeout(900)  # one of them has a thousand runs
    @pytest.mark.parametrize("recipe", AS_IT_IS, ids=key_of)
    async def test_run_as_they_are_on_their_sample_data(self, client: httpx2.AsyncClient, recipe: Recipe) -> None:
        answer = await client.post("/api/v1/flows", json={"template": recipe.key})
        assert answer.status_code == 201, answer.text
        flow = answer.json()
        assert (flow["issues"], len(flow["also_created"])) == ([], len(recipe.needs_flows))
        run = await self.decided(client, await self.run(client, flow["id"], recipe))
        assert run["status"] == "completed", run["error"]
        outcome = run["output"]["text"] + await self.files(client, run)
        assert [part for part in recipe.shows if part not in outcome] == []

    async def test_take_a_flow_that_is_published_already(self, client: httpx2.AsyncClient) -> None:
        first = (await client.post("/api/v1/flows", json={"template": "return-label"})).json()
        body = {"template": "order-confirmation", "name": "Orders", "description": "Of the shop"}
        second = (await client.post("/api/v1/flows", json=body)).json()
        assert [flow["name"] for flow in first["also_created"]] == ["Address check"]
        assert (second["also_created"], second["issues"]) == ([], [])
        assert (second["name"], second["description"]) == ("Orders", "Of the shop")
        names = [flow["name"] for flow in (await client.get("/api/v1/flows")).json()["items"]]
        assert names.count("Address check") == 1

    async def test_have_titles_of_steps_in_another_language(self, client: httpx2.AsyncClient) -> None:
        body = {"template": "monthly-sales", "labels": {"query": "Summa per månad", "nobody": "Ingen"}}
        answer = await client.post("/api/v1/flows", json=body)
        assert answer.status_code == 201, answer.text
        labels = {node["id"]: node["label"] for node in answer.json()["definition"]["nodes"]}
        assert labels == {"file": "", "read": "", "query": "Summa per månad", "show": "", "save": ""}

    async def test_come_alone_for_users_who_may_not_publish(self, client: httpx2.AsyncClient) -> None:
        key = await client.post("/api/v1/api-keys", json={"name": "edits", "scopes": ["flows.view", "flows.edit"]})
        headers = {"Authorization": f"Bearer {key.json()['key']}"}
        answer = await client.post("/api/v1/flows", json={"template": "return-label"}, headers=headers)
        assert (answer.status_code, answer.json()["also_created"]) == (201, [])
        assert "Address check" in answer.json()["issues"][0]["message"]

    @pytest.mark.parametrize(
        ("body", "status"), [({"template": "nothing"}, 404), ({"template": "echo", "spec": ""}, 422)]
    )
    async def test_are_refused_with_a_reason(
        self, client: httpx2.AsyncClient, body: dict[str, str], status: int
    ) -> None:
        answer = await client.post("/api/v1/flows", json=body)
        assert (answer.status_code, answer.json()["detail"] != "") == (status, True)

    async def test_answers_with_the_fallback_when_the_first_model_fails(self, client: httpx2.AsyncClient) -> None:
        recipe, asked = find_recipe("retry-with-fallback"), []
        with OpenAIServer() as server:

            def answer(request: Asked) -> Reply:
                asked.append(request.body["model"])
                return server.overloaded() if asked[-1] == "first" else server.text("It scatters light.")(request)

            server.script(*[answer] * 20)
            await client.put("/api/v1/variables/OPENAI_API_KEY", json={"value": "sk-test"})
            await client.put("/api/v1/variables/OPENAI_BASE_URL", json={"value": server.base_url})
            spec = recipe.spec.replace('"delay_seconds": 1', '"delay_seconds": 0.01')
            for step, model in (("answer", "first"), ("fallback", "second")):
                spec = spec.replace(f"  {step}: AIStep\n", f"  {step}: AIStep\n    model: openai/{model}\n")
            flow = await created(client, spec)
            run = await self.decided(client, await self.run(client, flow["id"], recipe))
            assert (run["status"], run["output"]["text"]) == ("completed", "It scatters light."), run["error"]
            assert asked[-1] == "second"
            assert asked.count("first") >= 3
            assert recipe.sample.text in str(server.asked[-1].body["messages"])

    async def test_repeats_the_review_until_the_score_is_high_enough(self, client: httpx2.AsyncClient) -> None:
        """The score of the model rises by two in each round; each round gets the text and comment of the last one."""
        recipe, drafts = find_recipe("review-loop"), []
        with OpenAIServer() as server:

            def answer(request: Asked) -> Reply:
                if "tools" not in request.body and "response_format" not in request.body:
                    drafts.append(str(request.body["messages"]))
                    return server.text(f"Draft {len(drafts)}")(request)
                return server.text(f'{{"score": {2 + 2 * len(drafts)}, "comment": "Remark {len(drafts)}"}}')(request)

            server.script(*[answer] * 20)
            await client.put("/api/v1/variables/OPENAI_API_KEY", json={"value": "sk-test"})
            await client.put("/api/v1/variables/OPENAI_BASE_URL", json={"value": server.base_url})
            await client.put("/api/v1/model-roles/step", json={"models": [{"model": "openai/gpt-5-mini"}]})
            flow = (await client.post("/api/v1/flows", json={"template": recipe.key})).json()
            assert [one["name"] for one in flow["also_created"]] == ["Scored draft"]
            run = await self.decided(client, await self.run(client, flow["id"], recipe))
        assert (run["status"], run["output"]["text"]) == ("completed", "Draft 3 Score: 8 of 10, rounds: 3"), run[
            "error"
        ]
        assert "Draft 2" in drafts[2]
        assert "Remark 2" in drafts[2]
        assert recipe.sample.text in drafts[2]

    async def test_say_which_flow_cannot_be_published_yet(self, client: httpx2.AsyncClient) -> None:
        flow = (await client.post("/api/v1/flows", json={"template": "review-loop"})).json()
        assert flow["also_created"] == []
        assert "'Scored draft' was created and is not published" in flow["notes"][0]
        names = [one["name"] for one in (await client.get("/api/v1/flows")).json()["items"]]
        assert sorted(names) == ["Review loop", "Scored draft"]

    async def test_bring_their_schedule_switched_off(self, client: httpx2.AsyncClient) -> None:
        flow = (await client.post("/api/v1/flows", json={"template": "nightly-batch"})).json()
        assert flow["notes"] == []
        triggers = (await client.get("/api/v1/triggers", params={"flow_id": flow["id"]})).json()["items"]
        assert [(one["name"], one["config"]["cron"], one["enabled"]) for one in triggers] == [
            ("Every night", "0 2 * * *", False)
        ]
        listed = {one["id"]: one["triggers"] for one in (await client.get("/api/v1/templates")).json()}
        assert (listed["nightly-batch"], listed["echo"]) == (["Every night"], [])
        await client.post(f"/api/v1/flows/{flow['id']}/publish", json={})
        on = await client.post(f"/api/v1/triggers/{triggers[0]['id']}/resume")
        assert (on.status_code, on.json()["enabled"], on.json()["next_at"] is not None) == (200, True, True)

    async def run(self, client: httpx2.AsyncClient, flow_id: str, recipe: Recipe) -> dict[str, Any]:
        files = []
        if file := recipe.sample.file:
            upload = await client.post("/api/v1/files", files={"file": (file.name, file.content.encode())})
            assert upload.status_code == 201, upload.text
            files = [upload.json()["id"]]
        start = {"text": recipe.sample.text, "form_data": recipe.sample.form, "file_ids": files}
        answer = await client.post(f"/api/v1/flows/{flow_id}/runs", json=start)
        assert answer.status_code == 201, answer.text
        result: dict[str, Any] = answer.json()
        return result

    async def decided(self, client: httpx2.AsyncClient, run: dict[str, Any]) -> dict[str, Any]:
        """Approve everything that a run waits for, also below it, as a user does; return the run when it is over."""
        while run["status"] in {"queued", "running", "waiting"}:
            pending = await client.get("/api/v1/approvals", params={"status": "pending"})
            for approval in pending.json()["items"]:
                body = {"decision": "approve"}
                answer = await client.post(f"/api/v1/approvals/{approval['id']}/decision", json=body)
                assert answer.status_code == 200, answer.text
            await asyncio.sleep(0.05)
            run = (await client.get(f"/api/v1/flow-runs/{run['id']}")).json()
        return run

    async def files(self, client: httpx2.AsyncClient, run: dict[str, Any]) -> str:
        contents = [await client.get(f"/api/v1/files/{file_id}/content") for file_id in run["output"]["file_ids"]]
        assert all(content.status_code == 200 for content in contents)
        return "\n".join(content.content.decode("utf-8-sig", "replace") for content in contents)
