"""Whatever a model says and a person answers: nothing is written without approval, and every session ends."""

import asyncio
from dataclasses import dataclass
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headgate.agents.codev.state import AgentState
from headgate.agents.codev.workflow.routing import all_passed
from tests.support.codev_place import FakePlace
from tests.support.codev_play import Play, play
from tests.support.codev_script import DONE, FOUND, WRITTEN, Calls, Line, calls, case, iterate, plan_of, scripted
from tests.support.properties import cases

NOISE = st.sampled_from(["", "Hm.", "DONE and ITERATE", "```tests\n[]\n```", "SCORE: x"])
TOOLS = st.sampled_from(
    [
        calls("make_flow", name="F", answer="hello"),
        calls("set_answer", answer="hello"),
        calls("set_answer", answer="bye"),
        calls("set_answer", answer=""),
        calls("set_answer", answer="!HTTP 401"),
        calls("read_flow", flow_id="greeter"),
        calls("list_components"),
        calls("search_patterns"),
        calls("nothing"),
        Calls((("set_answer", {"answer": "one"}), ("set_answer", {"answer": "hello"}))),
    ]
)


def said(*lines: str) -> st.SearchStrategy[list[Line]]:
    return st.lists(st.one_of(st.sampled_from(lines), NOISE, TOOLS), min_size=1, max_size=8)


SCRIPTS = st.fixed_dictionaries(
    {
        "clarify": st.lists(st.one_of(st.sampled_from(["SCORE: 1", "SCORE: 9\n1. What?"]), NOISE), min_size=1),
        "discover": said(FOUND, "Found.\nCREDENTIALS_STATUS: MISSING\nMISSING_TYPES: a, b"),
        "plan": st.lists(
            st.one_of(st.sampled_from([plan_of(case("x", "hello")), plan_of(case("y"), case("z", "bye"))]), NOISE),
            min_size=1,
            max_size=5,
        ),
        "patch": said(WRITTEN),
        "converge": st.lists(st.one_of(st.sampled_from([DONE, iterate("LOGIC")]), NOISE), min_size=1, max_size=5),
    }
)
ANSWERS: dict[str, list[dict[str, Any]]] = {
    "clarification": [{"text": ""}, {"text": "A greeter"}],
    "credential_check": [{"skip": False}, {"skip": True}],
    "plan_approval": [
        {"approved": True},
        {"approved": True, "repairs_approved": True},
        {"approved": False, "feedback": "Otherwise"},
        {"approved": False, "stop": True},
    ],
    "result_review": [{"accepted": True}, {"accepted": False, "feedback": "More"}, {"accepted": False, "stop": True}],
}


@dataclass(slots=True)
class Person:
    """Answers as it was drawn; approves and accepts after that. Somebody else changes the flow now and then."""

    choices: list[int]
    place: FakePlace
    others: int = 0

    def answer(self, kind: str) -> dict[str, Any]:
        """The answer to what is asked."""
        answers = ANSWERS[kind]
        chosen = self.choices.pop(0) if self.choices else (1 if kind == "credential_check" else 0)
        if chosen > 5 and "greeter" in self.place.flows:
            self.others += 1
            self.place.somebody_writes("greeter", f"theirs {self.others}")
        return {"type": kind, **answers[chosen % len(answers)]}


async def played(session: Play, person: Person, **options: Any) -> None:
    """Play to the end; whatever was not approved is not written, and what others wrote is not written over."""
    place = person.place
    payload = await session.begin(**options)
    while payload:
        if payload["type"] == "result_review":
            check_review(payload["data"], await session.state(), place)
        before, others = len(place.written), person.others
        answer = person.answer(payload["type"])
        payload = await session.answer(answer)
        changed = person.others > others and options["flow_id"] == "greeter"
        if answer["type"] != "plan_approval" or not answer["approved"] or changed:
            assert len(place.written) == before, answer
    state = await session.state()
    assert bool(state.get("done")) != bool(state.get("stop_reason"))
    if state.get("done"):
        assert all_passed(state)
    else:
        assert state["stop_code"] in {"budget", "iterations", "rejected"}
    assert state.get("exchange") == [] or state["stop_code"] == "budget"


def check_review(shown: dict[str, Any], state: AgentState, place: FakePlace) -> None:
    """What is shown is what is stored, and every trial of it passed on exactly that."""
    held = place.flows[shown["flow_id"]]
    assert held.mark == state.get("flow_mark")
    assert all_passed(state)
    assert (shown["trials"], shown["cases"]) == (state.get("trials"), state.get("cases"))
    assert {flow for flow, _, _ in place.runs[-len(shown["trials"]) :]} == {held.flow_id}
    answer = str(held.definition["answer"])
    assert all(trial["answer"] == answer and trial["passed"] for trial in shown["trials"])
    assert not shown["diff"] or shown["diff"][-1] == f"+ answer: {answer}"


class TestAnySession:
    @given(
        SCRIPTS,
        st.lists(st.integers(0, 9), max_size=8),
        st.sampled_from([60, 300, 100_000]),
        st.booleans(),
        st.sampled_from([None, "greeter"]),
    )
    @cases(25)
    def test_ends_and_writes_only_what_was_approved(
        self, script: dict[str, list[Line]], choices: list[int], budget: int, rebuilt: bool, flow_id: str | None
    ) -> None:
        place = FakePlace(greeter="old")
        reasoning = scripted(**script)
        session = play(reasoning, place, rebuilt=rebuilt, max_tool_calls=6)
        options = {"max_iterations": 3, "token_budget": budget, "test_trials": 2, "flow_id": flow_id}
        asyncio.run(played(session, Person(choices, place), **options))
        assert sum(reasoning.tokens) * len(reasoning.asked) < budget + sum(reasoning.tokens)
