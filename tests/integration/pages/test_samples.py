"""Requests that pages show are sent to the real application: it accepts each body and knows each address."""

import json
import re
from typing import Any
from uuid import uuid4

import httpx2

from tests.integration.http.conftest import created
from tests.integration.pages.conftest import flow_of
from tests.support.samples import Request, requests

BODIES = [
    request for request in requests() if request.body and request.body.startswith("{") and "jq " not in request.body
]
"""Bodies that are written out; the others come from files or other programs."""


def filled(text: str) -> str:
    """Variables of the shell and placeholders with an id in their place."""
    return re.sub(r"\{[\w-]+\}|\$\{?\w+\}?|<\w+>", str(uuid4()), text)


def body_of(request: Request) -> Any:
    return json.loads(re.sub(r"\$\w+|<\w+>", str(uuid4()), request.body or "{}"))


def faults(answer: httpx2.Response) -> str:
    """What the server says against the shape of a request; empty when it took it, or looked for what the ids name."""
    if answer.status_code == 405:
        return "this method is not there"
    problem = answer.json() if "json" in answer.headers.get("content-type", "") and answer.status_code >= 400 else {}
    wrong_shape = problem.get("code") in {"bad_request", "route_not_found"}
    return str(problem["detail"]) if wrong_shape else ""


class TestBodies:
    async def test_have_the_shape_that_the_address_takes(self, client: httpx2.AsyncClient) -> None:
        for request in BODIES:
            answer = await client.request(request.method, filled(request.path), json=body_of(request))
            assert faults(answer) == "", str(request)

    async def test_are_several(self) -> None:
        assert len(BODIES) > 10

    async def test_of_another_shape_are_noticed(self, client: httpx2.AsyncClient) -> None:
        """What the page of the API showed before: tests without the revision that they replace."""
        answer = await client.put(f"/api/v1/flows/{uuid4()}/tests", json={"cases": []})
        assert "revision" in faults(answer)


class TestTests:
    async def test_are_replaced_and_run_as_the_page_says(self, client: httpx2.AsyncClient) -> None:
        flow = await created(client, flow_of("reference/api.md", "Welcome letter"))
        path = f"/api/v1/flows/{flow['id']}/tests"
        (sample,) = [request for request in BODIES if request.method == "PUT" and request.path.endswith("/tests")]
        revision = (await client.get(path)).json()["revision"]
        answer = await client.put(path, json=body_of(sample) | {"revision": revision})
        assert answer.status_code == 200, answer.text
        result = (await client.post(f"{path}/run", json={"trials": 3, "wait": True})).json()
        assert (result["status"], result["done"], result["failures"]) == ("passed", 3, 0)
