"""A server asks for a model during a call of its tool: real servers, a model provider on the wire, both databases."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp_types import ErrorData

from headgate.features.mcptools.questions import Questions
from headgate.features.mcptools.sampling import Sampling
from headgate.features.runs.evidence.verify import verify
from headgate.foundation.settings import ClassificationSettings, HttpSettings, McpSettings, Settings
from tests.integration.features.runs.approvals.test_approvals import decide, ended
from tests.integration.features.runs.approvals.test_tool_calls import pending
from tests.support.mcp_sampling import wanted
from tests.support.mcp_server import ACCESS, COMMAND, McpProcess
from tests.support.open_python import for_any_user
from tests.support.openai_server import OpenAIServer
from tests.support.patience import PATIENCE_SECONDS
from tests.support.scripted_server import Hold
from tests.support.team import Team, team

FLOW = """name: Short
nodes:
  text: ChatInput
  call: McpCall
    server: helper
    tool_name: {tool}
    arguments: {{"text": "{{{{text.text}}}}"}}
{policy}  out: ChatOutput
edges:
  call.data -> out.input
"""
AGENT = """name: Agent
nodes:
  text: ChatInput
  tools: McpTools
    server: helper
  boss: Agent
    model: openai/gpt-5-mini
  out: ChatOutput
edges:
  text.text -> boss.input
  tools.tools -> boss.tools
  boss.response -> out.input
