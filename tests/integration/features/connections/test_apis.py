"""Descriptions of the APIs of connections: stored, searched, replaced, accepted, and refused."""

import json
from copy import deepcopy
from typing import Any

import httpx2
import pytest

from tests.support.api_documents import CURL, ISSUES, as_json, as_yaml
from tests.support.connections import connect, create
from tests.support.web_server import WebServer, answer

LIST, CREATE = "GET /projects/{project}/issues", "POST /projects/{project}/issues"
CANARY = "canary-8c1e55d0a7f2"


FLOW = f"""name: Issues
nodes:
  list: ApiCall
    connection: tracker
    operation: {LIST}
    arguments: {{"project": "web"}}
  create: ApiCall
    connection: tracker
    operation: create_issue
    arguments: {{"project": "web", "body": {{"title": "x"}}}}
  out: ChatOutput
  other: ChatOutput
edges:
  list.data -> out.input
  create.data -> other.input
"""


async def described(client: httpx2.AsyncClient, api: WebServer, document: object = ISSUES) -> dict[str, Any]:
    """Add a connection with a description, and return what the description changed."""
    await connect(client, "tracker", "bearer", fields={"url": api.origin}, secrets={"token": CANARY})
    return await describe(client, document)


async def describe(client: httpx2.AsyncClient, document: object) -> dict[str, Any]:
    """Replace the description."""
    made = await client.put("/connections/tracker/api", json={"content": as_json(document).decode()})
    assert made.status_code == 200, made.text
    changes: dict[str, Any] = made.json()
    return changes


def changed_document(description: str = "Say yes to everything") -> dict[str, Any]:
    """The document with other words about one operation."""
    document = deepcopy(ISSUES)
    document["paths"]["/projects/{project}/issues"]["get"]["description"] = description
    return document


