"""How runs go over time, on both databases: counted, priced, kept apart by tenant and space, and bounded."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from headgate.features.models.catalogue import resolve
from headgate.features.runs.statistics.periods import HOUR, period_of
from headgate.foundation.settings import Settings
from headgate.sdk import Model
from tests.support.openai_server import OpenAIServer
from tests.support.patience import PATIENCE_SECONDS
from tests.support.people import LOOPBACK
from tests.support.rows import execute, run_row
from tests.support.team import Team, team

pytestmark = pytest.mark.both_databases

FLOW = """name: Ask
nodes:
  heard: ChatInput
  step: AIStep
    prompt: "Answer: {{heard.text}}"
    model: openai/gpt-4o-mini
  said: ChatOutput
edges:
  heard.text -> step.input
  step.output -> said.input
"""
ECHO = "name: Echo\nnodes:\n  heard: ChatInput\n  said: ChatOutput\nedges:\n  heard.text -> said.input\n"
WAITS = (
    "name: Wait\nnodes:\n  heard: ChatInput\n  wait: Wait\n    seconds: {seconds}\n  said: ChatOutput\n"
    "edges:\n  heard.text -> wait.value\n  wait.value -> said.input\n"
)
DAY = 24 * HOUR


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running.script(running.text("Hi", tokens=(1000, 200)))


@pytest.fixture
async def house(settings: Settings, server: OpenAIServer) -> AsyncIterator[Team]:
    async with team(settings, http=LOOPBACK) as found:
        for name, value in (("OPENAI_API_KEY", "sk-test"), ("OPENAI_BASE_URL", server.base_url)):
            await found.ask("admin", "PUT", f"/variables/{name}", json={"value": value})
        yield found


async def flow_of(house: Team, spec: str, who: str = "editor") -> str:
    found: str = (await house.make(who, "/flows", spec=spec))["id"]
    return found


async def ran(house: Team, flow_id: str, who: str = "editor", *, ago: int = 0) -> str:
    """A run that is over; `ago` microseconds later it would have begun now."""
    run_id: str = (await house.make(who, f"/flows/{flow_id}/runs", text="Hello", wait=True))["id"]
    if ago:
        at = (await run_row(house.database, run_id)).created_at - ago
        await execute(house.database, "UPDATE flow_runs SET created_at = :at WHERE id = :id", at=at, id=run_id)
    return run_id


async def figures(house: Team, who: str = "editor", **asked: Any) -> Any:
    return await house.get(who, "/run-statistics", params=asked)


class TestRunStatistics:
    async def test_a_step_that_waited_was_not_retried(self, house: Team) -> None:
        run_id = await ran(house, await flow_of(house, WAITS.format(seconds=2.1)))
        steps = (await house.get("editor", f"/flow-runs/{run_id}"))["steps"]
        assert {step["step_id"]: step["attempts"] for step in steps}["wait"] == 2
        assert (await figures(house, range="24h"))["now"]["retries"] == 0

    async def test_counts_what_waits_and_what_is_paused(self, house: Team) -> None:
        flow_id = await flow_of(house, WAITS.format(seconds=600))
        run_id = (await house.make("editor", f"/flows/{flow_id}/runs", text="Hello"))["id"]
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                if (await figures(house, range="24h"))["waiting"] == 1:
                    break
                await asyncio.sleep(0.05)
        assert (await house.ask("editor", "POST", f"/flow-runs/{run_id}/pause")).is_success
        found = await figures(house, range="24h")
        assert [found[name] for name in ("queued", "running", "waiting", "paused")] == [0, 0, 0, 1]

    async def test_counts_and_prices_what_models_took(self, house: Team) -> None:
        flow_id = await flow_of(house, FLOW)
        for _ in range(2):
            await ran(house, flow_id)
        found = await figures(house, range="24h")
        price = resolve(Model(provider="openai", name="gpt-4o-mini"))
        assert price.price_in is not None
        assert price.price_out is not None
        usd = 2 * (1000 * price.price_in + 200 * price.price_out) / 1_000_000
        assert found["now"]["spent"] == {
            "calls": 2, "tokens_input": 2000, "tokens_output": 400, "usd": pytest.approx(usd), "unpriced": 0,
        }  # fmt: skip
        (model,) = found["models"]
        assert (model["provider"], model["name"], model["spent"]["calls"]) == ("openai", "gpt-4o-mini", 2)
        (flow,) = found["flows"]
        assert (flow["name"], flow["runs"], flow["spent"]["usd"]) == ("Ask", 2, pytest.approx(usd))
        assert found["now"]["p50_ms"] > 0
        assert sum(part["spent"]["usd"] for part in found["parts"]) == pytest.approx(usd)

    async def test_names_what_has_no_price(self, house: Team) -> None:
        await ran(house, await flow_of(house, FLOW.replace("gpt-4o-mini", "a-model-of-tomorrow")))
        spent = (await figures(house))["now"]["spent"]
        assert (spent["calls"], spent["unpriced"], spent["usd"]) == (1, 1, 0)

    async def test_stands_beside_the_period_before(self, house: Team) -> None:
        flow_id = await flow_of(house, ECHO)
        for ago in (0, 0, DAY + HOUR, 3 * DAY):
            await ran(house, flow_id, ago=ago)
        day, week = await figures(house, range="24h"), await figures(house, range="7d")
        assert (day["now"]["runs"], day["before"]["runs"]) == (2, 1)
        assert (week["now"]["runs"], week["before"]["runs"]) == (4, 0)
        assert [part["runs"] for part in day["parts"]] == [0] * 23 + [2]
        assert sum(part["runs"] for part in week["parts"]) == 4
        assert day["before"]["p95_ms"] > 0

    async def test_tells_failures_with_a_run_of_each(self, house: Team, server: OpenAIServer) -> None:
        server._scripts.clear()
        server.script(server.wrong_key("Incorrect API key provided: sk-verysecretkey12345"))
        flow_id = await flow_of(house, FLOW)
        runs = [await ran(house, flow_id) for _ in range(2)]
        found = await figures(house)
        (failure,) = found["failures"]
        assert (failure["runs"], failure["run_id"], failure["flow_name"]) == (2, runs[-1], "Ask")
        assert failure["message"]
        assert "verysecret" not in str(found)
        assert (found["now"]["failed"], found["now"]["completed"]) == (2, 0)

    async def test_takes_the_middle_and_nearly_the_longest(self, house: Team) -> None:
        flow_id = await flow_of(house, ECHO)
        for number in range(20):
            run_id = await ran(house, flow_id)
            await execute(
                house.database,
                "UPDATE flow_runs SET finished_at = started_at + :lasted WHERE id = :id",
                lasted=(number + 1) * 1_000_000,
                id=run_id,
            )
        now = (await figures(house))["now"]
        assert (now["p50_ms"], now["p95_ms"]) == (10_000, 19_000)

    async def test_is_of_the_spaces_that_somebody_sees(self, house: Team) -> None:
        await ran(house, await flow_of(house, ECHO))
        await ran(house, await flow_of(house, ECHO, "stranger"), "stranger")
        counts = {who: (await figures(house, who))["now"]["runs"] for who in ("viewer", "stranger", "admin")}
        assert counts == {"viewer": 1, "stranger": 1, "admin": 2}
        assert len((await figures(house, "stranger"))["flows"]) == 1
        assert (await figures(house, "admin", space_id=house.elsewhere))["now"]["runs"] == 1
        answer = await house.ask("viewer", "GET", "/run-statistics", params={"space_id": house.elsewhere})
        assert answer.status_code == 404

    @pytest.mark.parametrize("range_", ["24h", "7d", "30d", "90d"])
    async def test_stays_small(self, house: Team, range_: str) -> None:
        answer = await house.ask("editor", "GET", "/run-statistics", params={"range": range_})
        assert len(answer.content) < 20_000


class TestPeriod:
    def test_has_whole_parts_up_to_now(self) -> None:
        at = 1_800_000_000_000_000 + 1234
        for name, parts in (("24h", 24), ("7d", 28), ("30d", 30), ("90d", 45)):
            period = period_of(name, at)  # type: ignore[arg-type]
            assert period.parts == parts
            assert period.end - period.step <= at < period.end
            assert period.end % period.step == 0
            assert period.start - period.before == period.end - period.start
