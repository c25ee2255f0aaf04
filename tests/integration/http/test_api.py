"""The HTTP API, as a client sees it."""

from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from tests.integration.http.conftest import ECHO, created

JSON = {"content-type": "application/json"}


def is_problem(answer: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = answer.json()
    assert document["code"] == code
    assert document["status"] == status
    assert document["detail"]
    assert "Traceback" not in answer.text
    return document


class TestHealth:
    async def test_answers_and_says_the_version(self, client: httpx2.AsyncClient) -> None:
        assert (await client.get("/health")).json()["status"] == "ok"
        ready = (await client.get("/health/ready")).json()
        assert ready["status"] == "ok"
        assert {"database", "engine"} < {part["name"] for part in ready["parts"]}


class TestFlows:
    async def test_go_from_text_to_a_published_version_and_a_run(self, client: httpx2.AsyncClient) -> None:
        flow = await created(client)
        assert flow["issues"] == []
        published = (await client.post(f"/api/v1/flows/{flow['id']}/publish", json={"notes": "first"})).json()
        assert (published["version"], published["release"]) == (1, 1)
        run = (
            await client.post(
                f"/api/v1/flows/{flow['id']}/runs", json={"text": "hej", "version": "published", "wait": True}
            )
        ).json()
        assert run["status"] == "completed"
        assert run["output"]["text"] == "hej"
        assert [step["status"] for step in run["steps"]] == ["completed", "completed"]
        evidence = (await client.get(f"/api/v1/flow-runs/{run['id']}/evidence")).json()
        assert evidence["definition_snapshot"]["name"] == "Echo"
        assert [len(step["attempts"]) for step in evidence["step_results"]] == [1, 1]

    async def test_conflict_without_losing_the_other_edit(self, client: httpx2.AsyncClient) -> None:
        flow = await created(client)
        path = f"/api/v1/flows/{flow['id']}/draft"
        definition = flow["definition"] | {"name": "Mine"}
        assert (await client.patch(path, json={"revision": 1, "definition": definition})).status_code == 200
        late = await client.patch(path, json={"revision": 1, "definition": flow["definition"] | {"name": "Late"}})
        assert is_problem(late, 409, "stale_revision")["revision"] == 2
        assert (await client.get(f"/api/v1/flows/{flow['id']}")).json()["name"] == "Mine"

    async def test_refuse_what_does_not_hold_together(self, client: httpx2.AsyncClient) -> None:
        wrong = await client.post("/api/v1/flows", json={"spec": ECHO.replace("said.input", "said.inptu")})
        document = is_problem(wrong, 422, "spec_invalid")
        assert "input" in document["detail"]
        assert document["issues"][0]["line"] == 6

    @pytest.mark.parametrize(
        ("spec", "word"),
        [
            ("nodes", "line 1"),
            ("name: x\nnodes:\n  a: Nonsense\n", "Nonsense"),
            (ECHO + "  said.text -> heard.text\n", "heard"),
            (ECHO.replace("heard.text", "heard.txt"), "text"),
            ("name: x\x00\n", "line 1"),
        ],
    )
    async def test_name_the_fault_of_a_malformed_spec(self, client: httpx2.AsyncClient, spec: str, word: str) -> None:
        document = is_problem(await client.post("/api/v1/flows", json={"spec": spec}), 422, "spec_invalid")
        assert word in str(document)

    async def test_come_back_from_an_export_as_they_were(self, client: httpx2.AsyncClient) -> None:
        flow = await created(client)
        for kind in ("spec", "json"):
            exported = (await client.get(f"/api/v1/flows/{flow['id']}/export", params={"format": kind})).json()
            again = await client.post("/api/v1/flows/import", json={"content": exported["content"]})
            assert again.status_code == 201
            assert again.json()["definition"]["nodes"] == flow["definition"]["nodes"]

    async def test_without_positions_are_arranged(self, client: httpx2.AsyncClient) -> None:
        nodes: list[dict[str, object]] = [{"id": "heard", "type": "ChatInput"}, {"id": "said", "type": "ChatOutput"}]
        edges = [{"source": "heard", "output": "text", "target": "said", "input": "input"}]

        async def positions(nodes: list[dict[str, object]]) -> list[tuple[float, float]]:
            body = {"definition": {"name": "Echo", "nodes": nodes, "edges": edges}}
            flow = (await client.post("/api/v1/flows", json=body)).json()
            return [(node["position"]["x"], node["position"]["y"]) for node in flow["definition"]["nodes"]]

        first, second = await positions([dict(node) for node in nodes])
        assert first[0] < second[0]
        placed = [{**node, "position": {"x": 7, "y": at}} for at, node in enumerate(nodes)]
        assert await positions(placed) == [(7, 0), (7, 1)]

    async def test_are_listed_in_pages(self, client: httpx2.AsyncClient) -> None:
        ids = [(await created(client))["id"] for _ in range(3)]
        first = (await client.get("/api/v1/flows", params={"limit": 2})).json()
        rest = (await client.get("/api/v1/flows", params={"limit": 2, "cursor": first["next_cursor"]})).json()
        assert [one["id"] for one in first["items"] + rest["items"]] == ids[::-1]
        assert rest["next_cursor"] is None

    async def test_are_compared_by_version(self, client: httpx2.AsyncClient) -> None:
        flow = await created(client)
        await client.post(f"/api/v1/flows/{flow['id']}/publish")
        changed = flow["definition"] | {"description": "New words"}
        await client.patch(f"/api/v1/flows/{flow['id']}/draft", json={"revision": 1, "definition": changed})
        found = (await client.get(f"/api/v1/flows/{flow['id']}/versions/1..draft")).json()
        assert found["identical"] is False
        assert "New words" in str(found["lines"])
        assert (await client.get(f"/api/v1/flows/{flow['id']}/versions/1..1")).json()["identical"] is True
        is_problem(await client.get(f"/api/v1/flows/{flow['id']}/versions/1..9"), 404, "version_not_found")
        assert (await client.get(f"/api/v1/flows/{flow['id']}/versions/x..1")).status_code == 422

    async def test_are_gone_after_deletion(self, client: httpx2.AsyncClient) -> None:
        flow = await created(client)
        assert (await client.delete(f"/api/v1/flows/{flow['id']}")).status_code == 204
        is_problem(await client.get(f"/api/v1/flows/{flow['id']}"), 404, "flow_not_found")
        is_problem(await client.post(f"/api/v1/flows/{flow['id']}/runs", json={}), 404, "flow_not_found")


class TestBadRequests:
    @pytest.mark.parametrize(
        ("method", "path", "body"),
        [
            ("GET", "/api/v1/flows?cursor=%27%3B--", None),
            ("GET", "/api/v1/flows?limit=0", None),
            ("POST", "/api/v1/flows", b"{"),
            ("POST", "/api/v1/flows", b"[]"),
            ("POST", "/api/v1/flows", b'{"definition": {"nodes": [{"id": "A b", "type": "URL"}]}}'),
            ("POST", "/api/v1/flows", b'{"definition": {"nodes": [], "surprise": 1}}'),
            ("POST", "/api/v1/flows", b"\xff\xfe"),
            ("POST", "/api/v1/flows/import", b'{"content": "{\\"a\\": 1}"}'),
        ],
    )
    async def test_are_explained(self, client: httpx2.AsyncClient, method: str, path: str, body: bytes | None) -> None:
        answer = await client.request(method, path, content=body, headers=JSON)
        assert answer.status_code == 422, answer.text
        assert answer.json()["detail"]

    async def test_that_are_not_json_say_where(self, client: httpx2.AsyncClient) -> None:
        answer = await client.post("/api/v1/flows", content=b'{"name" "a"}', headers=JSON)
        assert answer.json()["detail"] == "The request body is not valid JSON: Expecting ':' delimiter, at character 8."

    async def test_of_unknown_things_are_404(self, client: httpx2.AsyncClient) -> None:
        is_problem(await client.get("/api/v1/nowhere"), 404, "route_not_found")
        is_problem(await client.get("/api/v1/flows/x"), 404, "flow_not_found")
        is_problem(await client.get("/api/v1/flow-runs/x"), 404, "run_not_found")
        is_problem(await client.get("/api/v1/components/Urll"), 404, "unknown_component")

    async def test_with_another_method_are_405(self, client: httpx2.AsyncClient) -> None:
        answer = await client.put("/api/v1/flows")
        is_problem(answer, 405, "method_not_allowed")
        assert answer.headers["allow"] == "GET, POST"

    async def test_that_are_too_large_are_413(self, client: httpx2.AsyncClient) -> None:
        answer = await client.post("/api/v1/flows", content=b"x" * (5 * 1024 * 1024), headers=JSON)
        is_problem(answer, 413, "body_too_large")

    async def test_that_hide_their_size_are_413(self, client: httpx2.AsyncClient) -> None:
        async def endless() -> Any:
            for _ in range(200):
                yield b"x" * 65536

        is_problem(await client.post("/api/v1/flows", content=endless(), headers=JSON), 413, "body_too_large")


class TestGuards:
    @pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "10.0.0.1:7411", ""])
    async def test_answer_to_local_names_only(self, client: httpx2.AsyncClient, host: str) -> None:
        is_problem(await client.get("/api/v1/flows", headers={"host": host}), 403, "host_refused")

    @pytest.mark.parametrize("host", ["localhost:7411", "127.0.0.1:7411", "[::1]:7411"])
    async def test_answer_to_this_machine(self, client: httpx2.AsyncClient, host: str) -> None:
        assert (await client.get("/api/v1/flows", headers={"host": host})).status_code == 200

    async def test_refuse_changes_from_another_sites_page(self, client: httpx2.AsyncClient) -> None:
        answer = await client.post("/api/v1/flows", json={}, headers={"origin": "https://evil.example"})
        is_problem(answer, 403, "origin_refused")
        same = await client.post("/api/v1/flows", json={}, headers={"origin": "http://127.0.0.1:7411"})
        assert same.status_code == 201

    async def test_refuse_json_that_is_not_sent_as_json(self, client: httpx2.AsyncClient) -> None:
        answer = await client.post("/api/v1/flows", content=b"{}", headers={"content-type": "text/plain"})
        assert answer.status_code == 422

    async def test_send_security_headers(self, client: httpx2.AsyncClient) -> None:
        headers = (await client.get("/api/v1/flows")).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"


