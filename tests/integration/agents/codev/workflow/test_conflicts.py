"""Somebody else changes the flow while a session works on it."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from headgate.agents.codev.workflow.nodes.trials import MOST_UNSURE
from headgate.foundation.errors import NotFound
from tests.support.codev_place import FakePlace
from tests.support.codev_play import Play, play
from tests.support.codev_script import FOUND, WRITTEN, calls, case, plan_of, scripted

SET = calls("set_answer", answer="hello")


def session_on(place: FakePlace, patch: Iterable[Any] = (SET, WRITTEN, SET, WRITTEN), **changes: Any) -> Play:
    return play(scripted(patch=list(patch)), place, **changes)


def after_each_run(place: FakePlace, others: Callable[[], object]) -> None:
    """What others do as soon as a trial was run."""
    run_case = place.run_case

    async def run_and_change(*given: Any, **named: Any) -> Any:
        found = await run_case(*given, **named)
        others()
        return found

    place.run_case = run_and_change  # type: ignore[method-assign]


def as_it_is_judged(place: FakePlace, others: Callable[[], object]) -> None:
    """What others do when the flow was tested, and is described to whom judges it."""
    compare = place.compare

    def compare_and_change(before: Any, after: Any) -> list[str]:
        found = compare(before, after)
        if place.runs:
            others()
        return found

    place.compare = compare_and_change  # type: ignore[method-assign]


def there_and_back(place: FakePlace) -> None:
    """Somebody changes the flow, and takes it back."""
    place.somebody_writes("greeter", "theirs")
    place.somebody_writes("greeter", "hello")


class TestChangeByOthers:
    async def test_between_approval_and_write_nothing_is_written_and_approval_is_asked_for_again(self) -> None:
        place = FakePlace(greeter="bye")
        session = session_on(place)
        await session.begin(flow_id="greeter", repairs_approved=True)
        place.somebody_writes("greeter", "theirs")
        payload = await session.approve()
        assert payload["type"] == "plan_approval"
        assert payload["data"]["iteration"] == 2
        assert "changed by another user" in payload["data"]["conflict"]["message"]
        assert place.written == []
        assert place.flows["greeter"].definition == {"answer": "theirs"}
        assert len(session.told.of("conflict")) == 1

    async def test_in_the_middle_of_writing_ends_the_iteration_before_the_next_call(self) -> None:
        place = FakePlace(greeter="bye")
        place.meanwhile.append(lambda: place.somebody_writes("greeter", "theirs"))
        session = session_on(place)
        await session.begin(flow_id="greeter")
        payload = await session.approve()
        assert payload["type"] == "plan_approval"
        assert place.written == []
        assert place.runs == []
        state = await session.state()
        assert state["approved"] is False
        assert state.get("exchange") == []

    async def test_is_shown_to_the_model_and_worked_on_from_there(self) -> None:
        place = FakePlace(greeter="bye")
        script = scripted(patch=[SET, WRITTEN])
        session = play(script, place)
        await session.begin(flow_id="greeter")
        place.somebody_writes("greeter", "theirs")
        await session.approve()
        discovered, planned = [request for request in script.asked if request.phase in {"discover", "plan"}][-2:]
        assert "Somebody else changed the flow" in discovered.text
        assert "+ answer: theirs" in discovered.text
        assert "Somebody else changed the flow" in planned.text
        payload = await session.approve()
        assert payload["type"] == "result_review"
        assert place.flows["greeter"].definition == {"answer": "hello"}
        assert (await session.state())["conflict"] is None

    async def test_between_two_trials_is_seen_before_the_next_though_it_is_taken_back_later(self) -> None:
        place = FakePlace(greeter="bye")
        script = scripted(patch=[SET, WRITTEN])
        session = play(script, place)
        await session.begin(flow_id="greeter", test_trials=3)
        after_each_run(place, lambda: place.somebody_writes("greeter", "theirs" if len(place.runs) == 1 else "hello"))
        payload = await session.approve()
        assert payload["type"] == "plan_approval"
        assert "changed by another user while it was tested" in payload["data"]["conflict"]["message"]
        assert len(place.runs) == 1
        assert "converge" not in script.phases()

    async def test_that_is_taken_back_within_a_trial_lets_it_run_again(self) -> None:
        place = FakePlace(greeter="bye")
        session = session_on(place)
        await session.begin(flow_id="greeter", test_trials=2)
        after_each_run(place, lambda: there_and_back(place) if len(place.runs) <= 2 else None)
        payload = await session.approve()
        assert payload["type"] == "result_review"
        assert [trial["trial"] for trial in payload["data"]["trials"]] == [1, 2]
        assert len(place.runs) == 4
        assert len(session.told.of("trial")) == 2
        assert len({chat for _, _, chat in place.runs}) == 4

    async def test_that_is_taken_back_within_trials_again_and_again_is_a_conflict(self) -> None:
        place = FakePlace(greeter="bye")
        script = scripted(patch=[SET, WRITTEN])
        session = play(script, place)
        await session.begin(flow_id="greeter")
        after_each_run(place, lambda: there_and_back(place))
        payload = await session.approve()
        assert payload["type"] == "plan_approval"
        assert "was repeatedly saved by another user" in payload["data"]["conflict"]["message"]
        assert len(place.runs) == MOST_UNSURE
        assert "converge" not in script.phases()
        assert (await session.state())["unsure"] == 0

    @pytest.mark.parametrize("when", ["while it was tested", "after it was tested"])
    async def test_that_deletes_the_flow_is_planned_for_and_is_no_error(self, when: str) -> None:
        place = FakePlace(greeter="bye")
        session = session_on(place, [SET, WRITTEN, calls("make_flow", name="New", answer="hello"), WRITTEN])
        await session.begin(flow_id="greeter")
        happens = after_each_run if when.startswith("while") else as_it_is_judged
        happens(place, lambda: place.flows.pop("greeter", None))
        payload = await session.approve()
        assert payload["type"] == "plan_approval"
        assert payload["data"]["conflict"]["message"] == f"There is no flow greeter. It was deleted {when}."
        assert (await session.approve())["type"] == "result_review"
        assert (await session.state())["flow_id"] == "flow-1"

    async def test_after_the_tests_is_not_given_for_acceptance(self) -> None:
        place = FakePlace(greeter="bye")
        script = scripted(patch=[SET, WRITTEN], plan=plan_of(case("greets", "hello")))
        session = play(script, place)
        await session.begin(flow_id="greeter")
        as_it_is_judged(place, lambda: place.somebody_writes("greeter", "theirs"))
        payload = await session.approve()
        assert payload["type"] == "plan_approval"
        assert "after it was tested" in payload["data"]["conflict"]["message"]

    async def test_again_and_again_ends_with_the_iterations(self) -> None:
        place = FakePlace(greeter="bye")
        session = session_on(place)
        await session.begin(flow_id="greeter", max_iterations=2)
        place.somebody_writes("greeter", "theirs")
        assert (await session.approve())["type"] == "plan_approval"
        place.somebody_writes("greeter", "theirs again")
        assert await session.approve() == {}
        state = await session.state()
        assert state["stop_code"] == "iterations"
        assert "changed by another user" in (state["stop_reason"] or "")

    async def test_a_second_session_on_the_same_flow_sees_the_firsts_writes(self) -> None:
        place = FakePlace(greeter="bye")
        first, second = session_on(place), session_on(place)
        await first.begin(flow_id="greeter")
        await second.begin(flow_id="greeter")
        assert (await first.approve())["type"] == "result_review"
        payload = await second.approve()
        assert payload["type"] == "plan_approval"
        assert payload["data"]["conflict"] is not None
        assert len(place.written) == 1

    async def test_a_flow_that_is_gone_is_planned_to_be_made_anew(self) -> None:
        place = FakePlace(greeter="bye")
        session = session_on(place, [calls("make_flow", name="New", answer="hello"), WRITTEN])
        await session.begin(flow_id="greeter")
        del place.flows["greeter"]
        assert (await session.approve())["type"] == "plan_approval"
        assert place.written == []
        assert (await session.approve())["type"] == "result_review"
        assert (await session.state())["flow_id"] == "flow-1"

    async def test_a_flow_that_never_was_is_an_error(self) -> None:
        with pytest.raises(NotFound):
            await session_on(FakePlace()).begin(flow_id="nothing")


class TestApprovalOfAConflict:
    async def test_is_not_covered_by_an_approval_of_repairs(self) -> None:
        place = FakePlace(greeter="bye")
        script = scripted(
            discover=FOUND,
            plan=plan_of(case("greets", "good day")),
            patch=[SET, WRITTEN, calls("set_answer", answer="hi"), WRITTEN],
            converge="DONE",
        )
        session = play(script, place)
        await session.begin(flow_id="greeter", max_iterations=9)
        place.meanwhile.extend([lambda: None, lambda: place.somebody_writes("greeter", "theirs")])
        payload = await session.approve(repairs_approved=True)
        assert payload["type"] == "plan_approval"
        assert payload["data"]["conflict"] is not None
        assert [answer for _, answer in place.written] == ["hello"]
