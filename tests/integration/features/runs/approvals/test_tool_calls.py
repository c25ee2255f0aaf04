"""Approvals of an agent's tool calls in the real application, on both databases."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from headgate.features.runs.evidence.verify import verify
from headgate.foundation.settings import HttpSettings, Settings
from tests.integration.features.runs.approvals.test_approvals import PATIENCE, decide, ended
from tests.support.openai_server import OpenAIServer
from tests.support.people import BASE, add_key, bearer, running, signed_in
from tests.support.team import Team, team

ROOT = BASE.removesuffix("/api/v1")


@pytest.fixture
async def us(settings: Settings, openai: OpenAIServer) -> AsyncIterator[Team]:
    http = HttpSettings(allowed_internal_cidrs=["127.0.0.0/8"])
    async with team(settings, http=http) as people:
        for name, value in (("OPENAI_API_KEY", "sk-test-0123456789abcdef"), ("OPENAI_BASE_URL", openai.base_url)):
            assert (await people.ask("admin", "PUT", f"/variables/{name}", json={"value": value})).is_success
        yield people


def agent_spec(approval: dict[str, Any], **params: Any) -> str:
    lines = "".join(f"\n    {name}: {value}" for name, value in params.items())
    return (
        "name: Sums\nnodes:\n  ask: ChatInput\n  sums: Calculator\n  day: CurrentDate\n  helper: Agent"
        "\n    model: openai/gpt-5-mini"
        f"{lines}\n    policy:\n      tool_approval: {json.dumps(approval)}\n  out: ChatOutput\nedges:\n"
        "  ask.text -> helper.input\n  sums.tool -> helper.tools\n  day.tool -> helper.tools\n"
        "  helper.response -> out.input\n"
    )


async def started(us: Team, **approval: Any) -> str:
    flow = await us.make("editor", "/flows", spec=agent_spec({"tools": ["calculator"], **approval}))
    run = await us.make("editor", f"/flows/{flow['id']}/runs", text="What is 6 times 7?", version="draft")
    return str(run["id"])


async def pending(us: Team, run_id: str, count: int = 1) -> list[dict[str, Any]]:
    async with asyncio.timeout(PATIENCE):
        while True:
            items = (await us.get("editor", "/approvals", params={"run_id": run_id, "status": "pending"}))["items"]
            run = await us.get("editor", f"/flow-runs/{run_id}")
            assert run["status"] not in {"failed", "completed"}, (run["error"], run["text"])
            if len(items) == count and run["status"] == "waiting":
                return list(items)
            await asyncio.sleep(0.02)


def results(openai: OpenAIServer) -> list[str]:
    """What the model was sent as results of its tools in the last request."""
    return [str(one["content"]) for one in openai.asked[-1].body["messages"] if one["role"] == "tool"]


class TestToolCall:
    async def test_waits_for_approval_and_is_then_made_without_paying_again(
        self, us: Team, openai: OpenAIServer
    ) -> None:
        openai.script(
            openai.tool_call("current_date", {}),
            openai.tool_call("calculator", {"expression": "6 * 7"}),
            openai.text("It is 42."),
        )
        run_id = await started(us)
        [approval] = await pending(us, run_id)
        shown = await us.get("owner", f"/approvals/{approval['id']}")
        assert (shown["tool"], shown["value"]) == ("calculator", {"expression": "6 * 7"})
        assert shown["question"] == "Allow the call of 'calculator'?"
        step = next(
            one for one in (await us.get("editor", f"/flow-runs/{run_id}"))["steps"] if one["step_id"] == "helper"
        )
        assert step["status"] == "waiting"
        assert len(openai.asked) == 2
        clicks = [decide(us, who, approval) for _ in range(20) for who in ("runner", "editor", "owner", "admin")]
        assert Counter(await asyncio.gather(*clicks)) == {200: 1, 409: 79}
        run = await ended(us, run_id)
        assert (run["status"], run["text"]) == ("completed", "It is 42.")
        assert len(openai.asked) == 3
        assert results(openai)[1] == "42"
        package = (await us.ask("viewer", "GET", f"/flow-runs/{run_id}/evidence")).content
        assert verify(package).good
        [entry] = [one for step in json.loads(package)["step_results"] for one in step.get("approvals", [])]
        assert (entry["tool"], entry["status"], entry["round"]) == ("calculator", "approved", 1)

    async def test_returns_a_rejection_with_its_comment_to_the_model(self, us: Team, openai: OpenAIServer) -> None:
        openai.script(openai.tool_call("calculator", {"expression": "1"}), openai.text("Then I cannot."))
        run_id = await started(us)
        [approval] = await pending(us, run_id)
        assert await decide(us, "owner", approval, "reject", comment="Use your head.") == 200
        run = await ended(us, run_id)
        assert (run["status"], run["text"]) == ("completed", "Then I cannot.")
        [result] = results(openai)
        assert "The call was not made" in result
        assert "Use your head." in result

    async def test_is_made_with_edited_arguments_where_that_is_allowed(self, us: Team, openai: OpenAIServer) -> None:
        openai.script(openai.tool_call("calculator", {"expression": "6 * 7"}), openai.text("Done."))
        run_id = await started(us, editable=True)
        [approval] = await pending(us, run_id)
        assert await decide(us, "owner", approval, edits={"expression": "6 * 8"}) == 200
        run = await ended(us, run_id)
        assert run["status"] == "completed"
        assert results(openai) == ["48"]
        step = await us.get("editor", f"/flow-runs/{run_id}/steps/helper")
        assert [call["arguments"] for call in step["tool_calls"]] == [{"expression": "6 * 8"}]

    async def test_refuses_edits_where_they_are_not_allowed(self, us: Team, openai: OpenAIServer) -> None:
        openai.script(openai.tool_call("calculator", {"expression": "6 * 7"}))
        [approval] = await pending(us, await started(us))
        assert await decide(us, "owner", approval, edits={"expression": "6 * 8"}) == 422

    async def test_is_refused_when_nobody_decides_in_time(self, us: Team, openai: OpenAIServer) -> None:
        openai.script(openai.tool_call("calculator", {"expression": "1"}), openai.text("Too late."))
        run = await ended(us, await started(us, timeout_hours=0.0003))
        assert run["text"] == "Too late."
        assert results(openai) == ["Error: Nobody approved the call in time. It was not made."]

    async def test_asks_for_each_call_of_one_answer_and_makes_the_others_at_once(
        self, us: Team, openai: OpenAIServer
    ) -> None:
        openai.script(
            openai.tool_calls(
                [
                    ("calculator", {"expression": "1 + 1"}),
                    ("current_date", {}),
                    ("calculator", {"expression": "2 + 2"}),
                ]
            ),
            openai.text("Both."),
        )
        run_id = await started(us, assignees=["role:owner"])
        approvals = await pending(us, run_id, 2)
        assert await decide(us, "runner", approvals[0]) == 403
        assert await decide(us, "owner", approvals[0]) == 200
        assert len(await pending(us, run_id)) == 1
        assert await decide(us, "owner", approvals[1], "reject") == 200
        assert (await ended(us, run_id))["status"] == "completed"
        assert len(openai.asked) == 2
        answers = results(openai)
        assert sum("The call was not made" in answer for answer in answers) == 1
        assert sum(answer in {"2", "4"} for answer in answers) == 1

    async def test_is_closed_when_its_run_is_cancelled(self, us: Team, openai: OpenAIServer) -> None:
        openai.script(openai.tool_call("calculator", {"expression": "1"}))
        run_id = await started(us)
        [approval] = await pending(us, run_id)
        await us.make("editor", f"/flow-runs/{run_id}/cancel")
        assert await decide(us, "owner", approval) == 409


class TestPolicy:
    async def test_names_tools_of_the_step(self, us: Team) -> None:
        flow = await us.make("editor", "/flows", spec=agent_spec({"tools": ["calculatr"]}))
        problems = (await us.get("editor", f"/flows/{flow['id']}"))["issues"]
        assert any("approval" in one["message"] and "calculatr" in one["message"] for one in problems)

    async def test_is_for_agents_alone(self, us: Team) -> None:
        spec = (
            "name: Plain\nnodes:\n  ask: ChatInput\n    policy:\n"
            '      tool_approval: {"tools": ["*"]}\n  out: ChatOutput\nedges:\n  ask.text -> out.input\n'
        )
        flow = await us.make("editor", "/flows", spec=spec)
        problems = (await us.get("editor", f"/flows/{flow['id']}"))["issues"]
        assert any("it is no agent" in one["message"] for one in problems)


class TestClientsAcrossARestart:
    async def test_of_the_openai_endpoint_get_the_answer_and_pay_no_call_twice(
        self, settings: Settings, openai: OpenAIServer
    ) -> None:
        openai.script(openai.tool_call("calculator", {"expression": "6 * 7"}), openai.text("It is 42."))
        http = HttpSettings(allowed_internal_cidrs=["127.0.0.0/8"])
        body = {"model": "Sums", "messages": [{"role": "user", "content": "What is 6 times 7?"}]}
        async with team(settings, http=http) as us:
            for name, value in (("OPENAI_API_KEY", "sk-test-0123456789abcdef"), ("OPENAI_BASE_URL", openai.base_url)):
                assert (await us.ask("admin", "PUT", f"/variables/{name}", json={"value": value})).is_success
            flow = await us.make("editor", "/flows", spec=agent_spec({"tools": ["calculator"]}))
            await us.make("publisher", f"/flows/{flow['id']}/publish")
            key = await add_key(us.database, us.people["owner"])
            headers = {**bearer(key), "Idempotency-Key": "sum-1"}
            first = await us.clients["owner"].post(f"{ROOT}/v1/chat/completions", json=body, headers=headers)
            waiting = first.json()
            assert waiting["headgate"]["waits_for"] == "approval", waiting
            run_id = first.headers["X-Headgate-Run-Id"]
            [approval] = await pending(us, run_id)
        assert len(openai.asked) == 1
        async with running(signed_in(settings, http=http)) as app:
            transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
            async with httpx2.AsyncClient(transport=transport, base_url=BASE, headers=headers) as client:
                path, decision = f"/approvals/{approval['id']}", {"decision": "approve"}
                assert (await client.get(path)).json()["value"] == {"expression": "6 * 7"}
                assert (await client.post(f"{path}/decision", json=decision)).status_code == 200
                async with asyncio.timeout(PATIENCE):
                    while (await client.get(f"/flow-runs/{run_id}")).json()["status"] != "completed":  # noqa: ASYNC110 - the run
                        await asyncio.sleep(0.05)
                again = (await client.post(f"{ROOT}/v1/chat/completions", json=body)).json()
        assert again["choices"][0]["message"]["content"] == "It is 42."
        assert len(openai.asked) == 2
        assert results(openai) == ["42"]
