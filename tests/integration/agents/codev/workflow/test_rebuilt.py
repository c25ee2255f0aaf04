"""A graph that is built anew between every two steps, as after a restart, does the same and asks nothing twice."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.codev_place import FakePlace
from tests.support.codev_play import Play, play
from tests.support.codev_script import FOUND, WRITTEN, Calls, ScriptedReasoning, calls, case, plan_of, scripted

CREDENTIALS = "Found.\nCREDENTIALS_STATUS: MISSING\nMISSING_TYPES: openAIApi"
FAILING = plan_of(case("greets", "hello"), case("names", "hi"))
ANSWERS: dict[str, Callable[[Play], Any]] = {
    "clarification": lambda _: {"type": "clarification", "text": "Kindly"},
    "credential_check": lambda _: {"type": "credential_check", "skip": True},
    "plan_approval": lambda _: {"type": "plan_approval", "approved": True, "repairs_approved": True},
    "result_review": lambda _: {"type": "result_review", "accepted": True, "save_tests": True},
}


def script() -> ScriptedReasoning:
    """Everything that can happen: questions, tools, a missing credential, plans without tests, three iterations."""
    two = Calls((("make_flow", {"name": "F", "answer": "!500"}), ("set_answer", {"answer": "!HTTP 500"})))
    return scripted(
        clarify="SCORE: 9\n1. How?",
        discover=[calls("search_patterns", words="greet"), calls("list_components"), CREDENTIALS],
        plan=["# Plan without tests", FAILING],
        patch=[
            two,
            WRITTEN,
            calls("set_answer", answer="hello"),
            WRITTEN,
            calls("set_answer", answer="hello hi"),
            WRITTEN,
        ],
        converge=["What?", "DONE", "DONE"],
    )


def _set(answer: str) -> Calls:
    return calls("set_answer", answer=answer)


async def played(session: Play) -> list[str]:
    """The types of all that was asked, when everything was answered."""
    asked = []
    payload = await session.begin(test_trials=2)
    while payload:
        asked.append(payload["type"])
        payload = await session.answer(ANSWERS[payload["type"]](session))
    return asked


class TestRebuiltGraph:
    async def test_comes_to_the_same_and_asks_no_more(self) -> None:
        whole_place, whole_script = FakePlace(), script()
        whole = play(whole_script, whole_place)
        wanted = await played(whole)
        place, stepped_script = FakePlace(), script()
        stepped = play(stepped_script, place, rebuilt=True)
        assert await played(stepped) == wanted
        assert wanted == ["clarification", "credential_check", "plan_approval", "result_review"]
        assert stepped_script.asked == whole_script.asked
        assert place.written == whole_place.written
        assert len(place.runs) == len(whole_place.runs) == 12
        state, other = await stepped.state(), await whole.state()
        assert {**state, "trials": None} == {**other, "trials": None}
        assert state["iteration"] == 3
        assert state["done"] is True

    async def test_a_message_whose_tools_are_carried_out_again_writes_nothing_twice(self) -> None:
        place = FakePlace()
        session = play(script(), place, rebuilt=True)
        await session.begin()
        await session.answer(ANSWERS["clarification"](session))
        await session.answer(ANSWERS["credential_check"](session))
        execute, crashes = session.journal.execute, iter([False, True])

        class Killed(Exception):
            pass

        async def then_killed(*given: Any, **named: Any) -> Any:
            written = await execute(*given, **named)
            if next(crashes, False):
                raise Killed
            return written

        object.__setattr__(session.working, "journal", _Journal(session.journal, then_killed))
        with pytest.raises(Killed):
            await session.answer(ANSWERS["plan_approval"](session))
        assert [answer for _, answer in place.written] == ["!500", "!HTTP 500"]
        payload = await session.go_on()
        assert payload["type"] == "result_review"
        assert [answer for _, answer in place.written] == ["!500", "!HTTP 500", "hello", "hello hi"]


class _Journal:
    """A journal whose calls can be followed by a kill."""

    def __init__(self, journal: Any, execute: Any) -> None:
        self.execute = execute
        self.notes, self.beginning = journal.notes, journal.beginning


class TestSummaryOfDiscovery:
    async def test_is_all_that_a_checkpoint_keeps(self) -> None:
        session = play(scripted(discover=[calls("list_components"), FOUND]), FakePlace(), rebuilt=True)
        await session.begin()
        latest = next(iter(session.saver.list({"configurable": {"thread_id": "session-1"}})))
        assert "Prompt" not in str(latest.checkpoint["channel_values"])
