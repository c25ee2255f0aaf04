"""Answers of webhooks: status, headers and body of the caller's choice, and the text of a run as it comes."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import orjson
import pytest
from pydantic import SecretStr

from headgate.features.access.principal import LOCAL
from headgate.features.secrets import service as variables
from headgate.features.triggers.hooks import answers
from headgate.foundation.settings import RateLimitSettings, Settings
from tests.integration.features.triggers.conftest import add, occurrences, published, until
from tests.integration.features.triggers.test_webhooks import call, hook
from tests.integration.http.asking import listening
from tests.support.openai_server import OpenAIServer
from tests.support.people import LOOPBACK
from tests.support.scripted_server import Hold
from tests.support.team import Team, team

PARSES = """name: Order
nodes:
  heard: ChatInput
  parsed: ParseJSON
edges:
  heard.text -> parsed.text
"""
ASKS = """name: Tell
nodes:
  heard: ChatInput
  answer: LanguageModel
    model: openai/gpt-5-mini
  said: ChatOutput
edges:
  heard.text -> answer.input
  answer.text -> said.input
"""
ORDER = orjson.dumps({"code": 201, "etag": "v7", "order": {"number": "A 7", "lines": [1, 2]}})


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings, rate_limits=RateLimitSettings(enabled=False), http=LOOPBACK) as people:
        yield people


@pytest.fixture
async def address(us: Team) -> AsyncIterator[str]:
    async with listening(us.app) as address:
        yield address


@pytest.fixture
def provider() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


async def telling(us: Team, provider: OpenAIServer, **config: Any) -> Any:
    """A webhook whose flow answers with the text of a model."""
    values = {"OPENAI_API_KEY": "sk-test-0123456789abcdef", "OPENAI_BASE_URL": provider.base_url}
    async with us.database.writing() as session:
        for name, value in values.items():
            box = us.app.state.box
            await variables.set_variable(session, LOCAL, box, name=name, value=SecretStr(value), organisation=True)
    flow_id = await published(us, ASKS)
    return await add(us, flow_id, name="Orders", config={"kind": "webhook", "verification": "none", **config})


async def outcome(us: Team, trigger: dict[str, Any]) -> str | None:
    """The status of the only run, once it has ended."""
    (row,) = await occurrences(us, trigger["id"])
    return row["run_status"] if row["run_status"] in {"completed", "failed", "cancelled"} else None


class TestResponse:
    async def test_is_what_the_trigger_describes(self, us: Team) -> None:
        response = {
            "status_from": "data.code",
            "media_type": "application/json",
            "body_from": "data.order.{id: number, lines: length(lines)}",
            "headers": {"ETag": "data.etag", "X-Fixed": "'yes'", "X-Missing": "data.missing"},
        }
        trigger = await hook(us, spec=PARSES, verification="none", answer="result", response=response)
        answer = await call(us, trigger, ORDER)
        assert (answer.status_code, answer.json()) == (201, {"id": "A 7", "lines": 2}), answer.text
        assert answer.headers["content-type"] == "application/json"
        assert (answer.headers["etag"], answer.headers["x-fixed"]) == ("v7", "yes")
        assert "x-missing" not in answer.headers
        assert answer.headers["x-run-id"] == (await occurrences(us, trigger["id"]))[0]["run_id"]

    async def test_selects_from_text_that_is_json(self, us: Team) -> None:
        response = {"status": 206, "media_type": "text/csv", "body_from": "join(',', data.order.lines[].to_string(@))"}
        trigger = await hook(us, verification="none", answer="result", response=response)
        answer = await call(us, trigger, ORDER)
        assert (answer.status_code, answer.text) == (206, "1,2")
        assert answer.headers["content-type"] == "text/csv; charset=utf-8"

    async def test_of_a_page_is_one_in_which_a_browser_runs_nothing(self, us: Team) -> None:
        trigger = await hook(us, verification="none", answer="result", response={"media_type": "text/html"})
        answer = await call(us, trigger, b"<script>alert(1)</script>", **{"content-type": "text/plain"})
        assert answer.headers["content-type"].startswith("text/html")
        assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
        assert answer.headers["x-content-type-options"] == "nosniff"

    async def test_without_content_has_none(self, us: Team) -> None:
        trigger = await hook(us, verification="none", answer="result", response={"status": 204})
        answer = await call(us, trigger, ORDER)
        assert (answer.status_code, answer.content) == (204, b"")

    async def test_of_a_failed_run_has_its_status_and_nothing_of_the_inside(self, us: Team) -> None:
        response = {"failed_status": 422}
        trigger = await hook(us, spec=PARSES, verification="none", answer="result", response=response)
        answer = await call(us, trigger, b"no JSON", **{"content-type": "text/plain"})
        assert (answer.status_code, answer.json()["status"]) == (422, 422)
        assert answer.json()["detail"] == "The flow has not returned a result."
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["x-run-id"] == (await occurrences(us, trigger["id"]))[0]["run_id"]

    @pytest.mark.parametrize(
        ("response", "reason"),
        [
            ({"status_from": "data.order.number"}, "A 7 is not a status"),
            ({"status_from": "`302`"}, "302 is not a status"),
            ({"status_from": "`true`"}, "true is not a status"),
            ({"headers": {"X-Lines": "'a\r\nSet-Cookie: b=c'"}}, "The value of the header X-Lines"),
            ({"body_from": "abs(text)"}, "failed"),
        ],
    )
    async def test_that_a_result_does_not_fill_says_why(self, us: Team, response: Any, reason: str) -> None:
        trigger = await hook(us, verification="none", answer="result", response=response | {"failed_status": 502})
        answer = await call(us, trigger, ORDER)
        assert answer.status_code == 502
        assert reason in answer.json()["detail"]
        assert "set-cookie" not in answer.headers

    @pytest.mark.parametrize(
        "response",
        [
            *({"headers": {name: "'x'"}} for name in (
                "Set-Cookie", "Content-Length", "Content-Type", "Transfer-Encoding", "connection", "TE", "Upgrade",
                "Access-Control-Allow-Origin", "Content-Security-Policy", "Strict-Transport-Security", "Refresh",
                "X-Frame-Options", "WWW-Authenticate", "X-Run-Id", "Clear-Site-Data", "X-A\r\nB",
            )),
            {"status": 302}, {"status": 101}, {"status": 700}, {"failed_status": 200}, {"status_from": "a.["},
            {"media_type": "multipart/x-mixed-replace"}, {"media_type": "text/html; charset=x\r\nA: b"},
        ],
    )  # fmt: skip
    async def test_is_refused_when_it_is_set_where_it_may_do_harm(self, us: Team, response: Any) -> None:
        flow_id = await published(us)
        config = {"kind": "webhook", "verification": "none", "answer": "result", "response": response}
        answer = await us.ask("publisher", "POST", f"/flows/{flow_id}/triggers", json={"name": "H", "config": config})
        assert answer.status_code == 422, answer.text

    @pytest.mark.parametrize("more", [{"answer": "accepted", "response": {}}, {"answer": "stream", "response": {}},
                                      {"answer": "stream", "event": {"name": "paid"}}])  # fmt: skip
    async def test_is_only_of_a_result(self, us: Team, more: Any) -> None:
        flow_id = await published(us)
        config = {"kind": "webhook", "verification": "none", **more}
        answer = await us.ask("publisher", "POST", f"/flows/{flow_id}/triggers", json={"name": "H", "config": config})
        assert answer.status_code == 422, answer.text


class TestStream:
    async def test_sends_text_while_the_flow_writes(self, us: Team, address: str, provider: OpenAIServer) -> None:
        hold = Hold()
        provider.script(provider.pieces("Order ", hold, "A 7"))
        trigger = await telling(us, provider, answer="stream")
        async with httpx2.AsyncClient() as client:
            async with client.stream("POST", f"{address}{trigger['path']}", content=b"hi") as answer:
                parts = answer.aiter_text()
                assert (answer.status_code, await anext(parts)) == (200, "Order ")
                assert answer.headers["content-type"] == "text/plain; charset=utf-8"
                assert await outcome(us, trigger) is None
                hold.release()
                assert "".join([part async for part in parts]) == "A 7"
            assert answer.headers["x-run-id"] == (await occurrences(us, trigger["id"]))[0]["run_id"]

    async def test_sends_events_to_those_who_accept_them(self, us: Team, provider: OpenAIServer) -> None:
        provider.script(provider.pieces("Order ", "A 7"))
        trigger = await telling(us, provider, answer="stream")
        answer = await call(us, trigger, b"{}", accept="text/event-stream")
        assert answer.headers["content-type"].startswith("text/event-stream")
        events = [entry.split("\n") for entry in answer.text.strip().split("\n\n")]
        named = [(event[1].removeprefix("event: "), orjson.loads(event[2].removeprefix("data: "))) for event in events]
        assert "".join(data["text"] for kind, data in named if kind == "text") == "Order A 7"
        assert named[-1] == ("done", {"run_id": answer.headers["x-run-id"], "text": "Order A 7"})

    async def test_of_a_flow_without_streaming_is_its_result(self, us: Team) -> None:
        trigger = await hook(us, verification="none", answer="stream", text_from="body.order.number")
        answer = await call(us, trigger, ORDER)
        assert (answer.status_code, answer.text) == (200, "A 7")

    async def test_of_a_flow_that_fails_is_the_failure(self, us: Team) -> None:
        trigger = await hook(us, spec=PARSES, verification="none", answer="stream")
        plain = await call(us, trigger, b"no JSON", **{"content-type": "text/plain"})
        assert (plain.status_code, plain.json()["detail"]) == (503, "The flow has not returned a result.")
        events = await call(us, trigger, b"no JSON", accept="text/event-stream", **{"content-type": "text/plain"})
        assert events.text.strip().split("\n\n")[-1].split("\n")[1:] == [
            "event: failed",
            f'data: {{"run_id":"{events.headers["x-run-id"]}"}}',
        ]

    async def test_is_answered_with_202_when_it_does_not_begin_in_time(
        self, us: Team, provider: OpenAIServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(answers, "RESULT_SECONDS", 0.2)
        hold = Hold()
        provider.script(provider.held_text("Late", hold))
        trigger = await telling(us, provider, answer="stream")
        answer = await call(us, trigger, b"{}")
        assert (answer.status_code, answer.json()["status"]) == (202, "started")
        hold.release()
        assert await until(lambda: outcome(us, trigger)) == "completed"

    @pytest.mark.parametrize("accept", ["text/plain", "text/event-stream"])
    async def test_of_a_caller_that_leaves_does_not_stop_the_run(
        self, us: Team, address: str, provider: OpenAIServer, accept: str
    ) -> None:
        hold = Hold()
        provider.script(provider.pieces("Order ", hold, "A 7"))
        trigger = await telling(us, provider, answer="stream")
        url = f"{address}{trigger['path']}"
        async with (
            httpx2.AsyncClient(headers={"accept": accept}) as client,
            client.stream("POST", url, content=b"hi") as answer,
        ):
            seen, parts = "", answer.aiter_text()
            while "Order" not in seen:
                seen += await anext(parts)
        await asyncio.sleep(0.2)
        assert await outcome(us, trigger) is None
        hold.release()
        assert await until(lambda: outcome(us, trigger)) == "completed"
