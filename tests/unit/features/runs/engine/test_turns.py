"""Whose transition is next, where runs of several users share a process."""

import asyncio

import pytest

from headgate.features.runs.engine import turns as module
from headgate.features.runs.engine.turns import Turns
from headgate.foundation.fair_places import Share

ANNA, BOB, CARL = Share("tenant", "space", "anna"), Share("other", "space", "bob"), Share("tenant", "space", "carl")


@pytest.fixture(autouse=True)
def nobody_stops_moving(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time plays no part: a run counts until it is over."""
    monkeypatch.setattr(module, "MOVING_SECONDS", 1e9)


class Flood:
    """Transitions of many runs of one user, each in flight until it is let go."""

    def __init__(self, turns: Turns, share: Share, count: int) -> None:
        self.in_flight = 0
        self.gate = asyncio.Event()
        self.tasks = [asyncio.create_task(self._move(turns, f"{share.user}{n}", share)) for n in range(count)]

    async def _move(self, turns: Turns, run_id: str, share: Share) -> None:
        async with turns.turn(run_id, share):
            self.in_flight += 1
            await self.gate.wait()
            self.in_flight -= 1

    async def end(self) -> None:
        self.gate.set()
        await asyncio.gather(*self.tasks)


async def everything_started() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


class TestTurns:
    async def test_are_not_limited_where_one_user_moves(self) -> None:
        flood = Flood(Turns(), ANNA, 30)
        await everything_started()
        assert flood.in_flight == 30
        await flood.end()

    @pytest.mark.parametrize("other", [BOB, CARL], ids=["another tenant", "another user"])
    async def test_are_as_many_as_the_others_have_runs(self, other: Share) -> None:
        turns = Turns()
        async with turns.turn("anna", ANNA):
            pass
        for run_id in ("one", "two"):
            async with turns.turn(run_id, other):
                pass
        flood = Flood(turns, ANNA, 30)
        await everything_started()
        assert flood.in_flight == 2
        await flood.end()
        assert flood.in_flight == 0

    async def test_a_newcomer_comes_before_those_that_wait(self) -> None:
        turns = Turns()
        async with turns.turn("first", BOB):
            pass
        flood = Flood(turns, ANNA, 30)
        await everything_started()
        assert flood.in_flight == 1
        async with asyncio.timeout(5), turns.turn("first", BOB):
            assert flood.in_flight == 1
        await flood.end()

    async def test_the_last_run_of_a_user_counts_until_another_begins(self) -> None:
        turns = Turns()
        for run_id in ("one", "two", "three"):
            async with turns.turn(run_id, BOB):
                pass
            turns.over(run_id)
        flood = Flood(turns, ANNA, 30)
        await everything_started()
        assert flood.in_flight == 1, "one run of bob's counts, not three"
        await flood.end()

    async def test_a_run_that_is_at_a_long_step_does_not_count(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "MOVING_SECONDS", 0)
        turns = Turns()
        async with turns.turn("long", BOB):
            pass
        await asyncio.sleep(0.001)
        flood = Flood(turns, ANNA, 30)
        await everything_started()
        assert flood.in_flight == 30
        await flood.end()