"""
RETRY = '    policy:\n      retry:\n        max_attempts: 3\n        delay_seconds: 0\n        codes: ["*"]\n'
MODEL = "openai/gpt-5-mini"
UNASKED: dict[str, Any] = {"model": MODEL, "ask": False}


@pytest.fixture
def openai() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture
async def us(settings: Settings, openai: OpenAIServer) -> AsyncIterator[Team]:
    http = HttpSettings(allowed_internal_cidrs=["127.0.0.0/8"])
    mcp = McpSettings(allow_stdio=True, program_folders=[Path("/")], timeout_seconds=10)
    async with team(settings.model_copy(update={"mcp": mcp}), http=http) as people:
        for name, value in (("OPENAI_API_KEY", "sk-test-0123456789abcdef"), ("OPENAI_BASE_URL", openai.base_url)):
            assert (await people.ask("admin", "PUT", f"/variables/{name}", json={"value": value})).is_success
        yield people


@pytest.fixture(params=["sampling", "legacy-sampling"])
def helper(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[McpProcess]:
    """Asks in the answer of the call (2026-07-28), or by a request of its own (before)."""
    with McpProcess(tmp_path / "tally", request.param) as process:
        yield process


async def register(us: Team, helper: McpProcess, sampling: dict[str, Any] | None) -> None:
    await us.make("admin", "/mcp-servers", name="helper", url=helper.url, sampling=sampling, space_id=us.space)
    refreshed = await us.ask("admin", "POST", "/mcp-servers/helper/refresh")
    assert refreshed.is_success, refreshed.text


async def start(us: Team, tool: str = "summarize", policy: str = "", text: str = "A long story.", **body: Any) -> str:
    flow = await us.make("editor", "/flows", spec=FLOW.format(tool=tool, policy=policy))
    run = await us.make("editor", f"/flows/{flow['id']}/runs", text=text, version="draft", **body)
    return str(run["id"])


async def run(us: Team, tool: str = "summarize", **more: Any) -> dict[str, Any]:
    return await ended(us, await start(us, tool, **more))


async def step(us: Team, run_id: str) -> dict[str, Any]:
    found = (await us.ask("owner", "GET", f"/flow-runs/{run_id}/evidence")).json()["step_results"]
    return next(one for one in found if one["step_id"] == "call" and one["status"] == "completed")


class TestSampling:
    async def test_is_answered_by_the_model_of_the_settings_and_is_a_model_call_of_the_step(
        self, us: Team, helper: McpProcess, openai: OpenAIServer
    ) -> None:
        await register(us, helper, UNASKED)
        openai.script(openai.text("A short story.STOP and more", tokens=(31, 7)))
        done = await run(us)
        said = f"summarize: A short story. ({MODEL}, stopSequence)"
        assert (done["status"], done["text"]) == ("completed", said)
        assert "capability on" in helper.calls()
        [asked] = openai.asked
        system, user = asked.body["messages"]
        assert asked.body["model"] == "gpt-5-mini"
        assert 0 < asked.body["max_completion_tokens"] <= 100
        assert system["content"] == "[Request of the MCP server 'helper', in its own words] You summarize."
        assert user["content"] == "Summarize: A long story."
        assert "tools" not in asked.body
        record = await step(us, done["id"])
        assert record["tokens"] == {"input": 31, "output": 7}
        assert "Summarize: A long story." in record["effective_prompt"]
        sampled, call = record["tool_calls"]
        assert (sampled["name"], sampled["server"]) == ("helper.sampling/createMessage", "helper")
        assert sampled["arguments"]["model"] == MODEL
        assert sampled["arguments"]["messages"] == [{"role": "user", "text": "Summarize: A long story."}]
        assert sampled["result"] == "A short story."
        assert call["name"] == "helper.summarize"
        assert verify((await us.ask("owner", "GET", f"/flow-runs/{done['id']}/evidence")).content).good

    async def test_is_off_until_a_model_is_chosen(self, us: Team, helper: McpProcess, openai: OpenAIServer) -> None:
        await register(us, helper, None)
        done = await run(us)
        assert done["status"] == "failed"
        assert "capability off" in helper.calls()
        assert openai.asked == []
        legacy = "Sampling not supported" in done["error"]["message"]
        assert legacy or done["error"]["code"] == "mcp_sampling_refused"

    @for_any_user
    async def test_goes_over_standard_input_and_output_too_and_no_secret_reaches_the_model(
        self, us: Team, openai: OpenAIServer
    ) -> None:
        canary = "canary-31415926-secret"
        await us.ask("admin", "PUT", "/variables/SERVICE_TOKEN", json={"value": canary})
        env = {"MCP_MODE": "sampling", "SERVICE_KEY": {"secret": "SERVICE_TOKEN"}}
        program = {"transport": "stdio", "command": COMMAND, "env": env, "access": ACCESS}
        await us.make("admin", "/mcp-servers", name="helper", **program, sampling=UNASKED, space_id=us.space)
        assert (await us.ask("admin", "POST", "/mcp-servers/helper/refresh")).is_success
        openai.script(openai.text("Short."))
        done = await run(us, "leak")
        assert done["text"] == f"leak: Short. ({MODEL}, endTurn)", done["error"]
        [asked] = openai.asked
        assert asked.body["messages"][-1]["content"] == "Summarize: [redacted] A long story."
        evidence = (await us.ask("owner", "GET", f"/flow-runs/{done['id']}/evidence")).text
        assert canary not in evidence + json.dumps(asked.body)

    async def test_outside_of_a_call_is_refused(self) -> None:
        questions = Questions("helper", Sampling(model=MODEL), str)
        answer = await questions.sample(None, wanted("summarize", "x", [])[0])
        assert isinstance(answer, ErrorData)
        assert "only during a call" in answer.message

    async def test_in_the_call_of_an_agent_leaves_the_agent_its_own_model(
        self, us: Team, helper: McpProcess, openai: OpenAIServer
    ) -> None:
        await register(us, helper, {"model": MODEL})
        openai.script(
            openai.tool_call("helper__summarize", {"text": "Long."}), openai.text("Short."), openai.text("It is short.")
        )
        flow = await us.make("editor", "/flows", spec=AGENT)
        started = await us.make("editor", f"/flows/{flow['id']}/runs", text="Summarize.", version="draft")
        [approval] = await pending(us, started["id"])
        assert await decide(us, "owner", approval) == 200
        done = await ended(us, started["id"])
        assert (done["text"], len(openai.asked)) == ("It is short.", 3)
        assert [len(asked.body.get("tools", [])) for asked in openai.asked] == [12, 0, 12]

    async def test_of_several_messages_at_once_asks_one_at_a_time(
        self, us: Team, helper: McpProcess, openai: OpenAIServer
    ) -> None:
        await register(us, helper, {"model": MODEL})
        openai.script(*[openai.text(f"Answer {number}.") for number in range(3)])
        run_id = await start(us, "several")
        for asked in range(3):
            [approval] = await pending(us, run_id)
            assert len(openai.asked) == asked
            assert await decide(us, "owner", approval) == 200
        assert (await ended(us, run_id))["status"] == "completed"
        assert len(openai.asked) == 3

    async def test_is_not_sent_in_a_dry_run(self, us: Team, helper: McpProcess, openai: OpenAIServer) -> None:
        await register(us, helper, UNASKED)
        flow = await us.make("editor", "/flows", spec=FLOW.format(tool="summarize", policy=""))
        dry = await us.ask("editor", "POST", f"/flows/{flow['id']}/dry-run", json={"text": "Long."})
        assert dry.is_success, dry.text
        assert openai.asked == []
        assert not [line for line in helper.calls() if line.startswith("summarize")]


class TestClassification:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"classification": ClassificationSettings(enabled=True)})

    async def test_needs_a_model_that_is_cleared_for_the_data(
        self, us: Team, helper: McpProcess, openai: OpenAIServer
    ) -> None:
        await register(us, helper, UNASKED)
        assert (await us.ask("admin", "PUT", f"/model-classes/{MODEL}", json={"level": 0})).is_success
        spec = FLOW.format(tool="summarize", policy="").replace(
            "nodes:", "settings:\n  input_classification: 1\nnodes:", 1
        )
        flow = await us.make("editor", "/flows", spec=spec)
        started = await us.make("editor", f"/flows/{flow['id']}/runs", text="Secret.", version="draft")
        done = await ended(us, started["id"])
        assert done["error"]["code"] == "classification_refused", done
        assert openai.asked == []


class TestRefusals:
    @pytest.mark.parametrize(
        ("tool", "why"),
        [
            ("image", "something that is not text, such as an image"),
            ("huge", "150,018 characters; 50,000 is the most"),
            ("tools", "offers tools to the model"),
            ("context", "asks for context of other servers"),
            ("nothing", "asks without messages"),
        ],
    )
    async def test_name_what_was_asked_and_the_model_is_not_called(
        self, us: Team, helper: McpProcess, openai: OpenAIServer, tool: str, why: str
    ) -> None:
        await register(us, helper, UNASKED)
        done = await run(us, tool)
        assert done["status"] == "failed"
        assert why in done["error"]["message"], done["error"]
        assert openai.asked == []

    async def test_end_a_loop_at_the_limit_of_requests(
        self, us: Team, helper: McpProcess, openai: OpenAIServer
    ) -> None:
        await register(us, helper, UNASKED | {"max_requests": 3})
        openai.script(*[openai.text("More.") for _ in range(20)])
        done = await run(us, "loop")
        assert (done["status"], done["error"]["code"]) == ("failed", "mcp_sampling_refused")
        assert "more than 3 times during one call" in done["error"]["message"]
        assert len(openai.asked) == 3

    async def test_hold_a_request_to_its_tokens(self, us: Team, helper: McpProcess, openai: OpenAIServer) -> None:
        await register(us, helper, UNASKED | {"max_tokens": 40})
        openai.script(openai.text("Short."))
        assert (await run(us))["status"] == "completed"
        assert openai.asked[0].body["max_completion_tokens"] < 40
        done = await run(us, text="word " * 60)
        assert "more than 40 tokens" in done["error"]["message"]
        assert len(openai.asked) == 1

    async def test_stop_at_the_budget_of_the_run(self, us: Team, helper: McpProcess, openai: OpenAIServer) -> None:
        await register(us, helper, UNASKED)
        openai.script(openai.text("One.", tokens=(150, 100)), openai.text("Two."))
        done = await run(us, "twice", budget={"tokens": 260})
        assert (done["status"], done["error"]["code"]) == ("failed", "budget_exceeded"), done["error"]
        assert len(openai.asked) == 1


class TestAsking:
    async def test_a_user_allows_the_prompt_and_the_model_is_asked_once(
        self, us: Team, helper: McpProcess, openai: OpenAIServer
    ) -> None:
        await register(us, helper, {"model": MODEL})
        openai.script(openai.text("One."), openai.text("Two."))
        run_id = await start(us, "twice")
        for part in (0, 1):
            [approval] = await pending(us, run_id)
            assert len(openai.asked) == part
            shown = await us.get("owner", f"/approvals/{approval['id']}")
            assert shown["question"] == f"The MCP server 'helper' asks {MODEL} for an answer. Send it these messages?"
            assert shown["value"]["messages"] == [{"role": "user", "text": f"Part {part} of A long story."}]
            assert shown["value"]["system"] == "You summarize."
            assert (shown["value"]["tool"], shown["value"]["model"]) == ("helper.twice", MODEL)
            assert shown["editable"] == []
            assert await decide(us, "owner", approval) == 200
        done = await ended(us, run_id)
        assert done["text"] == f"twice: One. ({MODEL}, endTurn) + Two. ({MODEL}, endTurn)", done["error"]
        assert len(openai.asked) == 2
        record = await step(us, run_id)
        assert [call.get("replayed", False) for call in record["tool_calls"]] == [True, False, False]

    async def test_a_user_rejects_it(self, us: Team, helper: McpProcess, openai: OpenAIServer) -> None:
        await register(us, helper, {"model": MODEL})
        run_id = await start(us)
        [approval] = await pending(us, run_id)
        assert await decide(us, "owner", approval, "reject") == 200
        done = await ended(us, run_id)
        assert done["status"] == "failed"
        assert "was not allowed" in done["error"]["message"]
        assert openai.asked == []

    async def test_only_an_admin_lets_a_server_ask_without_a_user(self, us: Team, helper: McpProcess) -> None:
        body = {"name": "helper", "url": helper.url, "space_id": us.space}
        refused = await us.ask("owner", "POST", "/mcp-servers", json=body | {"sampling": UNASKED})
        assert (refused.status_code, refused.json()["code"]) == (403, "permission_missing")
        await us.make("owner", "/mcp-servers", **body, sampling={"model": MODEL})
        path = "/mcp-servers/helper"
        assert (await us.ask("owner", "PATCH", path, json={"sampling": UNASKED})).status_code == 403
        assert (await us.ask("admin", "PATCH", path, json={"sampling": UNASKED})).is_success
        assert (await us.ask("owner", "PATCH", path, json={"enabled": True})).json()["sampling"]["ask"] is False
        other = {"url": "https://other.example.com/mcp"}
        assert (await us.ask("owner", "PATCH", path, json=other)).status_code == 403
        assert (await us.ask("owner", "PATCH", path, json={"sampling": None})).json()["sampling"] is None


class TestOnce:
    async def test_a_step_that_fails_after_the_answer_does_not_pay_again(
        self, us: Team, helper: McpProcess, openai: OpenAIServer
    ) -> None:
        await register(us, helper, UNASKED)
        openai.script(openai.text("Short.", tokens=(20, 5)), openai.text("Second."))
        done = await run(us, "flaky", policy=RETRY)
        assert done["text"] == f"flaky: Short. ({MODEL}, endTurn)", done["error"]
        assert len(openai.asked) == 1
        assert [line for line in helper.calls() if line.startswith("flaky got")] == [
            f"flaky got Short. ({MODEL}, endTurn)"
        ] * 2

    async def test_a_server_that_dies_while_the_model_answers_is_asked_again_and_the_model_is_not(
        self, us: Team, helper: McpProcess, openai: OpenAIServer
    ) -> None:
        await register(us, helper, UNASKED)
        hold = Hold()
        openai.script(openai.held_text("Short.", hold), openai.text("Second."))
        run_id = await start(us, policy=RETRY)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not openai.asked:  # noqa: ASYNC110 - another process makes it so
                await asyncio.sleep(0.02)
        helper.kill()
        with McpProcess(helper.tally, helper.mode, port=helper.port):
            hold.release()
            done = await ended(us, run_id)
        assert done["text"] == f"summarize: Short. ({MODEL}, endTurn)", done["error"]
        assert len(openai.asked) == 1
