"""The decisions of the development agent that its graph makes true, one scenario each, with a model at the wire."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from headgate.agents.codev.workflow.prompts import playbook
from headgate.foundation.errors import Unavailable
from tests.support.codev_place import FakePlace, FakeTestSets
from tests.support.codev_play import Wire, at_the_wire, play_at
from tests.support.codev_script import CLEAR, DONE, FOUND, WRITTEN, calls, case, iterate, plan_of, scripted

pytestmark = pytest.mark.timeout(60)

MADE = [calls("make_flow", name="Greeter", answer="hello {text}"), WRITTEN]


@contextmanager
def model(**lines: Any) -> Iterator[Wire]:
    with at_the_wire(scripted(**{"patch": MADE, **lines})) as wire:
        yield wire


class TestDD001LangGraphForOrchestration:
    async def test_goes_from_the_requirement_to_an_accepted_flow(self) -> None:
        place = FakePlace()
        with model(discover=[calls("search_patterns", words="greet"), FOUND]) as wire:
            session = await play_at(wire, place)
            assert (await session.begin())["type"] == "plan_approval"
            assert place.written == []
            assert (await session.approve())["type"] == "result_review"
            assert await session.accept() == {}
        state = await session.state()
        assert wire.phases() == ["clarify", "discover", "discover", "plan", "patch", "patch", "converge"]
        assert state["done"]
        assert state["pattern_id"] == "pattern-of-session-1"
        assert place.written == [("flow-1", "hello {text}")]
        reached = [told["phase"] for told in session.told.of("phase")]
        assert list(dict.fromkeys(reached)) == [
            "clarify", "discover", "check_credentials", "plan", "approve_plan", "patch", "test", "converge", "review",
            "done",
        ]  # fmt: skip


class TestDD003ProviderAgnosticReasoning:
    async def test_tells_words_as_they_come_and_tools_as_they_run(self) -> None:
        with model(discover=[calls("list_components"), FOUND]) as wire:
            session = await play_at(wire, FakePlace())
            await session.begin()
        pieces = [told["text"] for told in session.told.of("token") if told["phase"] == "discover"]
        assert len(pieces) > 1
        assert "".join(str(piece) for piece in pieces) == FOUND
        (called,), (answered,) = session.told.of("tool_call"), session.told.of("tool_result")
        assert called["name"] == answered["name"] == "list_components"
        assert called["id"] == answered["id"]
        assert answered["ok"] is True
        assert "Prompt" in str(answered["preview"])


class TestDD004Checkpointer:
    async def test_any_will_do(self, tmp_path: Path) -> None:
        """A session begun with one saver of a file goes on with another."""
        place, file = FakePlace(), str(tmp_path / "sessions.db")
        with model() as wire:
            async with AsyncSqliteSaver.from_conn_string(file) as saver:
                first = await play_at(wire, place)
                first.saver = saver
                assert (await first.begin())["type"] == "plan_approval"
            async with AsyncSqliteSaver.from_conn_string(file) as saver:
                second = await play_at(wire, place)
                second.saver = saver
                assert (await second.approve())["type"] == "result_review"
                assert await second.accept() == {}
            assert wire.phases().count("plan") == 1


class TestDD006Temperature:
    async def test_is_low_in_every_request(self) -> None:
        with model() as wire:
            session = await play_at(wire, FakePlace())
            await session.begin()
            assert [asked.body["temperature"] for asked in wire.server.asked] == [0.2] * 3


class TestDD007StateWithReducers:
    async def test_messages_are_appended_and_the_rest_is_overwritten(self) -> None:
        with model(
            plan=[plan_of(case("a", "hello"), text="First."), plan_of(case("b", "hello"), text="Second.")]
        ) as wire:
            session = await play_at(wire, FakePlace())
            await session.begin()
            await session.answer({"type": "plan_approval", "approved": False, "feedback": "Shorter"})
        state = await session.state()
        said = [message["content"] for message in state["messages"]]
        assert said == ["Greet people", FOUND, "First.", "Shorter", "Second."]
        assert state["plan"] == "Second."
        assert [one["name"] for one in state["cases"]] == ["b"]


class TestDD009CompactContext:
    async def test_only_the_summary_of_what_tools_answered_goes_on(self) -> None:
        with model(discover=[calls("list_components"), FOUND]) as wire:
            session = await play_at(wire, FakePlace())
            await session.begin()
            during, planned = wire.asked("discover")[1], wire.asked("plan")[0]
        assert '"Prompt"' in during.text
        assert '"Prompt"' not in planned.text
        assert "There is a component Answer." in planned.text
        state = await session.state()
        assert state.get("exchange") == []
        assert "Prompt" not in str(state)


class TestDD010ApprovalAndReview:
    async def test_nothing_is_written_before_the_plan_is_approved(self) -> None:
        place = FakePlace()
        with model() as wire:
            session = await play_at(wire, place)
            payload = await session.begin()
            assert payload["data"]["plan"] == "# Plan\n\nAnswer what is wanted."
            assert payload["data"]["iteration"] == 1
            assert payload["data"]["conflict"] is None
            assert [one["name"] for one in payload["data"]["cases"]] == ["greets"]
            assert place.written == []
            assert wire.asked("patch") == []

    async def test_a_plan_and_cases_that_the_person_edited_are_what_is_carried_out(self) -> None:
        place = FakePlace()
        edited = [{"name": "mine", "text": "Bo", "expect": {"contains": ["hello bo"]}}]
        with model() as wire:
            session = await play_at(wire, place)
            await session.begin()
            payload = await session.approve(plan="# My plan", cases=edited)
            assert "# My plan" in wire.asked("patch")[0].text
        assert [trial["case"] for trial in payload["data"]["trials"]] == ["mine"]
        assert [case.text for _, case, _ in place.runs] == ["Bo"]

    async def test_the_review_shows_what_is_stored_and_not_what_the_model_says(self) -> None:
        place = FakePlace(greeter="bye")
        boast = "I made ten flows and deleted the database."
        with model(patch=[calls("set_answer", answer="hello there"), boast]) as wire:
            session = await play_at(wire, place)
            await session.begin(flow_id="greeter")
            payload = await session.approve()
        data = payload["data"]
        assert data["diff"] == ["- answer: bye", "+ answer: hello there"]
        assert data["link"] == "/flows/greeter"
        assert data["flow_id"] == "greeter"
        assert boast not in str(payload)
        assert "1 of 1 trials" in data["summary"]
        assert "1. Answers 'hello there'" in data["summary"]

    async def test_a_result_that_is_not_accepted_is_planned_anew_with_what_was_said(self) -> None:
        place = FakePlace()
        patch = [*MADE, calls("set_answer", answer="hello, dear {text}"), WRITTEN]
        with model(patch=patch) as wire:
            session = await play_at(wire, place)
            await session.begin(max_iterations=1)
            await session.approve()
            payload = await session.answer({"type": "result_review", "accepted": False, "feedback": "More kindly"})
            assert payload["type"] == "plan_approval"
            assert payload["data"]["iteration"] == 2
            assert "More kindly" in wire.asked("plan")[1].text
            assert len(place.written) == 1
            assert (await session.approve())["type"] == "result_review"
            assert "More kindly" in wire.asked("patch")[-1].text
            assert "More kindly" in wire.asked("converge")[-1].text
            assert await session.accept() == {}
        assert place.written[-1] == ("flow-1", "hello, dear {text}")

    async def test_a_person_can_end_it_at_either(self) -> None:
        with model() as wire:
            session = await play_at(wire, FakePlace())
            await session.begin()
            assert await session.answer({"type": "plan_approval", "approved": False, "stop": True}) == {}
            state = await session.state()
            assert state["stop_code"] == "rejected"
            assert state["stop_reason"] == "The plan was not approved, and the session was ended. Nothing was written."
        with model() as wire:
            session = await play_at(wire, FakePlace())
            await session.begin()
            await session.approve()
            assert await session.answer({"type": "result_review", "accepted": False, "stop": True}) == {}
            reason = (await session.state())["stop_reason"] or ""
            assert reason.startswith("The result was not accepted")
            assert "1 write of this session is kept" in reason


class TestDD014And022Skills:
    async def test_each_phase_is_told_what_is_known_of_the_place(self) -> None:
        with model() as wire:
            session = await play_at(wire, FakePlace())
            await session.begin()
            await session.approve()
            for phase, knowledge in {
                "discover": "discover",
                "plan": "plan",
                "patch": "patch",
                "converge": "test",
            }.items():
                assert f"Knowledge of the phase {knowledge}." in wire.asked(phase)[0].system
            assert "Knowledge" not in wire.asked("clarify")[0].system


class TestDD016NothingOfModelsAtTheStart:
    def test_neither_choosing_a_model_nor_beginning_loads_langchain(self) -> None:
        rooms = "headgate.agents.codev.reasoning.chooser, headgate.agents.codev.workflow.opening"
        heavy = {"langchain_core", "langchain", "langgraph", "openai", "anthropic"}
        program = f"import sys, {rooms}; sys.exit(', '.join({heavy} & sys.modules.keys()) or None)"
        found = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
        assert found.returncode == 0, found.stderr


class TestDD017Credentials:
    MISSING = "Found.\n\nCREDENTIALS_STATUS: MISSING\nMISSING_TYPES: openAIApi, otherApi"

    async def test_what_is_missing_is_asked_for_before_anything_is_planned(self) -> None:
        place = FakePlace()
        place.credentials.add("otherApi")
        with model(discover=self.MISSING) as wire:
            session = await play_at(wire, place)
            payload = await session.begin()
            assert payload["type"] == "credential_check"
            assert wire.asked("plan") == []
            (missing,) = payload["data"]["missing"]
            assert missing["type"] == "openAIApi"
            assert missing["fields"] == [{"name": "apiKey", "label": "API key", "secret": True, "optional": False}]
            again = await session.answer({"type": "credential_check"})
            assert again["type"] == "credential_check"
            await place.add_credential("openAIApi", "mine", {"apiKey": "sk-secret-value"})
            assert (await session.answer({"type": "credential_check"}))["type"] == "plan_approval"
        state = await session.state()
        assert state["missing_credentials"] == []
        assert "MISSING" not in state["discovery_summary"]
        assert "sk-secret-value" not in str(state)

    async def test_the_person_can_go_on_without_and_the_plan_is_told(self) -> None:
        with model(discover=self.MISSING) as wire:
            session = await play_at(wire, FakePlace())
            await session.begin()
            payload = await session.answer({"type": "credential_check", "skip": True})
            assert payload["type"] == "plan_approval"
            assert "continue without these: openAIApi, otherApi" in wire.asked("plan")[0].text

    async def test_a_model_that_calls_everything_fine_is_not_believed(self) -> None:
        with model(discover="Found.\nCREDENTIALS_STATUS: OK\nMISSING_TYPES: openAIApi") as wire:
            session = await play_at(wire, FakePlace())
            assert (await session.begin())["type"] == "credential_check"


class TestDD019StructuredVerdicts:
    async def test_the_next_plan_is_told_category_reason_and_fix(self) -> None:
        with model(converge=iterate("LOGIC", "it says bye", "set the answer"), plan=_plans()) as wire:
            session = await play_at(wire, FakePlace())
            await session.begin()
            payload = await session.approve()
            assert payload["type"] == "plan_approval"
            assert payload["data"]["iteration"] == 2
            assert payload["data"]["verdict"] == {
                "category": "LOGIC", "reason": "it says bye", "fix": "set the answer"
            }  # fmt: skip
            assert "CONVERGE VERDICT [LOGIC]: it says bye\nFix: set the answer" in wire.asked("plan")[1].text

    async def test_the_evaluator_sees_the_flow_as_it_is_stored_and_the_tests(self) -> None:
        with model(patch=[*MADE[:1], "I made a poem."]) as wire:
            session = await play_at(wire, FakePlace())
            await session.begin()
            await session.approve()
            told = wire.asked("converge")[0].text
        assert "+ answer: hello {text}" in told
        assert '"contains": ["hello"]' in told

    async def test_done_is_not_believed_while_a_trial_fails(self) -> None:
        with model(plan=plan_of(case("greets", "good day")), converge=DONE) as wire:
            session = await play_at(wire, FakePlace())
            await session.begin()
            payload = await session.approve()
        assert payload["type"] == "plan_approval"
        assert payload["data"]["verdict"]["category"] == "LOGIC"
        assert "greets, trial 1" in payload["data"]["verdict"]["reason"]
        assert session.told.of("verdict")[0]["done"] is False

    async def test_an_evaluator_that_wants_more_is_believed_though_all_trials_passed(self) -> None:
        with model(converge=[iterate("INCOMPLETE", "no farewell", "add one"), DONE], patch=[*MADE, WRITTEN]) as wire:
            session = await play_at(wire, FakePlace())
            await session.begin()
            payload = await session.approve()
            assert payload["data"]["verdict"]["category"] == "INCOMPLETE"
            assert (await session.approve())["type"] == "result_review"

    @pytest.mark.parametrize("limit", [{"max_iterations": 1}, {"token_budget": 60}])
    async def test_a_person_may_settle_for_less_where_no_plan_or_token_is_left(self, limit: dict[str, Any]) -> None:
        with model(converge=iterate("INCOMPLETE", "no farewell", "add one")) as wire:
            session = await play_at(wire, FakePlace())
            await session.begin(**limit)
            payload = await session.approve()
            assert payload["type"] == "result_review"
            assert payload["data"]["verdict"] == {"category": "INCOMPLETE", "reason": "no farewell", "fix": "add one"}
            assert "not judged complete: no farewell" in payload["prompt"]
            assert session.told.of("verdict")[-1]["done"] is False
            assert await session.accept() == {}
        state = await session.state()
        assert state["done"]
        assert state["converge_verdict"] == payload["data"]["verdict"]
        assert len(session.patterns.kept) == 1

    async def test_whoever_ends_it_over_what_was_left_open_did_not_accept_the_result(self) -> None:
        with model(converge=iterate("INCOMPLETE", "no farewell", "add one")) as wire:
            session = await play_at(wire, FakePlace())
            await session.begin(max_iterations=1)
            await session.approve()
            assert await session.answer({"type": "result_review", "accepted": False, "stop": True}) == {}
        assert ((await session.state())["stop_reason"] or "").startswith("The result was not accepted")

    async def test_what_was_left_open_is_planned_when_the_person_says_so(self) -> None:
        verdicts = [iterate("INCOMPLETE", "no farewell", "add one"), DONE]
        with model(converge=verdicts, patch=[*MADE, WRITTEN]) as wire:
            session = await play_at(wire, FakePlace())
            await session.begin(max_iterations=1)
            await session.approve()
            payload = await session.answer({"type": "result_review", "accepted": False})
            assert (payload["type"], payload["data"]["iteration"]) == ("plan_approval", 2)
            assert "CONVERGE VERDICT [INCOMPLETE]: no farewell" in wire.asked("plan")[1].text
            payload = await session.approve()
            assert payload["type"] == "result_review"
            assert payload["data"]["verdict"] is None
            assert payload["prompt"].startswith("Every test passed. Accept")


class TestDD021PassToThePowerOfK:
    async def test_every_case_runs_k_times_each_in_a_chat_of_its_own_and_all_must_pass(self) -> None:
        place = FakePlace()
        place.answers.extend(["hello", "hello", "hello", "hello", "bye", "hello"])
        cases = plan_of(case("a", "hello"), case("b", "hello"))
        with model(plan=cases, converge=DONE) as wire:
            session = await play_at(wire, place)
            await session.begin(test_trials=3)
            payload = await session.approve()
            assert "5 of 6 trials passed" in wire.asked("converge")[0].text
        assert payload["type"] == "plan_approval"
        assert "b, trial 2" in payload["data"]["verdict"]["reason"]
        assert len({chat for _, _, chat in place.runs}) == 6
        told = session.told.of("trial")
        assert [(one["case"], one["trial"], one["passed"]) for one in told] == [
            ("a", 1, True), ("a", 2, True), ("a", 3, True), ("b", 1, True), ("b", 2, False), ("b", 3, True)
        ]  # fmt: skip
        assert {one["of"] for one in told} == {6}


class TestDD025Events:
    async def test_tell_a_session_in_its_order(self) -> None:
        with model() as wire:
            session = await play_at(wire, FakePlace())
            await session.begin()
            await session.approve()
            await session.accept()
        told = [kind if kind != "phase" else data["phase"] for kind, data in session.told.events if kind != "token"]
        assert list(dict.fromkeys(told)) == [
            *("clarify", "usage", "discover", "check_credentials", "plan", "approve_plan", "patch", "tool_call"),
            *("tool_result", "test", "trial", "converge", "verdict", "review", "done"),
        ]


class TestDD029TokenBudget:
    async def test_tokens_of_every_call_are_added_up(self) -> None:
        with model() as wire:
            session = await play_at(wire, FakePlace())
            await session.begin()
            await session.approve()
            asked = len(wire.server.asked)
        state = await session.state()
        assert (state["total_input_tokens"], state["total_output_tokens"]) == (7 * asked, 3 * asked)
        assert session.told.of("usage")[-1] == {"input_tokens": 7 * asked, "output_tokens": 3 * asked}

    @pytest.mark.parametrize("calls_paid", [1, 2, 3, 4, 5])
    async def test_stops_as_soon_as_it_is_used_up_and_says_what_stands(self, calls_paid: int) -> None:
        place = FakePlace()
        with model(plan=plan_of(case("greets", "good day"))) as wire:
            session = await play_at(wire, place)
            if await session.begin(token_budget=10 * calls_paid):
                assert await session.approve() == {}
            assert len(wire.server.asked) == calls_paid
        state = await session.state()
        assert state["stop_code"] == "budget"
        assert not state.get("done")
        reason = state["stop_reason"] or ""
        assert f"{10 * calls_paid} tokens of {10 * calls_paid}" in reason
        assert "iteration 1 of 5" in reason
        assert reason.endswith("Nothing was written." if calls_paid < 5 else "rolling back undoes what was written.")
        assert len(place.written) == (calls_paid >= 5)

    async def test_what_is_done_when_it_runs_out_still_goes_to_the_person(self) -> None:
        with model() as wire:
            session = await play_at(wire, FakePlace())
            await session.begin(token_budget=60)
            assert (await session.approve())["type"] == "result_review"
            assert await session.accept() == {}
        assert (await session.state())["done"]


class TestDD033Clarification:
    ASKS = "SCORE: 8\n1. Which model?\n2. Does it remember?\n3. New or changed?\n4. A fourth?"

    async def test_questions_are_asked_before_anything_is_looked_at(self) -> None:
        with model(clarify=self.ASKS) as wire:
            session = await play_at(wire, FakePlace())
            payload = await session.begin()
            assert payload["type"] == "clarification"
            assert payload["data"] == {
                "questions": ["Which model?", "Does it remember?", "New or changed?"], "ambiguity": 8
            }  # fmt: skip
            assert wire.phases() == ["clarify"]
            payload = await session.answer({"type": "clarification", "text": "A small one, no memory, new"})
            assert payload["type"] == "plan_approval"
            assert "A small one, no memory, new" in wire.asked("discover")[0].text
            assert "A small one, no memory, new" in wire.asked("plan")[0].text

    @pytest.mark.parametrize("said", [CLEAR, "SCORE: 4\n1. Which model?", "no score at all"])
    async def test_a_clear_requirement_is_asked_nothing_about(self, said: str) -> None:
        with model(clarify=said) as wire:
            session = await play_at(wire, FakePlace())
            assert (await session.begin())["type"] == "plan_approval"
        assert (await session.state())["clarification"] is None

    async def test_is_left_out_where_that_was_wanted(self) -> None:
        with model(clarify=self.ASKS) as wire:
            session = await play_at(wire, FakePlace(), skip_clarification=True)
            assert (await session.begin())["type"] == "plan_approval"
            assert wire.asked("clarify") == []


class TestDD038Playbook:
    async def test_a_session_that_fails_twice_converges_on_the_third_with_the_playbooks_help(self) -> None:
        place = FakePlace()
        patch = [
            calls("make_flow", name="Greeter", answer="!401 Unauthorized"), WRITTEN,
            calls("set_answer", answer="good bye"), WRITTEN,
            calls("set_answer", answer="hello {text}"), WRITTEN,
        ]  # fmt: skip
        with model(patch=patch, converge=["DONE", iterate("LOGIC"), "DONE"]) as wire:
            session = await play_at(wire, place)
            await session.begin()
            payload = await session.approve(repairs_approved=True)
            first, second, third = wire.asked("plan")
            converged = wire.asked("converge")
        assert payload["type"] == "result_review"
        assert payload["data"]["iteration"] == 3
        assert "CONVERGE VERDICT" not in first.text
        assert "CONVERGE VERDICT [CREDENTIAL]" in second.text
        assert playbook("headgate", "CREDENTIAL") in second.text
        assert "CONVERGE VERDICT [LOGIC]" in third.text
        assert playbook("headgate", "LOGIC") in third.text
        assert playbook("headgate", "CREDENTIAL") not in third.text
        assert [message["type"] for message in second.messages] == ["user", "assistant", "user"]
        told = second.messages[-1]["data"]["content"]
        assert told.index("CONVERGE VERDICT") < told.index(playbook("headgate", "CREDENTIAL"))
        assert len(converged) == 3
        assert "+ answer: good bye" in third.text
        assert [answer for _, answer in place.written][-1] == "hello {text}"

    async def test_each_domain_has_its_own_words(self) -> None:
        with model(converge=iterate("CREDENTIAL"), plan=_plans()) as wire:
            session = await play_at(wire, FakePlace(), domain="flowise")
            await session.begin()
            await session.approve()
            assert "`data.inputs.credential`" in wire.asked("plan")[1].text

    async def test_a_session_that_cannot_says_so_when_its_iterations_are_used_up(self) -> None:
        place = FakePlace()
        patch = [*MADE, *[line for n in range(9) for line in (calls("set_answer", answer=f"no {n}"), WRITTEN)]]
        with model(plan=plan_of(case("greets", "good day")), patch=patch) as wire:
            session = await play_at(wire, place)
            await session.begin(max_iterations=3, repairs_approved=True)
            assert await session.approve() == {}
            assert len(wire.asked("converge")) == 3
        state = await session.state()
        assert state["stop_code"] == "iterations"
        assert not state.get("done")
        reason = state["stop_reason"] or ""
        assert reason.startswith("3 iterations were tried, the maximum. Last LOGIC: greets, trial 1")
        assert "3 writes of this session are kept" in reason


class TestRepairs:
    async def test_each_asks_for_approval_unless_the_person_gave_it_for_all(self) -> None:
        with model(plan=_plans()) as wire:
            session = await play_at(wire, FakePlace())
            await session.begin()
            assert (await session.approve())["data"]["iteration"] == 2
            assert len(wire.asked("patch")) == 2

    async def test_that_change_approved_tests_ask_whatever_was_approved(self) -> None:
        plans = [plan_of(case("a", "good day"), case("b", "hello")), plan_of(case("b", "hello"))]
        with model(plan=plans) as wire:
            session = await play_at(wire, FakePlace())
            assert (await session.begin())["data"]["repairs_approved"] is False
            payload = await session.approve(repairs_approved=True)
            assert payload["type"] == "plan_approval"
            assert payload["prompt"].startswith("This repair changes tests that you approved.")
            assert payload["data"]["repairs_approved"] is True
            assert payload["data"]["tests_changed"] is True
            assert (await session.approve())["type"] == "result_review"

    async def test_stand_beside_the_plan_as_the_person_had_approved_it(self) -> None:
        with model(plan=[plan_of(case("a", "good day")), plan_of(case("a", "hello"))]) as wire:
            session = await play_at(wire, FakePlace())
            assert (await session.begin())["data"]["before"] is None
            payload = await session.approve(cases=[case("a", "good morning")])
        assert payload["type"] == "plan_approval"
        (edited,) = payload["data"]["before"]["cases"]
        assert edited["expect"]["contains"] == ["good morning"]

    async def test_that_add_tests_go_on(self) -> None:
        first, second = case("a", "good day"), case("b", "hello")
        patch = [*MADE, calls("set_answer", answer="good day, hello"), WRITTEN]
        with model(plan=[plan_of(first), plan_of(second, first)], patch=patch) as wire:
            session = await play_at(wire, FakePlace())
            await session.begin()
            payload = await session.approve(repairs_approved=True)
        assert payload["type"] == "result_review"
        assert [one["name"] for one in payload["data"]["cases"]] == ["b", "a"]

    async def test_without_tests_that_can_be_read_keep_those_that_were_approved(self) -> None:
        patch = [*MADE, calls("set_answer", answer="anything"), WRITTEN]
        with model(plan=[_plans(), "# Repair without tests"], patch=patch) as wire:
            session = await play_at(wire, FakePlace())
            await session.begin(max_iterations=2, repairs_approved=True)
            assert await session.approve() == {}
        state = await session.state()
        assert state["stop_code"] == "iterations"
        assert [one["name"] for one in state["cases"]] == ["greets"]
        assert "*The model wrote no valid test cases: those of the previous plan are kept.*" in state["plan"]

    async def test_are_planned_by_a_model_that_sees_the_tests_as_the_person_edited_them(self) -> None:
        edited = [{"name": "mine", "text": "Bo", "expect": {"contains": ["good day"]}}]
        with model() as wire:
            session = await play_at(wire, FakePlace())
            await session.begin()
            await session.approve(cases=edited)
            assert f"```tests\n[\n{json.dumps(edited[0])}\n]\n```" in wire.asked("plan")[1].text

    async def test_an_approval_of_repairs_is_none_of_the_first_plan(self) -> None:
        with model() as wire:
            session = await play_at(wire, FakePlace())
            assert (await session.begin(repairs_approved=True))["type"] == "plan_approval"


class TestKeeping:
    async def test_cases_become_the_flows_test_set_where_that_is_wanted(self) -> None:
        with model() as wire:
            session = await play_at(wire, FakePlace())
            await session.begin()
            await session.approve()
            await session.accept(save_tests=True)
        assert [one.name for one in session.test_sets.kept["flow-1"]] == ["greets"]
        assert [requirement for requirement, _ in session.patterns.kept] == ["Greet people"]

    async def test_a_place_without_test_sets_says_so(self) -> None:
        with model() as wire:
            session = await play_at(wire, FakePlace(), test_sets=None)
            await session.begin()
            await session.approve()
            await session.accept(save_tests=True)
        state = await session.state()
        assert state["done"]
        assert "no test sets" in state["note"]

    async def test_what_cannot_be_kept_does_not_undo_the_acceptance(self) -> None:
        with model() as wire:
            session = await play_at(wire, FakePlace(), test_sets=FakeTestSets(failing=_down()))
            session.patterns.failing = _down()
            await session.begin()
            await session.approve()
            await session.accept(save_tests=True)
        state = await session.state()
        assert state["done"]
        assert state["pattern_id"] is None
        assert state["note"].startswith("The flow was not stored as a pattern: The library is down.")
        assert "The cases were not stored as the flow's test set: The library is down." in state["note"]

    async def test_a_flow_that_was_changed_after_its_review_is_no_pattern_and_that_is_said(self) -> None:
        place = FakePlace()
        with model() as wire:
            session = await play_at(wire, place)
            await session.begin()
            await session.approve()
            place.somebody_writes("flow-1", "theirs")
            await session.accept()
        state = await session.state()
        assert state["done"]
        assert session.patterns.kept == []
        assert "The flow was changed after its review: it was not stored as a pattern" in state["note"]


def _plans() -> str:
    return plan_of(case("greets", "good day"))


def _down() -> Unavailable:
    return Unavailable("The library is down.")