class TestComponents:
    async def test_are_listed_once_and_then_confirmed(self, client: httpx2.AsyncClient) -> None:
        first = await client.get("/api/v1/components")
        assert any(one["type"] == "AIStep" for one in first.json())
        again = await client.get("/api/v1/components", headers={"if-none-match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")

    async def test_are_found_by_what_they_do(self, client: httpx2.AsyncClient) -> None:
        found = (await client.get("/api/v1/components/search", params={"q": "sql query over a table"})).json()
        assert found[0]["type"] == "TableQuery"


class TestTemplates:
    async def test_are_listed_found_and_made_into_flows(self, client: httpx2.AsyncClient) -> None:
        assert len((await client.get("/api/v1/templates")).json()) >= 12
        found = (await client.get("/api/v1/templates", params={"q": "licences of my dependencies"})).json()
        template = (await client.get(f"/api/v1/templates/{found[0]['id']}")).json()
        assert (await created(client, template["spec"]))["issues"] == []
        is_problem(await client.get("/api/v1/templates/nothing"), 404, "unknown_template")


class TestVariables:
    async def test_never_come_back(self, client: httpx2.AsyncClient) -> None:
        secret = "sk-verysecretvalue123456"
        stored = await client.put("/api/v1/variables/OPENAI_API_KEY", json={"value": secret})
        assert stored.status_code in {200, 201, 204}
        listed = await client.get("/api/v1/variables")
        assert "OPENAI_API_KEY" in listed.text
        assert secret not in listed.text + stored.text
        providers = await client.get("/api/v1/providers")
        assert secret not in providers.text
        assert next(one for one in providers.json() if one["id"] == "openai")["configured"] is True


class TestFaults:
    async def test_of_our_own_show_no_trace(self, app: FastAPI, client: httpx2.AsyncClient) -> None:
        async def broken() -> None:
            raise RuntimeError("secret detail")

        app.add_api_route("/broken", broken)
        answer = await client.get("/broken")
        is_problem(answer, 500, "internal_error")
        assert "secret detail" not in answer.text


class TestOpenApi:
    async def test_is_shown_without_a_network(self, client: httpx2.AsyncClient) -> None:
        page = (await client.get("/docs")).text
        assert "cdn" not in page
        script = page.split('src="')[1].split('"')[0]
        assert (await client.get(script)).status_code == 200

    async def test_describes_every_route(self, client: httpx2.AsyncClient) -> None:
        document = (await client.get("/api/v1/openapi.json")).json()
        assert document["info"]["title"] == "Headgate"
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                assert operation.get("summary"), f"{method} {path} has no summary"
