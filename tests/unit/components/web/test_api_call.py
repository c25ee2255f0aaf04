"""Calls of described operations: what is sent, what is refused before, and how the response is compared."""

import json
from dataclasses import asdict
from typing import Any

import pytest

from headgate.components.readers.api.reading import read_api
from headgate.components.web.api_call import ApiCall, ApiTools
from headgate.components.web.api_request import request_of
from headgate.foundation.errors import NotFound, UpstreamFailed
from headgate.sdk import ComponentError
from headgate.sdk.connections import DescribedOperation
from headgate.sdk.testing import StepHarness
from tests.support.api_documents import ISSUES, as_json

BASE = "https://api.tracker.example/v1"
LIST, CREATE = "GET /projects/{project}/issues", "POST /projects/{project}/issues"
WRONG: dict[str, Any] = {"items": [{"id": "one"}]}
ISSUE = {"id": 1, "title": "It fails"}


def harness(document: object = ISSUES, *, changed: bool = False) -> StepHarness:
    """A harness with the connection `tracker`."""
    made = StepHarness()
    operations = {operation.key: operation for operation in read_api(as_json(document)).operations}

    async def operation(name: str) -> DescribedOperation:
        if name not in operations:
            raise NotFound(f"There is no operation '{name}'.")
        return DescribedOperation(json.loads(json.dumps(asdict(operations[name]))), changed)

    made.connect("tracker", "bearer", {"url": BASE}, operation=operation)
    return made


def call(operation: str = LIST, **values: Any) -> dict[str, Any]:
    return {"connection": "tracker", "operation": operation, **values}


class TestRequests:
    async def test_arguments_go_where_they_are_described(self) -> None:
        made = harness()
        made.http.answer(f"{BASE}/projects/a%2Fb/issues?state=open&labels=x%2Cy", {"items": [ISSUE]})
        arguments = {"project": "a/b", "state": "open", "labels": ["x", "y"], "cursor": None, "X-Trace": "t1"}
        outputs = await made.run(ApiCall, call(arguments=arguments))
        assert outputs == {"data": {"items": [ISSUE]}, "status": 200, "problems": []}
        (request,) = made.http.requests
        assert request.headers["x-trace"] == "t1"
        assert "idempotency-key" not in request.headers

    async def test_a_body_is_sent_as_json_with_an_idempotency_key(self) -> None:
        made = harness()
        made.http.answer(f"{BASE}/projects/web/issues", ISSUE, status=201, method="POST")
        await made.run(ApiCall, call(CREATE, arguments={"project": "web", "body": {"title": "It fails"}}))
        (request,) = made.http.requests
        assert json.loads(request.body) == {"title": "It fails"}
        assert request.headers["content-type"] == "application/json"
        assert request.headers["idempotency-key"]

    @pytest.mark.parametrize(
        ("operation", "arguments", "reason"),
        [
            (LIST, {}, "'project' is a required property"),
            (LIST, {"project": "a", "state": "any"}, "is not one of"),
            (LIST, {"project": "a", "other": 1}, "'other' was unexpected"),
            (CREATE, {"project": "a", "body": {"title": "x" * 21}}, "is too long"),
            (LIST, {"project": ".."}, "cannot be '..'"),
            (LIST, {"project": ""}, "cannot be ''"),
            (LIST, [1], "not an object"),
        ],
    )
    async def test_wrong_arguments_are_refused_before_anything_is_sent(
        self, operation: str, arguments: Any, reason: str
    ) -> None:
        made = harness()
        with pytest.raises(ComponentError, match=reason):
            await made.run(ApiCall, call(operation, arguments=arguments))
        assert made.http.requests == []

    @pytest.mark.parametrize("value", ["x\r\nX-Evil: 1", "x\x00"])
    async def test_a_header_cannot_hold_another(self, value: str) -> None:
        made = harness()
        with pytest.raises(ComponentError, match="line break"):
            await made.run(ApiCall, call(arguments={"project": "a", "X-Trace": value}))
        assert made.http.requests == []

    @pytest.mark.parametrize(
        ("style", "value", "query"),
        [
            ({}, [1, 2], "q=1&q=2"),
            ({"explode": False}, [1, 2], "q=1%2C2"),
            ({"style": "pipeDelimited"}, [1, 2], "q=1%7C2"),
            ({"style": "spaceDelimited"}, [1, 2], "q=1+2"),
            ({"style": "deepObject"}, {"a": {"b": 1}, "c": [True]}, "q%5Ba%5D%5Bb%5D=1&q%5Bc%5D%5B0%5D=true"),
            ({}, {"a": 1}, "a=1"),
        ],
    )
    def test_styles_of_query_parameters(self, style: dict[str, Any], value: Any, query: str) -> None:
        parameters = [{"name": "q", "in": "query", "schema": {}, **style}]
        document = {"openapi": "3.1.0", "paths": {"/a": {"get": {"parameters": parameters}}}}
        (operation,) = read_api(as_json(document)).operations
        assert request_of(operation, {"q": value}).path == f"/a?{query}"

    def test_members_of_a_form(self) -> None:
        content = {
            "application/x-www-form-urlencoded": {
                "schema": {"type": "object"},
                "encoding": {"metadata": {"style": "deepObject"}},
            }
        }
        document = {"openapi": "3.1.0", "paths": {"/a": {"post": {"requestBody": {"content": content}}}}}
        (operation,) = read_api(as_json(document)).operations
        body = request_of(operation, {"body": {"metadata": {"k": "v"}, "tags": ["a", "b"], "on": False}}).body
        assert body == b"metadata%5Bk%5D=v&tags=a&tags=b&on=false"


