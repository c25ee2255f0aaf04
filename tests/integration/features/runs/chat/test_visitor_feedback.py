"""Feedback of visitors of a widget on answers, which editors of the base see and use; on both databases."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from sqlalchemy import delete

from headgate.features.runs.tables import flow_runs
from headgate.foundation.settings import RateLimitSettings, Settings
from tests.integration.features.runs.chat.test_feedback import QUESTION, filled_base
from tests.integration.features.runs.test_widget import Visitor
from tests.support.people import BASE
from tests.support.team import Team, team

A_MINUTE = 8
ANSWER: dict[str, Any] = {
    "name": "Ask",
    "nodes": [
        {"id": "heard", "type": "ChatInput"},
        {"id": "find", "type": "Retrieve", "params": {"base": "Handbook"}},
        {"id": "said", "type": "ChatOutput"},
    ],
    "edges": [
        {"source": "heard", "output": "text", "target": "find", "input": "query"},
        {"source": "find", "output": "text", "target": "said", "input": "input"},
    ],
}
ECHO: dict[str, Any] = {
    "name": "Echo",
    "nodes": [{"id": "heard", "type": "ChatInput"}, {"id": "said", "type": "ChatOutput"}],
    "edges": [{"source": "heard", "output": "text", "target": "said", "input": "input"}],
}


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings, rate_limits=RateLimitSettings(widget_per_minute=A_MINUTE)) as made:
        yield made


@pytest.fixture
async def http(house: Team) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(app=house.app, raise_app_exceptions=False, client=("192.0.2.7", 5))
    async with httpx2.AsyncClient(transport=transport, base_url=BASE.removesuffix("/api/v1")) as client:
        yield client


async def visitor_of(house: Team, http: httpx2.AsyncClient, definition: dict[str, Any], **widget: Any) -> Visitor:
    settings = {"widget": {"enabled": True, "kind": "chat"} | widget}
    flow = await house.make("editor", "/flows", definition={**definition, "settings": settings})
    await house.make("publisher", f"/flows/{flow['id']}/publish")
    visitor = Visitor(http, flow["id"])
    await visitor.load()
    return visitor


async def answered(visitor: Visitor, text: str = "hello") -> str:
    """Ask, and return the token of the run once it is over."""
    run = await visitor.run(text=text)
    assert "event: done" in (await visitor.events(run)).text
    return run


async def rate(visitor: Visitor, run: str, status: int = 204, **body: Any) -> httpx2.Response:
    answer = await visitor.post(f"runs/{run}/feedback", json=body)
    assert answer.status_code == status, answer.text
    assert answer.headers["access-control-allow-origin"] == "*"
    return answer


class TestVisitors:
    async def test_rate_answers_that_become_questions_of_the_base(self, house: Team, http: httpx2.AsyncClient) -> None:
        base = await filled_base(house)
        (document,) = (await house.get("editor", f"/knowledge-bases/{base}/documents"))["items"]
        path = f"/knowledge-bases/{base}/documents/{document['id']}"
        opened = await house.ask("editor", "PATCH", path, json={"readers": {"role": "visitor"}})
        assert opened.status_code == 200
        visitor = await visitor_of(house, http, ANSWER)
        run = await answered(visitor, QUESTION)
        await rate(visitor, run, helpful=True)
        await rate(visitor, run, helpful=False, correction="27 days")
        (rated,) = (await house.get("editor", f"/chat/feedback/{base}"))["items"]
        assert (rated["by_visitor"], rated["helpful"], rated["correction"]) == (True, False, "27 days")
        assert rated["question"] == QUESTION
        assert [document["name"] for document in rated["documents"]] == ["leave.md"]
        body = {
            "question": rated["question"],
            "document_ids": [rated["documents"][0]["id"]],
            "answer": rated["correction"],
        }
        await house.make("editor", f"/knowledge-bases/{base}/questions", **body)
        gone = await house.ask("editor", "DELETE", f"/chat/feedback/{base}/{rated['run_id']}")
        assert gone.status_code == 204

    @pytest.mark.parametrize("kind", ["chat", "form"])
    async def test_rate_with_the_tokens_of_their_own_visit(
        self, house: Team, http: httpx2.AsyncClient, kind: str
    ) -> None:
        visitor = await visitor_of(house, http, ECHO, kind=kind)
        run = await answered(visitor)
        stranger = Visitor(http, visitor.flow_id)
        await stranger.load()
        elsewhere = await visitor_of(house, http, ECHO | {"name": "Other"})
        (stored,) = (await house.get("owner", "/flow-runs"))["items"]
        await rate(stranger, run, 403, helpful=True)
        await rate(elsewhere, run, 403, helpful=True)
        for token in (stored["id"], visitor.visit, "x"):
            await rate(visitor, token, 403, helpful=True)
        visitor.visit, visit = "", visitor.visit
        await rate(visitor, run, 403, helpful=True)
        visitor.visit = visit
        await asyncio.gather(*(rate(visitor, run, helpful=True) for _ in range(3)))
        events = await house.get("admin", "/audit", params={"action": "conversation.rated"})
        assert len(events["items"]) == 3
        assert {event["actor"]["name"] for event in events["items"]} == {"Visitor of a widget"}

    async def test_are_limited_in_size_and_number(self, house: Team, http: httpx2.AsyncClient) -> None:
        visitor = await visitor_of(house, http, ECHO)
        run = await answered(visitor)
        for body in ({}, {"helpful": True, "more": 1}, {"helpful": True, "correction": "x" * 10_001}):
            assert (await rate(visitor, run, 422, **body)).json()["code"] == "bad_request"
        for _ in range(A_MINUTE - 3):
            await rate(visitor, run, helpful=False, correction="x" * 10_000)
        refused = await rate(visitor, run, 429, helpful=True)
        assert int(refused.headers["retry-after"]) > 0
        await visitor.run(text="ratings use up no runs")

    async def test_do_not_rate_what_is_deleted_or_no_longer_offered(
        self, house: Team, http: httpx2.AsyncClient
    ) -> None:
        visitor = await visitor_of(house, http, ECHO)
        run = await answered(visitor)
        async with house.app.state.database.writing() as session:
            await session.execute(delete(flow_runs).where(flow_runs.c.flow_id == visitor.flow_id))
        await rate(visitor, run, 403, helpful=True)
        assert (await house.ask("owner", "DELETE", f"/flows/{visitor.flow_id}")).status_code == 204
        await rate(visitor, run, 404, helpful=True)