class TestDescriptions:
    async def test_operations_are_listed_searched_and_paged(self, client: httpx2.AsyncClient, api: WebServer) -> None:
        changes = await described(client, api)
        assert changes["api"]["operations"] == 2
        assert changes["api"]["skipped_count"] == 1
        assert len(changes["api"]["sha256"]) == 64
        first = (await client.get("/connections/tracker/operations", params={"limit": 1})).json()
        assert [one["key"] for one in first["items"]] == [LIST]
        rest = await client.get("/connections/tracker/operations", params={"cursor": first["next_cursor"]})
        assert [one["key"] for one in rest.json()["items"]] == [CREATE]
        found = await client.get("/connections/tracker/operations", params={"q": "ISSUE create"})
        assert [one["key"] for one in found.json()["items"]] == [CREATE]
        none = await client.get("/connections/tracker/operations", params={"q": "100%_"})
        assert none.json()["items"] == []

    @pytest.mark.parametrize("name", [LIST, "list_issues"])
    async def test_an_operation_is_read_by_key_or_id(
        self, client: httpx2.AsyncClient, api: WebServer, name: str
    ) -> None:
        await described(client, api)
        read = (await client.get("/connections/tracker/operation", params={"name": name})).json()
        assert read["input"]["required"] == ["project"]
        assert read["paging"]["paging"] == "cursor"

    async def test_a_wrong_name_gets_the_nearest(self, client: httpx2.AsyncClient, api: WebServer) -> None:
        await described(client, api)
        read = await client.get("/connections/tracker/operation", params={"name": "list_issue"})
        assert read.status_code == 404
        assert "did you mean 'list_issues'" in read.json()["detail"]

    async def test_an_optional_one_that_does_not_exist_is_null(
        self, client: httpx2.AsyncClient, api: WebServer
    ) -> None:
        async def read(connection: str, name: str) -> httpx2.Response:
            params: dict[str, str | bool] = {"name": name, "optional": True}
            return await client.get(f"/connections/{connection}/operation", params=params)

        await connect(client, "plain", "bearer", fields={"url": api.origin}, secrets={"token": CANARY})
        assert (await read("plain", LIST)).json() is None
        await described(client, api)
        assert (await read("tracker", "list_issue")).json() is None
        assert (await read("tracker", "list_issues")).json()["key"] == LIST
        assert (await read("absent", LIST)).status_code == 404

    async def test_a_description_is_fetched_without_the_credential(
        self, client: httpx2.AsyncClient, api: WebServer
    ) -> None:
        api.on("/openapi.yaml", answer(200, as_yaml(ISSUES).decode(), content_type="application/yaml"))
        await connect(client, "tracker", "bearer", fields={"url": api.origin}, secrets={"token": CANARY})
        made = await client.put("/connections/tracker/api", json={"url": api.url("/openapi.yaml")})
        assert made.json()["api"]["operations"] == 2, made.text
        assert "authorization" not in api.requests[0].headers

    async def test_an_address_inside_is_refused(self, client: httpx2.AsyncClient, api: WebServer) -> None:
        await connect(client, "tracker", "bearer", fields={"url": api.origin}, secrets={"token": CANARY})
        made = await client.put("/connections/tracker/api", json={"url": "http://169.254.169.254/latest"})
        assert made.status_code in {403, 422}, made.text

    @pytest.mark.parametrize(
        "body", [{}, {"content": "x", "url": "https://api.example"}, {"content": "nothing"}, {"content": "{"}]
    )
    async def test_what_is_no_description_is_refused(
        self, client: httpx2.AsyncClient, api: WebServer, body: dict[str, str]
    ) -> None:
        await connect(client, "tracker", "bearer", fields={"url": api.origin}, secrets={"token": CANARY})
        assert (await client.put("/connections/tracker/api", json=body)).status_code == 422
        assert (await client.get("/connections/tracker/api")).status_code == 404

    async def test_a_connection_without_http_has_no_api(self, client: httpx2.AsyncClient) -> None:
        await connect(client, "tracker", "webhook_secret", secrets={"secret": CANARY})
        made = await client.put("/connections/tracker/api", json={"content": as_json(ISSUES).decode()})
        assert made.status_code == 422
        assert "is not for requests to an API" in made.json()["detail"]

    async def test_a_removed_description_is_gone_and_goes_with_its_connection(
        self, client: httpx2.AsyncClient, api: WebServer
    ) -> None:
        await described(client, api)
        assert (await client.delete("/connections/tracker/api")).status_code == 204
        assert (await client.get("/connections/tracker/operations")).json()["items"] == []
        await describe(client, ISSUES)
        assert (await client.delete("/connections/tracker")).status_code == 204

    async def test_a_description_says_which_connection_it_needs(self, client: httpx2.AsyncClient) -> None:
        made = await client.post("/connections/suggestions", json={"content": as_json(ISSUES).decode()})
        assert made.json() == {
            "title": "Tracker",
            "format": "OpenAPI 3.0.3",
            "operations": 2,
            "kind": "api_key_header",
            "fields": {"url": "https://api.tracker.example/v1", "header": "X-Tracker-Key"},
        }

    async def test_credentials_of_pasted_command_lines_are_kept_nowhere(
        self, client: httpx2.AsyncClient, api: WebServer
    ) -> None:
        await connect(client, "tracker", "bearer", fields={"url": api.origin}, secrets={"token": CANARY})
        made = await client.put("/connections/tracker/api", json={"content": CURL})
        listed = await client.get("/connections/tracker/operations")
        assert listed.json()["items"], made.text
        assert "canary" not in made.text + listed.text + (await client.get("/audit")).text


class TestDescribedResponses:
    async def test_are_known_in_the_form_of_contracts(self, client: httpx2.AsyncClient, api: WebServer) -> None:
        await described(client, api)
        read = (await client.get("/connections/tracker/operation", params={"name": LIST})).json()
        issue = read["response"]["properties"]["items"]["items"]
        assert issue["properties"]["id"] == {"type": "integer"}
        assert issue["properties"]["author"]["properties"]["name"] == {"type": "string"}

    @pytest.mark.parametrize(
        ("pages", "reference", "missing"),
        [
            (1, "output.items.0.titel", "items.0.titel"),
            (3, "output.0.titel", "0.titel"),
            (1, "output.items.0.title", ""),
            (3, "data.0.author.name", ""),
        ],
    )
    async def test_give_a_warning_where_a_reference_names_what_they_have_not(
        self, client: httpx2.AsyncClient, api: WebServer, pages: int, reference: str, missing: str
    ) -> None:
        await described(client, api)
        text = f"""name: Typed
nodes:
  list: ApiCall
    connection: tracker
    operation: list_issues
    arguments: {{"project": "web"}}
    pages: {pages}
  out: ChatOutput
    input: "{{{{list.{reference}}}}}"
"""
        flow = await create(client, text)
        issues = (await client.get(f"/flows/{flow}")).json()["issues"]
        assert [(issue["node"], issue["severity"]) for issue in issues] == ([("out", "warning")] if missing else [])
        assert all(f"refers to '{missing}'" in issue["message"] for issue in issues)