class TestPages:
    async def test_all_pages_are_one_list(self) -> None:
        made = harness()
        first, second = f"{BASE}/projects/web/issues", f"{BASE}/projects/web/issues?cursor=c2"
        made.http.answer(first, {"items": [ISSUE], "next_cursor": "c2"})
        made.http.answer(second, {"items": [ISSUE], "next_cursor": None})
        outputs = await made.run(ApiCall, call(arguments={"project": "web"}, pages=10))
        assert outputs["data"] == [ISSUE, ISSUE]

    async def test_no_more_pages_than_wanted(self) -> None:
        made = harness()
        made.http.answer(f"{BASE}/projects/web/issues", {"items": [ISSUE], "next_cursor": "c2"})
        made.http.answer(f"{BASE}/projects/web/issues?cursor=c2", {"items": [ISSUE], "next_cursor": "c3"})
        outputs = await made.run(ApiCall, call(arguments={"project": "web"}, pages=2))
        assert len(outputs["data"]) == 2
        assert "more than 2 pages" in "".join(made.ctx.logs)

    async def test_an_api_that_repeats_a_cursor_does_not_run_for_ever(self) -> None:
        made = harness()
        made.http.answer(f"{BASE}/projects/web/issues", {"items": [ISSUE], "next_cursor": "c2"})
        made.http.answer(f"{BASE}/projects/web/issues?cursor=c2", {"items": [ISSUE], "next_cursor": "c2"})
        with pytest.raises(ComponentError, match="a second time"):
            await made.run(ApiCall, call(arguments={"project": "web"}, pages=100))

    async def test_an_operation_without_pages_says_so(self) -> None:
        with pytest.raises(ComponentError, match="cannot be followed"):
            await harness().run(ApiCall, call(CREATE, arguments={"project": "a", "body": {"title": "x"}}, pages=2))


class TestResponses:
    async def test_a_response_that_differs_is_reported(self) -> None:
        made = harness()
        made.http.answer(f"{BASE}/projects/web/issues", WRONG)
        outputs = await made.run(ApiCall, call(arguments={"project": "web"}))
        assert outputs["data"] == WRONG
        assert any("$.items[0]" in problem for problem in outputs["problems"])
        assert "differs from its description" in "".join(made.ctx.logs)

    async def test_or_fails_the_step(self) -> None:
        made = harness()
        made.http.answer(f"{BASE}/projects/web/issues", WRONG)
        with pytest.raises(ComponentError, match="differs from its description"):
            await made.run(ApiCall, call(arguments={"project": "web"}, contract="fail"))

    @pytest.mark.parametrize(
        ("headers", "pause"),
        [
            ({"retry-after": "120"}, 120),
            ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "90"}, 90),
            ({"x-ratelimit-remaining": "3", "x-ratelimit-reset": "90"}, None),
            ({"retry-after": "9999999"}, 86_400),
        ],
    )
    async def test_a_rate_limit_says_how_long_the_retry_waits(
        self, headers: dict[str, str], pause: float | None
    ) -> None:
        made = harness()
        made.http.answer(f"{BASE}/projects/web/issues", {}, status=429, headers=headers)
        with pytest.raises(UpstreamFailed) as error:
            await made.run(ApiCall, call(arguments={"project": "web"}))
        assert error.value.extra.get("retry_after_seconds") == pause


class TestEffects:
    @pytest.mark.parametrize(("operation", "effect"), [(LIST, False), (CREATE, True), ("create_issue", True)])
    def test_only_an_operation_that_is_named_as_reading_has_none(self, operation: str, effect: bool) -> None:
        assert ApiCall.template({"operation": operation}).effect is effect


class TestTools:
    async def test_an_agent_gets_the_operations_that_are_listed(self) -> None:
        made = harness()
        made.http.answer(f"{BASE}/projects/web/issues", ISSUE, status=201, method="POST")
        (tool,) = (await made.run(ApiTools, {"connection": "tracker", "operations": [CREATE]}))["tools"]
        assert tool.name == "post_projects_project_issues"
        assert tool.parameters["required"] == ["project", "body"]
        assert await tool.call({"project": "web", "body": {"title": "It fails"}}) == ISSUE

    async def test_a_changed_description_is_refused_until_it_was_accepted(self) -> None:
        with pytest.raises(ComponentError, match="has changed, and no user has accepted it"):
            await harness(changed=True).run(ApiTools, {"connection": "tracker", "operations": [LIST]})
