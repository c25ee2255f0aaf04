"""Sessions in the background: begun, answered, followed, stopped, taken up by another process."""

import asyncio
from typing import Any
from unittest.mock import AsyncMock

import pytest

from headgate.agents.codev.errors import NotWaiting, SessionAtWork, SessionNotFound
from headgate.agents.codev.ports import ModelAnswer
from headgate.agents.codev.schemas import PlanAnswer, Resume, ReviewAnswer, SessionStart
from headgate.features.access.principal import LOCAL
from headgate.foundation.database import Database
from headgate.foundation.errors import Unavailable, UpstreamFailed
from headgate.foundation.settings import Settings
from tests.support.codev_place import FakePlace
from tests.support.codev_sessions import MAKES_HELLO, SETS_HELLO, calls, open_bench, scripted
from tests.support.patience import PATIENCE_SECONDS


@pytest.fixture
def place() -> FakePlace:
    return FakePlace(greeter="nothing")


class TestASession:
    async def test_comes_to_its_end_by_answers(self, settings: Settings, database: Database, place: FakePlace) -> None:
        async with open_bench(settings, database, place) as bench:
            plan = await bench.start(flow_id="greeter")
            assert (plan.status, plan.phase) == ("pending_interrupt", "approve_plan")
            assert plan.interrupt is not None
            assert plan.interrupt.type == "plan_approval"
            assert place.written == []
            review = await bench.answer(plan, approved=True)
            assert review.interrupt is not None
            assert review.interrupt.type == "result_review"
            assert place.written == [("greeter", "hello")]
            done = await bench.answer(review, accepted=True)
        assert (done.status, done.interrupt, done.stop_reason) == ("completed", None, "")
        assert done.total_input_tokens > 0
        assert done.state["trials"][0]["passed"]
        assert [write["state"] for write in done.state["writes"]] == ["done"]
        assert done.can_roll_back

    async def test_that_makes_a_flow_names_it(self, settings: Settings, database: Database, place: FakePlace) -> None:
        async with open_bench(settings, database, place, scripted(patch=MAKES_HELLO)) as bench:
            done = await bench.finished()
        assert (done.flow_id, done.flow_name, done.link) == ("flow-1", "Greeter", "/flows/flow-1")

    async def test_takes_an_answer_once(self, settings: Settings, database: Database, place: FakePlace) -> None:
        async with open_bench(settings, database, place) as bench:
            plan = await bench.start(flow_id="greeter")
            assert plan.interrupt is not None
            yes = Resume(
                interrupt_id=plan.interrupt.id,
                response=PlanAnswer(type="plan_approval", approved=True),
            )
            no = yes.model_copy(update={"response": yes.response.model_copy(update={"approved": False})})
            await asyncio.gather(*(bench.sessions.resume(LOCAL, plan.thread_id, yes) for _ in range(1)))
            await bench.sessions.resume(LOCAL, plan.thread_id, yes)
            with pytest.raises(NotWaiting):
                await bench.sessions.resume(LOCAL, plan.thread_id, no)
            review = await bench.rested(plan.thread_id)
            assert review.phase == "review"
            with pytest.raises(NotWaiting):
                await bench.sessions.resume(LOCAL, plan.thread_id, no)
        assert len(place.written) == 1

    async def test_refuses_an_answer_to_another_question(
        self, settings: Settings, database: Database, place: FakePlace
    ) -> None:
        async with open_bench(settings, database, place) as bench:
            plan = await bench.start(flow_id="greeter")
            with pytest.raises(NotWaiting, match="plan_approval"):
                await bench.sessions.resume(
                    LOCAL,
                    plan.thread_id,
                    Resume(response=ReviewAnswer(type="result_review", accepted=True)),
                )
            assert (await bench.sessions.get(LOCAL, plan.thread_id)).status == "pending_interrupt"

    async def test_that_fails_says_why_and_can_go_on(
        self, settings: Settings, database: Database, place: FakePlace
    ) -> None:
        model = scripted(patch=(*SETS_HELLO[:1], UpstreamFailed("The model is away.", remedy="Try later."), "Done."))
        async with open_bench(settings, database, place, model) as bench:
            failed = await bench.answer(await bench.start(flow_id="greeter"), approved=True)
            assert (failed.status, failed.stop_reason) == ("error", "The model is away. Try later.")
            await bench.sessions.retry(LOCAL, failed.thread_id)
            review = await bench.rested(failed.thread_id)
        assert review.phase == "review"
        assert place.written == [("greeter", "hello")]

    async def test_stops_a_call_of_the_model_at_once(
        self, settings: Settings, database: Database, place: FakePlace
    ) -> None:
        async with open_bench(settings, database, place) as bench:
            hung = asyncio.Event()

            async def hang(*_args: object, **_more: object) -> None:
                hung.set()
                await asyncio.sleep(3600)

            bench.model.reasoning = type("Hanging", (), {"model_id": "a/b", "complete": staticmethod(hang)})()
            begun = await bench.sessions.start(LOCAL, SessionStart(requirement="x", domain="memory"))
            async with asyncio.timeout(PATIENCE_SECONDS):
                await hung.wait()
                with pytest.raises(SessionAtWork):
                    await bench.sessions.delete(LOCAL, begun.thread_id)
                with pytest.raises(SessionAtWork):
                    await bench.sessions.rollback(LOCAL, begun.thread_id)
                stopped = await bench.sessions.stop(LOCAL, begun.thread_id)
            assert (stopped.status, stopped.stop_reason) == ("stopped", "Stopped by Local user.")
            assert not bench.works_on(begun.thread_id)
            await bench.sessions.delete(LOCAL, begun.thread_id)
            with pytest.raises(SessionNotFound):
                await bench.sessions.get(LOCAL, begun.thread_id)

    async def test_leaves_no_checkpoint_when_it_is_deleted(
        self, settings: Settings, database: Database, place: FakePlace
    ) -> None:
        async with open_bench(settings, database, place) as bench:
            plan = await bench.start(flow_id="greeter")
            assert await bench.runner.checkpoints.state(plan.thread_id)
            await bench.sessions.delete(LOCAL, plan.thread_id)
            assert await bench.runner.checkpoints.state(plan.thread_id) == {}

    async def test_stays_until_all_of_it_could_be_deleted(
        self, settings: Settings, database: Database, place: FakePlace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with open_bench(settings, database, place) as bench:
            plan = await bench.start(flow_id="greeter")
            forget = bench.runner.checkpoints.forget
            full = AsyncMock(side_effect=Unavailable("The disk is full."))
            monkeypatch.setattr(bench.runner.checkpoints, "forget", full)
            with pytest.raises(Unavailable):
                await bench.sessions.delete(LOCAL, plan.thread_id)
            monkeypatch.setattr(bench.runner.checkpoints, "forget", forget)
            await bench.sessions.delete(LOCAL, plan.thread_id)
            assert await bench.runner.checkpoints.state(plan.thread_id) == {}

    async def test_keeps_one_checkpoint_while_it_rests(
        self, settings: Settings, database: Database, place: FakePlace
    ) -> None:
        async with open_bench(settings, database, place) as bench:
            plan = await bench.start(flow_id="greeter")
            saver = await bench.runner.checkpoints.saver()
            kept = [one async for one in saver.alist({"configurable": {"thread_id": plan.thread_id}})]
            assert len(kept) == 1

    async def test_is_left_for_later_while_a_database_is_away(
        self, settings: Settings, database: Database, place: FakePlace
    ) -> None:
        async with open_bench(settings, database, place, retry_seconds=0.1) as bench:
            place.failing = None
            model = scripted(clarify=(Unavailable("The disk is away."), "SCORE: 1"), patch=SETS_HELLO)
            bench.model.reasoning = model
            plan = await bench.start(flow_id="greeter")
        assert plan.phase == "approve_plan"


class TestAnotherProcess:
    async def test_goes_on_where_the_first_stopped(
        self, settings: Settings, database: Database, place: FakePlace
    ) -> None:
        async with open_bench(settings, database, place) as bench:
            plan = await bench.start(flow_id="greeter")
        async with open_bench(settings, database, place) as other:
            review = await other.answer(plan, approved=True)
            assert review.phase == "review"

    async def test_takes_up_at_once_what_a_closing_one_let_go(
        self, settings: Settings, database: Database, place: FakePlace
    ) -> None:
        async with open_bench(settings, database, place) as bench:
            hung = asyncio.Event()

            async def hang(*_args: object, **_more: object) -> None:
                hung.set()
                await asyncio.sleep(3600)

            bench.model.reasoning = type("Hanging", (), {"model_id": "a/b", "complete": staticmethod(hang)})()
            begun = await bench.sessions.start(LOCAL, SessionStart(requirement="x", domain="memory"))
            await hung.wait()
        async with open_bench(settings, database, place) as other:
            assert (await other.rested(begun.thread_id)).phase == "approve_plan"

    async def test_never_works_on_what_another_has(
        self, settings: Settings, database: Database, place: FakePlace
    ) -> None:
        async with (
            open_bench(settings, database, place) as bench,
            open_bench(settings, database, place, scans=False) as other,
        ):
            hung, go_on = asyncio.Event(), asyncio.Event()
            own = scripted(patch=SETS_HELLO)

            class Waiting:
                model_id = "a/b"

                async def complete(self, *args: Any, **more: Any) -> ModelAnswer:
                    hung.set()
                    await go_on.wait()
                    return await own.complete(*args, **more)

            bench.model.reasoning = Waiting()
            begun = await bench.sessions.start(LOCAL, SessionStart(requirement="x", domain="memory"))
            await hung.wait()
            await other.runner.jobs.recover()
            other.runner.begin(begun.thread_id)
            await asyncio.sleep(0.1)
            assert not other.works_on(begun.thread_id)
            go_on.set()
            assert (await bench.rested(begun.thread_id)).phase == "approve_plan"

    async def test_is_heard_by_followers_of_any(self, settings: Settings, database: Database, place: FakePlace) -> None:
        async with open_bench(settings, database, place) as bench, open_bench(settings, database, place) as other:
            begun = await bench.sessions.start(LOCAL, SessionStart(requirement="x", domain="memory", flow_id="greeter"))
            async with asyncio.timeout(PATIENCE_SECONDS):
                heard = [one async for one in other.sessions.follow(LOCAL, begun.thread_id)]
        numbers = [number for number, kind, _ in heard if kind != "token"]
        assert numbers == list(range(1, len(numbers) + 1))
        assert heard[-1][1] == "interrupt"


class TestTwoSessions:
    async def test_on_one_flow_see_each_other(self, settings: Settings, database: Database, place: FakePlace) -> None:
        """An approval holds for the flow it was given for: the second is asked again, and overwrites nothing."""
        async with (
            open_bench(settings, database, place, scans=False) as bench,
            open_bench(settings, database, place, scans=False) as other,
        ):
            theirs = scripted(patch=(calls("set_answer", answer="hello too"), "It is written."))
            other.model.reasoning = theirs
            first, second = await bench.start(flow_id="greeter"), await other.start(flow_id="greeter")
            assert (await bench.answer(first, approved=True)).phase == "review"
            again = await other.answer(second, approved=True)
        assert again.interrupt is not None
        assert again.interrupt.type == "plan_approval"
        assert "changed by another user" in str(again.state["conflict"]["message"])
        assert place.written == [("greeter", "hello")]


class TestFollowing:
    async def test_tells_words_live_and_the_rest_again(
        self, settings: Settings, database: Database, place: FakePlace
    ) -> None:
        async with open_bench(settings, database, place) as bench:
            begun = await bench.sessions.start(LOCAL, SessionStart(requirement="x", domain="memory", flow_id="greeter"))
            async with asyncio.timeout(PATIENCE_SECONDS):
                live = [one async for one in bench.sessions.follow(LOCAL, begun.thread_id)]
                again = [one async for one in bench.sessions.follow(LOCAL, begun.thread_id, after=2)]
        kinds = [kind for _, kind, _ in live]
        assert "token" in kinds
        assert kinds[-1] == "interrupt"
        assert [one for one in live if one[1] != "token" and one[0] > 2] == again
        assert kinds.count("interrupt") == 1

    async def test_of_one_that_rests_ends_at_once(
        self, settings: Settings, database: Database, place: FakePlace
    ) -> None:
        async with open_bench(settings, database, place) as bench:
            plan = await bench.start(flow_id="greeter")
            async with asyncio.timeout(PATIENCE_SECONDS):
                assert [one async for one in bench.sessions.follow(LOCAL, plan.thread_id, plan.last_event)] == []


class TestRoom:
    async def test_for_so_many_is_kept(self, settings: Settings, database: Database, place: FakePlace) -> None:
        one = settings.model_copy(update={"codev": settings.codev.model_copy(update={"max_sessions": 1})})
        async with open_bench(one, database, place) as bench:
            begun = [
                await bench.sessions.start(LOCAL, SessionStart(requirement="x", domain="memory", flow_id="greeter"))
                for _ in range(3)
            ]
            rested = [await bench.rested(one.thread_id) for one in begun]
        assert {one.phase for one in rested} == {"approve_plan"}
