"""Notices to a web address: signed, tried again, sent by whichever process claims them."""

import asyncio
import base64
import hashlib
import hmac
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import select, update

from headgate.agents.codev.sessions.repository import NOTICES
from headgate.agents.codev.tables import NoticeRow, SessionRow
from headgate.features.access.principal import LOCAL
from headgate.foundation.database import Database
from headgate.foundation.errors import DatabaseUnavailable, Forbidden, UpstreamFailed
from headgate.foundation.settings import Settings
from tests.support.codev_place import FakePlace
from tests.support.codev_sessions import Bench, open_bench
from tests.support.patience import PATIENCE_SECONDS

URL = "https://hooks.example/in?token=of-the-receiver"


@pytest.fixture
def place() -> FakePlace:
    return FakePlace(greeter="nothing")


async def told(bench: Bench, session_id: str) -> dict[str, object]:
    """What the session tells of its notice."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            found = [one async for one in bench.sessions.follow(LOCAL, session_id)]
            for _, kind, data in found:
                if kind == "webhook":
                    return dict(data)
            await asyncio.sleep(0.02)


async def notices_of(bench: Bench, session_id: str) -> list[dict[str, object]]:
    """What the session told of its notices so far."""
    return [dict(data) async for _, kind, data in bench.sessions.follow(LOCAL, session_id) if kind == "webhook"]


async def until_paused(database: Database) -> None:
    """Return when a notice waits for its next attempt."""
    query = select(NoticeRow).where(NoticeRow.attempts == 1, NoticeRow.worker_id.is_(None))
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            async with database.reading() as session:
                if (await session.execute(query)).scalars().all():
                    return
            await asyncio.sleep(0.02)


class TestANotice:
    async def test_tells_what_is_waited_for_and_where(
        self, settings: Settings, database: Database, place: FakePlace
    ) -> None:
        async def secret_of(_session: SessionRow, name: str) -> SecretStr | None:
            assert name == "WEBHOOK_SECRET"
            return SecretStr("of us two")

        async with open_bench(settings, database, place, secret_of=secret_of) as bench:
            plan = await bench.start(flow_id="greeter", webhook_url=URL)
            assert await told(bench, plan.thread_id) == {"delivered": True, "attempts": 1, "message": ""}
        ((url, headers, body),) = bench.posts.sent
        assert url == URL
        (sent,) = bench.posts.bodies
        assert plan.interrupt is not None
        assert sent["interrupt"]["id"] == plan.interrupt.id
        assert sent["thread_id"] == plan.thread_id
        assert sent["link"] == f"https://studio.example/develop/{plan.thread_id}"
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        digest = base64.b64encode(hmac.new(b"of us two", signed, hashlib.sha256).digest()).decode()
        assert headers["webhook-signature"] == f"v1,{digest}"

    async def test_is_tried_again_while_the_receiver_is_away(
        self, settings: Settings, database: Database, place: FakePlace
    ) -> None:
        async with open_bench(settings, database, place) as bench:
            bench.posts.answers = [503, UpstreamFailed("No answer."), 204]
            plan = await bench.start(flow_id="greeter", webhook_url=URL)
            assert await told(bench, plan.thread_id) == {"delivered": True, "attempts": 3, "message": ""}

    @pytest.mark.parametrize("answers", [[204], [503, 204]])
    async def test_is_not_sent_again_where_its_outcome_cannot_be_stored_for_a_moment(
        self,
        settings: Settings,
        database: Database,
        place: FakePlace,
        monkeypatch: pytest.MonkeyPatch,
        answers: list[int],
    ) -> None:
        failures = iter(range(2))

        def shaky(write: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
            async def written(*args: Any, **values: Any) -> bool:
                if next(failures, None) is not None:
                    raise DatabaseUnavailable("The database is locked by another process.")
                return await write(*args, **values)

            return written

        for name in ("finish", "release"):
            monkeypatch.setattr(NOTICES, name, shaky(getattr(NOTICES, name)))
        async with open_bench(settings, database, place) as bench:
            bench.posts.answers = [*answers]
            plan = await bench.start(flow_id="greeter", webhook_url=URL)
            assert await told(bench, plan.thread_id) == {"delivered": True, "attempts": len(answers), "message": ""}
        assert next(failures, None) is None
        assert len(bench.posts.sent) == len(answers)

    @pytest.mark.parametrize("answer", [410, Forbidden("The address is private.")])
    async def test_is_given_up_where_trying_again_is_no_use(
        self, settings: Settings, database: Database, place: FakePlace, answer: int | Forbidden
    ) -> None:
        async with open_bench(settings, database, place) as bench:
            bench.posts.answers = [answer]
            plan = await bench.start(flow_id="greeter", webhook_url=URL)
            found = await told(bench, plan.thread_id)
        assert (found["delivered"], found["attempts"]) == (False, 1)
        assert plan.status == "pending_interrupt"

    async def test_keeps_nobody_from_answering(self, settings: Settings, database: Database, place: FakePlace) -> None:
        async with open_bench(settings, database, place) as bench:
            bench.posts.answers = [500] * 20
            done = await bench.finished(flow_id="greeter", webhook_url=URL)
        assert done.status == "completed"

    async def test_that_a_killed_process_did_not_send_is_sent_by_the_next(
        self, settings: Settings, database: Database, place: FakePlace
    ) -> None:
        async with open_bench(settings, database, place) as killed:
            asked = killed.posts.hang()
            plan = await killed.start(flow_id="greeter", webhook_url=URL)
            async with asyncio.timeout(PATIENCE_SECONDS):
                await asked.wait()
            await killed.die()
            async with open_bench(settings, database, place) as other:
                await other.runner.jobs.recover()
                assert await told(other, plan.thread_id) == {"delivered": True, "attempts": 2, "message": ""}
            assert len(other.posts.sent) == 1
        async with database.reading() as session:
            (row,) = (await session.execute(select(NoticeRow))).scalars()
        assert (row.due_at, row.worker_id) == (None, None)

    async def test_is_not_sent_again_after_the_answer(
        self, settings: Settings, database: Database, place: FakePlace
    ) -> None:
        async with open_bench(settings, database, place, pauses=[3600]) as bench:
            bench.posts.answers = [503]
            plan = await bench.start(flow_id="greeter", webhook_url=URL)
            await until_paused(database)
            review = await bench.answer(plan, approved=True)  # whose own notice is sent meanwhile
            assert await told(bench, plan.thread_id) == {"delivered": True, "attempts": 1, "message": ""}
            async with database.writing() as session:  # the pause is over
                await session.execute(update(NoticeRow).where(NoticeRow.due_at.is_not(None)).values(due_at=0))
            async with asyncio.timeout(PATIENCE_SECONDS):
                while len(await notices_of(bench, plan.thread_id)) < 2:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
            assert review.interrupt is not None
            assert [sent["interrupt"]["type"] for sent in bench.posts.bodies] == ["plan_approval", "result_review"]
            _, second = await notices_of(bench, plan.thread_id)
        assert (second["delivered"], second["attempts"]) == (False, 1)
        assert "The session no longer waits for it; the receiver was not notified" in str(second["message"])

    async def test_under_way_keeps_nobody_from_stopping_and_deleting(
        self, settings: Settings, database: Database, place: FakePlace
    ) -> None:
        async with open_bench(settings, database, place) as bench:
            asked = bench.posts.hang()
            plan = await bench.start(flow_id="greeter", webhook_url=URL)
            async with asyncio.timeout(PATIENCE_SECONDS):
                await asked.wait()
            await bench.sessions.stop(LOCAL, plan.thread_id)
            await bench.sessions.delete(LOCAL, plan.thread_id)

    async def test_is_none_where_nobody_asked_for_one(
        self, settings: Settings, database: Database, place: FakePlace
    ) -> None:
        async with open_bench(settings, database, place) as bench:
            await bench.start(flow_id="greeter")
            async with database.reading() as session:
                assert (await session.execute(select(NoticeRow))).scalars().all() == []

    async def test_to_an_address_that_may_not_be_reached_begins_no_session(
        self, settings: Settings, database: Database, place: FakePlace
    ) -> None:
        async with open_bench(settings, database, place) as bench:
            bench.posts.refused = Forbidden("The address is private.")
            with pytest.raises(Forbidden):
                await bench.start(webhook_url="http://169.254.169.254/")
            assert (await bench.sessions.list(LOCAL)).items == []
