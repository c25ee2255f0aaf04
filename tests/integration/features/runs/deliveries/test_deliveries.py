"""Deliveries from the step's transaction to the receiver, on both databases and a real wire."""

import asyncio
import hashlib
import json
from typing import Any

import pytest
from sqlalchemy import select, update
from standardwebhooks.webhooks import Webhook

from headgate.features.access.principal import LOCAL
from headgate.features.files import service as files
from headgate.features.files.local_storage import LocalStorage
from headgate.features.runs.deliveries import repository, service
from headgate.features.runs.deliveries.tables import webhook_deliveries
from headgate.features.runs.errors import NotRedeliverable, RunNotFound
from headgate.features.runs.tables import flow_step_results
from headgate.features.runs.transitions import clock
from headgate.foundation.errors import DatabaseUnavailable
from headgate.foundation.ids import new_id
from headgate.foundation.settings import Settings
from headgate.graph.secret_reference import SecretReference
from tests.integration.features.runs.deliveries.conftest import Desk, MakeDesk, delivering
from tests.support.rows import step_rows
from tests.support.tenants import add_tenant
from tests.support.web_server import Received, answer, redirect

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


async def hang_up(_request: Received, writer: asyncio.StreamWriter) -> None:
    writer.close()


class TestDelivery:
    async def test_posts_the_output_once_with_the_key_of_run_and_step(self, desk: Desk) -> None:
        desk.server.on("/in", answer(204))
        run_id = await desk.run(delivering(desk.server.url("/in")), "räv")
        (request,) = desk.server.requests
        key = hashlib.sha256(f"{run_id}send".encode()).hexdigest()
        assert (request.method, request.body) == ("POST", "räv".encode())
        assert request.headers["content-type"] == "text/plain; charset=utf-8"
        assert request.headers["idempotency-key"] == request.headers["webhook-id"] == key
        assert "webhook-signature" not in request.headers
        (made,) = await desk.deliveries(run_id)
        assert (made.status, made.webhook_delivered, made.last_status, made.idempotency_key) == (
            "delivered", True, 204, key,
        )  # fmt: skip
        assert [one.status_code for one in made.attempts] == [204]

    async def test_is_not_sent_again_where_the_outcome_cannot_be_stored_for_a_moment(
        self, desk: Desk, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        finish, failures = repository.QUEUE.finish, iter(range(2))

        async def shaky(*args: Any, **values: Any) -> bool:
            if next(failures, None) is not None:
                raise DatabaseUnavailable("The database is locked by another process.")
            return await finish(*args, **values)

        monkeypatch.setattr(repository.QUEUE, "finish", shaky)
        desk.server.on("/in", answer(204))
        run_id = await desk.run(delivering(desk.server.url("/in")))
        (made,) = await desk.deliveries(run_id)
        assert next(failures, None) is None
        assert (made.status, len(made.attempts), len(desk.server.requests)) == ("delivered", 1, 1)

    async def test_is_signed_as_the_standard_says(self, desk: Desk) -> None:
        desk.secrets.values["WEBHOOK_SECRET"] = SECRET
        desk.server.on("/in", answer(200))
        await desk.run(delivering(desk.server.url("/in"), body='{"said": "{{send.output}}"}'), 'a "quoted" word')
        (request,) = desk.server.requests
        assert Webhook(SECRET).verify(request.body, request.headers) == {"said": 'a "quoted" word'}
        with pytest.raises(Exception, match="signature"):
            Webhook(SECRET).verify(request.body + b" ", request.headers)

    async def test_sends_data_as_json_and_files_as_they_are(self, desk: Desk) -> None:
        desk.server.on("/in", answer(200))
        await desk.run(delivering(desk.server.url("/in"), type_="Keep"), "content")
        await desk.run(delivering(desk.server.url("/in"), output_type="json"), '{"a": 1}')
        kept, text = desk.server.requests
        assert (kept.body, kept.headers["content-type"]) == (b"content", "text/plain")
        assert (json.loads(text.body), text.headers["content-type"]) == ({"a": 1}, "application/json")

    async def test_sends_no_file_of_another_space_whatever_id_a_step_wrote(
        self, desk: Desk, settings: Settings
    ) -> None:
        desk.server.on("/in", answer(200))
        run_id = await desk.run(delivering(desk.server.url("/in"), type_="Keep"), "content")
        secret = await files.store_artifact(
            desk.database,
            LocalStorage(settings.data_dir / "files"),
            tenant_id=LOCAL.tenant_id,
            space_id=new_id(),
            flow_id=new_id(),
            run_id=new_id(),
            step_id="keep",
            name="secret.txt",
            content=b"the other room's secret",
        )
        async with desk.database.writing() as session:
            payload = dict((await step_rows(desk.database, run_id))["send"].output_payload)
            forged = json.loads(json.dumps(payload).replace(payload["file_ids"][0], secret.id))
            wanted = flow_step_results.c.flow_run_id == run_id, flow_step_results.c.step_id == "send"
            await session.execute(update(flow_step_results).where(*wanted).values(output_payload=forged))
        (made,) = await desk.deliveries(run_id)
        async with desk.database.writing() as session:
            await service.redeliver(session, LOCAL, run_id, made.id)
        desk.delivery_sender.send_soon(made.id)
        await desk.delivery_sender.settle()
        (again,) = await desk.deliveries(run_id)
        assert (again.status, again.webhook_error and again.webhook_error.code) == ("failed", "file_not_found")
        assert [request.body for request in desk.server.requests] == [b"content"]

    async def test_puts_references_and_variables_into_address_and_headers(self, desk: Desk) -> None:
        desk.secrets.values["HOOK_KEY"] = "s3cret"
        desk.server.on("/in/hello?by=hello", answer(200))
        await desk.run(
            delivering(
                desk.server.url("/in/{{start.output}}?by={{send.output}}"),
                headers={
                    "Authorization": SecretReference("HOOK_KEY", "Bearer"),
                    "X-Said": "{{start.output}}",
                    "X-Plain": "as it is",
                },
            )
        )
        (request,) = desk.server.requests
        assert request.headers["authorization"] == "Bearer s3cret"
        assert (request.headers["x-said"], request.headers["x-plain"]) == ("hello", "as it is")

    async def test_takes_no_variable_that_a_step_names(self, desk: Desk) -> None:
        desk.secrets.values["HOOK_KEY"] = "s3cret"
        desk.server.on("/in", answer(200))
        await desk.run(delivering(desk.server.url("/in"), headers={"X-Said": "{{start.output}}"}), "HOOK_KEY")
        assert desk.server.requests[0].headers["x-said"] == "HOOK_KEY"

    async def test_keeps_address_and_headers_sealed(self, desk: Desk) -> None:
        desk.secrets.values["HOOK_KEY"] = "s3cret"
        desk.server.on("/t0ken?key=abc", answer(200))
        flow = delivering(desk.server.url("/t0ken?key=abc"), headers={"X-Key": SecretReference("HOOK_KEY")})
        run_id = await desk.run(flow)
        async with desk.database.reading() as session:
            row = (await session.execute(select(webhook_deliveries))).one()
        assert row.url_shown == f"{desk.server.origin}/..."
        shown = str(row._mapping) + str(await desk.deliveries(run_id))
        assert not any(secret in shown for secret in ("t0ken", "s3cret", "HOOK_KEY"))

    async def test_leaves_result_and_run_alone_when_it_fails(self, desk: Desk) -> None:
        desk.server.on("/in", answer(500))
        run_id = await desk.run(delivering(desk.server.url("/in"), after=True))
        assert await desk.status(run_id) == "completed"
        stored = await desk.engine.store.load(run_id)
        assert stored is not None
        assert {step.status for step in stored.steps.values()} == {"completed"}
        assert {step.attempts for step in stored.steps.values()} == {1}
        (made,) = await desk.deliveries(run_id)
        assert (made.status, made.webhook_delivered) == ("pending", False)
        assert made.webhook_error is not None
        assert made.webhook_error.code == "receiver_failed"
        assert made.next_attempt_at is not None

    async def test_tries_after_one_two_and_four_seconds_with_the_same_key(self, desk: Desk) -> None:
        desk.server.on("/in", answer(503), hang_up, answer(429), answer(200))
        run_id = await desk.run(delivering(desk.server.url("/in")))
        assert all(0.8 * wanted <= pause <= 1.2 * wanted for pause, wanted in zip(desk.slept, (1, 2, 4), strict=True))
        assert len({request.headers["idempotency-key"] for request in desk.server.requests}) == 1
        (made,) = await desk.deliveries(run_id)
        assert made.status == "delivered"
        assert made.webhook_error is None
        assert [one.status_code for one in made.attempts] == [503, None, 429, 200]
        assert [one.error.code if one.error else None for one in made.attempts] == [
            "receiver_failed", "connection_dropped", "receiver_failed", None,
        ]  # fmt: skip

    @pytest.mark.parametrize("status", [400, 401, 404, 410])
    async def test_fails_at_once_when_the_receiver_does_not_want_it(self, desk: Desk, status: int) -> None:
        desk.server.on("/in", answer(status))
        run_id = await desk.run(delivering(desk.server.url("/in")))
        (made,) = await desk.deliveries(run_id)
        assert (made.status, len(made.attempts), made.next_attempt_at) == ("failed", 1, None)

    async def test_follows_no_redirect(self, desk: Desk) -> None:
        desk.server.on("/in", redirect("/else"))
        desk.server.on("/else", answer(200))
        run_id = await desk.run(delivering(desk.server.url("/in")))
        assert {request.path for request in desk.server.requests} == {"/in"}
        assert (await desk.deliveries(run_id))[0].status == "pending"

    @pytest.mark.parametrize(
        ("url", "code"),
        [
            ("http://127.0.0.1:1/", "address_refused"),
            ("ftp://example.org/", "bad_url"),
            ("{{start.output}}", "bad_url"),
        ],
    )
    async def test_reaches_no_refused_address(self, make_desk: MakeDesk, url: str, code: str) -> None:
        desk = await make_desk(open_to="")
        run_id = await desk.run(delivering(url))
        (made,) = await desk.deliveries(run_id)
        assert (made.status, len(made.attempts)) == ("failed", 1)
        assert made.webhook_error is not None
        assert made.webhook_error.code == code
        assert await desk.status(run_id) == "completed"

    async def test_gives_up_after_its_last_round(self, desk: Desk) -> None:
        desk.server.on("/in", answer(500))
        run_id = await desk.run(delivering(desk.server.url("/in")))
        waits = []
        while (made := (await desk.deliveries(run_id))[0]).status == "pending":
            assert made.next_attempt_at is not None
            waits.append((made.next_attempt_at - made.attempts[-1].started_at).total_seconds())
            await make_due(desk)
            await desk.deliver_due()
        assert made.status == "failed"
        assert len(made.attempts) == 20
        assert all(
            0.8 * wanted <= wait <= 1.2 * wanted + 5 for wait, wanted in zip(waits, (60, 300, 1800, 7200), strict=True)
        )
        assert (made.next_attempt_at, len(desk.server.requests)) == (None, 20)

    async def test_is_in_the_event_log_of_its_run(self, desk: Desk) -> None:
        desk.server.on("/in", answer(503), answer(200))
        run_id = await desk.run(delivering(desk.server.url("/in")))
        page = await desk.engine.store.events_after(run_id, LOCAL.tenant_id, 0, 100)
        assert page is not None
        assert [event.seq for event in page.events] == list(range(1, page.last + 1))
        events = [event for event in page.events if event.kind.startswith("delivery_")]
        kinds = ["delivery_started", "delivery_failed", "delivery_started", "delivery_completed"]
        assert [event.kind for event in events] == kinds
        assert (events[-1].step_id, events[-1].attempt, events[-1].data["status"]) == ("send", 2, 200)


async def make_due(desk: Desk) -> None:
    async with desk.database.writing() as session:
        await session.execute(update(webhook_deliveries).values(due_at=clock()))


class TestRecovery:
    async def test_a_dead_workers_attempt_is_taken_up_with_the_same_key(self, desk: Desk) -> None:
        answered = asyncio.Event()

        async def die(_request: Received, writer: asyncio.StreamWriter) -> None:
            answered.set()
            await asyncio.sleep(60)

        desk.server.on("/in", die, answer(200))
        flow = delivering(desk.server.url("/in"))
        run_id = await desk.run_only(flow)
        await answered.wait()
        for task in desk.jobs._upkeep:  # as when it is killed: nothing is renewed or released
            task.cancel()
        desk.jobs.leases.worker.close()
        (left,) = await desk.deliveries(run_id)
        assert (left.status, left.attempts[0].finished_at) == ("delivering", None)
        await desk.deliver_due()
        (made,) = await desk.deliveries(run_id)
        assert made.status == "delivered"
        assert [one.error.code if one.error else None for one in made.attempts] == ["worker_lost", None]
        assert len({request.headers["idempotency-key"] for request in desk.server.requests}) == 1

    async def test_many_processes_send_it_once(self, desk: Desk) -> None:
        desk.server.on("/in", answer(500))
        run_id = await desk.run(delivering(desk.server.url("/in")))
        desk.server.on("/in", answer(200))
        await make_due(desk)
        before = len(desk.server.requests)
        await desk.deliver_due(processes=4)
        assert len(desk.server.requests) == before + 1
        assert (await desk.deliveries(run_id))[0].status == "delivered"

    async def test_a_delivery_that_was_never_begun_is_swept(self, desk: Desk) -> None:
        desk.jobs._closed = True  # the process ends between the commit and the first attempt
        desk.server.on("/in", answer(200))
        run_id = await desk.run(delivering(desk.server.url("/in")))
        assert desk.server.requests == []
        assert (await desk.deliveries(run_id))[0].status == "pending"
        await desk.deliver_due()
        assert (await desk.deliveries(run_id))[0].status == "delivered"

    async def test_nothing_is_sent_for_a_cancelled_run(self, desk: Desk) -> None:
        desk.jobs._closed = True
        desk.server.on("/in", answer(200))
        gate = delivering(desk.server.url("/in"), type_="Echo")
        run_id = await desk.run(gate)
        async with desk.database.writing() as session:
            await session.execute(webhook_deliveries.metadata.tables["flow_runs"].update().values(status="cancelled"))
        await desk.deliver_due()
        assert desk.server.requests == []
        assert (await desk.deliveries(run_id))[0].status == "cancelled"

    async def test_a_late_worker_writes_nothing(self, desk: Desk) -> None:
        answered, go = asyncio.Event(), asyncio.Event()

        async def slow(_request: Received, writer: asyncio.StreamWriter) -> None:
            answered.set()
            await go.wait()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
            writer.close()

        desk.server.on("/in", slow)
        run_id = await desk.run_only(delivering(desk.server.url("/in")))
        await answered.wait()
        async with desk.database.writing() as session:
            stolen = {"worker_id": "another", "attempts": webhook_deliveries.c.attempts + 1}
            await session.execute(update(webhook_deliveries).values(stolen))
        go.set()
        await desk.delivery_sender.settle()
        (made,) = await desk.deliveries(run_id)
        assert (made.status, made.attempts[0].finished_at) == ("delivering", None)


class TestRedelivery:
    async def test_sends_a_failed_one_again_without_running_anything(self, desk: Desk) -> None:
        desk.server.on("/in", answer(401))
        run_id = await desk.run(delivering(desk.server.url("/in")))
        before = await desk.engine.store.load(run_id)
        desk.server.on("/in", answer(200))
        async with desk.database.writing() as session:
            again = await service.redeliver_failed(session, LOCAL, run_id)
        for one in again:
            desk.delivery_sender.send_soon(one)
        await desk.delivery_sender.settle()
        (made,) = await desk.deliveries(run_id)
        assert made.status == "delivered"
        assert [one.status_code for one in made.attempts] == [401, 200]
        assert await desk.engine.store.load(run_id) == before
        assert len({request.headers["idempotency-key"] for request in desk.server.requests}) == 1

    async def test_begins_a_new_series_of_rounds_and_keeps_counting_attempts(self, desk: Desk) -> None:
        desk.server.on("/in", answer(500))
        run_id = await desk.run(delivering(desk.server.url("/in")))
        while (await desk.deliveries(run_id))[0].status == "pending":
            await make_due(desk)
            await desk.deliver_due()
        for _ in range(2):  # a second request begins another one
            async with desk.database.writing() as session:
                again = await service.redeliver_failed(session, LOCAL, run_id)
            waits = []
            desk.delivery_sender.send_soon(again[0])
            await desk.delivery_sender.settle()
            while (made := (await desk.deliveries(run_id))[0]).status == "pending":
                assert made.next_attempt_at is not None
                waits.append((made.next_attempt_at - made.attempts[-1].started_at).total_seconds())
                await make_due(desk)
                await desk.deliver_due()
            assert [next(one for one in (60, 300, 1800, 7200) if wait <= 1.2 * one + 5) for wait in waits] == [
                60, 300, 1800, 7200,
            ]  # fmt: skip
        assert [one.attempt_no for one in made.attempts] == list(range(1, 61))

    async def test_sends_a_delivered_one_again_when_asked_for_it(self, desk: Desk) -> None:
        desk.server.on("/in", answer(200))
        run_id = await desk.run(delivering(desk.server.url("/in")))
        async with desk.database.writing() as session:
            assert await service.redeliver_failed(session, LOCAL, run_id) == []
            await service.redeliver(session, LOCAL, run_id, (await desk.deliveries(run_id))[0].id)
        await desk.deliver_due()
        assert len(desk.server.requests) == 2

    async def test_refuses_one_that_is_under_way(self, desk: Desk) -> None:
        desk.server.on("/in", answer(500))
        run_id = await desk.run(delivering(desk.server.url("/in")))
        (made,) = await desk.deliveries(run_id)
        async with desk.database.writing() as session:
            await session.execute(update(webhook_deliveries).values(status="delivering"))
        async with desk.database.writing() as session:
            with pytest.raises(NotRedeliverable):
                await service.redeliver(session, LOCAL, run_id, made.id)

    async def test_knows_no_delivery_of_another_tenant(self, desk: Desk) -> None:
        desk.server.on("/in", answer(401))
        run_id = await desk.run(delivering(desk.server.url("/in")))
        (made,) = await desk.deliveries(run_id)
        stranger = await add_tenant(desk.database)
        async with desk.database.writing() as session:
            assert await repository.reopen(session, [made.id], tenant_id=new_id(), at=clock()) == []
            with pytest.raises(RunNotFound):
                await service.redeliver(session, stranger, run_id, made.id)
