"""The offline builder on a turn: the tools, the budget and the events of any turn."""

import asyncio

import pytest

from headgate.agents.assistant.loop.calls import time_limit
from headgate.agents.assistant.loop.offline_work import work_offline
from headgate.agents.assistant.offline.builder import OfflineBuilder
from headgate.agents.assistant.turn.usage import Budget
from headgate.graph.model import Flow
from tests.unit.agents.assistant.loop.test_loop import REGISTRY, HangingRunner, turn_on

REQUEST = "count the words of my text and save the count as n.txt"
RUN = REQUEST + ", and run it with the text 'a b c'"


def builder_of(flow: Flow) -> OfflineBuilder:
    return OfflineBuilder(catalog=REGISTRY, current_flow=lambda: flow)


class TestWork:
    async def test_builds_with_the_tools_and_tells_its_words(self) -> None:
        turn, told = turn_on(Flow(), request=REQUEST)
        words = await work_offline(builder_of(Flow()), turn)
        assert len(turn.bench.flow.nodes) > 1
        assert not turn.declined
        assert "".join(event["chunk"] for event in told if event["event"] == "token") == words
        assert "flow_built" in [event.get("step") for event in told]
        assert (turn.tool_calls, turn.usage.total) == (1, 0)

    async def test_says_that_it_declined(self) -> None:
        turn, _ = turn_on(Flow(), request="what is the weather like tomorrow")
        words = await work_offline(builder_of(Flow()), turn)
        assert turn.declined
        assert "offline builder" in words.lower()

    async def test_calls_only_tools_that_are_offered(self) -> None:
        turn, _ = turn_on(Flow(), request=REQUEST, only=frozenset({"search_components"}))
        words = await work_offline(builder_of(Flow()), turn)
        assert "no tool 'build_flow'" in words
        assert turn.declined
        assert not turn.bench.flow.nodes

    async def test_ends_when_the_tool_calls_are_spent(self) -> None:
        turn, _ = turn_on(Flow(), request=RUN, budget=Budget(tool_calls=1))
        words = await work_offline(builder_of(Flow()), turn)
        assert (turn.stopped, words) == ("budget", turn.stop_note)
        assert len(turn.bench.flow.nodes) > 1, "what was done before is kept"

    async def test_ends_when_the_seconds_are_over(self) -> None:
        turn, _ = turn_on(Flow(), request=RUN, budget=Budget(seconds=0.0))
        words = await work_offline(builder_of(Flow()), turn)
        assert (turn.stopped, words) == ("budget", turn.stop_note)

    async def test_is_cancelled_with_the_tool_that_works(self) -> None:
        turn, _ = turn_on(Flow(), request=RUN)
        turn.bench.runner = runner = HangingRunner()
        work = asyncio.create_task(work_offline(builder_of(Flow()), turn))
        await runner.hanging.wait()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert runner.cancelled


class TestTimeLimit:
    async def test_takes_no_other_timeout_for_its_own(self) -> None:
        turn, _ = turn_on(Flow())
        with pytest.raises(TimeoutError, match="the database"):
            async with time_limit(turn):
                raise TimeoutError("the database")
        assert not turn.stopped