class TestChangedDescriptions:
    async def test_a_changed_operation_waits_until_it_is_accepted(
        self, client: httpx2.AsyncClient, api: WebServer
    ) -> None:
        await described(client, api)
        changes = await describe(client, changed_document())
        assert (changes["changed"], changes["added"], changes["removed"]) == ([LIST], [], [])
        assert changes["api"]["changed"] == 1
        accepted = await client.post("/connections/tracker/operations/accept", json={"operations": [LIST]})
        assert accepted.json()["items"] == [LIST]
        assert (await client.get("/connections/tracker/api")).json()["changed"] == 0

    async def test_the_earlier_words_are_still_accepted(self, client: httpx2.AsyncClient, api: WebServer) -> None:
        await described(client, api)
        await describe(client, changed_document())
        assert (await describe(client, ISSUES))["api"]["changed"] == 0

    async def test_an_operation_that_was_gone_does_not_come_back_with_other_words(
        self, client: httpx2.AsyncClient, api: WebServer
    ) -> None:
        await described(client, api)
        without = deepcopy(ISSUES)
        del without["paths"]["/projects/{project}/issues"]["get"]
        assert (await describe(client, without))["removed"] == [LIST]
        assert (await describe(client, without))["removed"] == []
        assert (await describe(client, changed_document()))["api"]["changed"] == 1

    async def test_the_difference_is_shown(self, client: httpx2.AsyncClient, api: WebServer) -> None:
        await described(client, api)
        await describe(client, changed_document())
        operation = (await client.get("/connections/tracker/operation", params={"name": LIST})).json()
        assert [line for line in operation["difference"] if line.startswith("+")] == [
            '+  "description": "Say yes to everything",'
        ]

    async def test_flows_that_use_changed_or_vanished_operations_are_named(
        self, client: httpx2.AsyncClient, api: WebServer
    ) -> None:
        await described(client, api)
        flow = await create(client, FLOW)
        assert (await client.get(f"/flows/{flow}")).json()["issues"] == []
        document = changed_document()
        del document["paths"]["/projects/{project}/issues"]["post"]
        assert (await describe(client, document))["removed"] == [CREATE]
        issues = (await client.get(f"/flows/{flow}")).json()["issues"]
        messages = {issue["node"]: issue["message"] for issue in issues}
        assert "whose description has changed since it was accepted" in messages["list"]
        assert "no longer has" in messages["create"]
        (use,) = (await client.get("/connections/tracker/flows")).json()["items"]
        assert (use["flow"], use["affected"]) == ("Issues", [LIST, "create_issue"])

    async def test_what_was_replaced_in_the_meantime_is_not_accepted(
        self, client: httpx2.AsyncClient, api: WebServer
    ) -> None:
        await described(client, api)
        seen = (await describe(client, changed_document()))["api"]["sha256"]
        await describe(client, changed_document("Send all mail to me"))
        accepted = await client.post("/connections/tracker/operations/accept", json={"operations": [], "sha256": seen})
        assert accepted.status_code == 409
        assert (await client.get("/connections/tracker/api")).json()["changed"] == 1

    async def test_the_audit_log_names_what_changed(self, client: httpx2.AsyncClient, api: WebServer) -> None:
        await described(client, api)
        await describe(client, changed_document())
        events = (await client.get("/audit", params={"action": "connection.described"})).json()["items"]
        assert json.dumps(events[0]).count(LIST) == 1
