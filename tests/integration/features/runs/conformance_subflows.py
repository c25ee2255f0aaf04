"""What every execution backend must do with steps that run flows, on every database: see `conformance`."""

import signal
import time
from pathlib import Path
from typing import Any

from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.waking import wake_step
from headgate.foundation.database import Database
from headgate.graph.model import Flow, FormField, StepPolicy
from tests.integration.features.runs.conformance import appears, finish, over, until, value_of
from tests.integration.features.runs.conformance_retries import with_policies
from tests.integration.features.runs.conformance_waits import waits
from tests.support.engine import make_chain, make_flow, new_run, publish, store_flow
from tests.support.paged_server import PagedServer
from tests.support.rows import child_rows, run_row, statuses, step_rows
from tests.support.scripted_server import ScriptedServer, json_reply


async def published(database: Database, flow: Flow) -> str:
    """Store and publish a flow. Returns its id."""
    return (await publish(database, await store_flow(database, flow))).flow_id


def calling(type_: str, field: str, flow: str, *, output: str = "text", **params: Any) -> Flow:
    """A step that runs a flow, between two others."""
    return make_flow(
        {"start": "Start", "call": type_, "after": "Echo"},
        [f"start.text -> call.{field}", f"call.{output} -> after.input"],
        call={"flow": flow, **params},
    )


def body(**tally: Any) -> Flow:
    """A flow of two steps, of which the second leaves a line in a file."""
    return make_flow({"start": "Start", "work": "Tally"}, ["start.text -> work.input"], work=tally)


class SubflowConformance:
    """A step that runs flows holds nothing, starts each once, and shares its end with them."""

    async def test_a_flow_is_a_run_of_its_own_whose_result_the_step_returns(
        self, make_engine: Any, database: Database
    ) -> None:
        engine = await make_engine(max_concurrent_runs=1, spare_concurrent_runs=0)
        child = await published(database, make_chain(2, s2={"mark": "!"}))
        request = new_run(await store_flow(database, calling("RunFlow", "text", child)), "hi")
        await finish(engine, request)
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.output_payload["text"]) == ("completed", "hi!")
        (started,) = await child_rows(database, request.key.run_id)
        assert (started.flow_id, started.status, started.parent_step_id, started.parent_iteration) == (
            child,
            "completed",
            "call",
            0,
        )

    async def test_a_failure_goes_up_with_its_code_and_a_resume_goes_down(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        needs = {"file": str(tmp_path / "there"), "path": str(tmp_path / "lines")}
        flow = make_flow({"start": "Start", "needs": "Needs"}, ["start.text -> needs.input"], needs=needs)
        child = await published(database, flow.model_copy(update={"name": "Inner"}))
        request = new_run(await store_flow(database, calling("RunFlow", "text", child)), "hi")
        await finish(engine, request)
        (started,) = await child_rows(database, request.key.run_id)
        step = (await step_rows(database, request.key.run_id))["call"]
        assert (step.status, step.error_code) == ("failed", "invalid")
        assert started.id in step.error_message
        assert "of the flow 'Inner', which this step started, failed at step 'needs': " in step.error_message
        (tmp_path / "there").touch()
        await engine.resume(request.key)
        await over(engine, request.key.run_id)
        assert (await run_row(database, request.key.run_id)).status == "completed"
        assert [row.resumes for row in await child_rows(database, request.key.run_id)] == [1]

    async def test_a_cancel_goes_down_to_every_level(self, engine: ExecutionBackend, database: Database) -> None:
        inner = await published(
            database,
            make_flow({"s": "Start", "w": "Wait"}, ["s.text -> w.value"], w={"seconds": 86_400}),
        )
        outer = await published(database, calling("RunFlow", "text", inner))
        request = new_run(await store_flow(database, calling("RunFlow", "text", outer)))
        await engine.start(request)

        async def innermost() -> Any:
            for child in await child_rows(database, request.key.run_id):
                for below in await child_rows(database, child.id):
                    if below.status == "waiting":
                        return below
            return None

        await until(innermost)
        await waits(database, request)
        below = await innermost()
        await engine.cancel(request.key.run_id, request.key.tenant_id)
        (child,) = await child_rows(database, request.key.run_id)
        assert (await run_row(database, request.key.run_id)).status == "cancelled"
        assert (child.status, (await run_row(database, below.id)).status) == ("cancelled", "cancelled")
        assert set((await statuses(database, below.id)).values()) == {"completed", "cancelled"}

    async def test_a_cancelled_flow_fails_the_step(self, engine: ExecutionBackend, database: Database) -> None:
        child = await published(
            database, make_flow({"s": "Start", "w": "Wait"}, ["s.text -> w.value"], w={"seconds": 86_400})
        )
        request = new_run(await store_flow(database, calling("RunFlow", "text", child)))
        await engine.start(request)
        await waits(database, request)
        (started,) = await child_rows(database, request.key.run_id)
        await engine.cancel(started.id, request.key.tenant_id)
        await over(engine, request.key.run_id)
        assert (await step_rows(database, request.key.run_id))["call"].error_code == "subflow_cancelled"

    async def test_each_item_is_run_once_and_results_keep_the_order(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        child = await published(database, body(path=str(tmp_path / "lines")))
        request = new_run(
            await store_flow(database, calling("ForEach", "items", child, output="results", parallel=3)),
            "a\nb\nc\nd\ne",
        )
        await finish(engine, request)
        assert value_of((await step_rows(database, request.key.run_id))["call"], "results") == ["a", "b", "c", "d", "e"]
        assert [row.parent_iteration for row in await child_rows(database, request.key.run_id)] == [0, 1, 2, 3, 4]
        assert len((tmp_path / "lines").read_text().splitlines()) == 5

    async def test_pages_are_fetched_once_as_the_loop_goes(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        child = await published(database, body(path=str(tmp_path / "lines")))
        with PagedServer(3, 4) as server:
            params: dict[str, Any] = {"items": "of", "next": "next", "parallel": 2}
            request = new_run(await store_flow(database, calling("ForEachPage", "url", child, **params)), server.url)
            await finish(engine, request)
        step = (await step_rows(database, request.key.run_id))["call"]
        assert (step.error_message, step.status) == (None, "completed")
        expected = [f"{page}.{number}" for page in (1, 2, 3) for number in range(4)]
        assert value_of(step, "text").split() == expected
        assert server.pages == [1, 2, 3]
        assert len((tmp_path / "lines").read_text().splitlines()) == 12
        lines = [line for line in step.log if line["message"].startswith("Page ")]
        assert [(line["message"], line["details"]["items"]) for line in lines] == [
            (f"Page {page}: {server.origin}/items{query}", 4)
            for page, query in [(1, ""), (2, "?page=2"), (3, "?page=3")]
        ]
        assert step.output_payload["outside"] == ["file:page.json", "web:127.0.0.1"]

    async def test_errors_of_items_are_results(self, engine: ExecutionBackend, database: Database) -> None:
        flow = make_flow({"s": "Start", "b": "Broken"}, ["s.text -> b.input"])
        child = await published(database, flow)
        params = {"on_error": "continue", "parallel": 2}
        request = new_run(
            await store_flow(database, calling("ForEach", "items", child, output="errors", **params)), "a\nb\nc"
        )
        await finish(engine, request)
        step = (await step_rows(database, request.key.run_id))["call"]
        assert [
            (error["index"], error["item"], error["code"], error["step"]) for error in value_of(step, "errors")
        ] == [(0, "a", "invalid", "b"), (1, "b", "invalid", "b"), (2, "c", "invalid", "b")]

    async def test_a_failure_as_data_names_the_innermost_flow_and_step(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        broken = make_flow({"s": "Start", "b": "Broken"}, ["s.text -> b.input"]).model_copy(update={"name": "Inner"})
        middle = calling("RunFlow", "text", await published(database, broken)).model_copy(update={"name": "Middle"})
        child = await published(database, middle)
        flow = calling("RunFlow", "text", child, output="result")
        request = new_run(await store_flow(database, with_policies(flow, call=StepPolicy(on_error="error_data"))), "a")
        await finish(engine, request)
        step = (await step_rows(database, request.key.run_id))["call"]
        (started,) = await child_rows(database, request.key.run_id)
        error = value_of(step, "result")
        assert error["inner"] == {
            "run_id": started.id,
            "flow_id": child,
            "flow": "Middle",
            "step": "call",
        }
        assert "'Middle', which this step started, failed at step 'call': " in error["message"]
        assert "'Inner', which this step started, failed at step 'b': " in error["message"]

    async def test_a_flow_reduces_the_items_one_after_another(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        """A failed item is skipped, also by an attempt that follows its failure."""
        questions = tuple(FormField(id=name, type="json", label=name) for name in ("before", "item"))
        child = await published(database, make_flow({"add": "Adds"}).model_copy(update={"form": questions}))
        params: dict[str, Any] = {
            "item_field": "item",
            "carry": "before",
            "initial": 10,
            "on_error": "continue",
            "reduce": "last",
        }
        version = await store_flow(database, calling("ForEach", "items", child, output="reduced", **params))
        request = new_run(version, "1\nx\n2")
        await finish(engine, request)
        step = (await step_rows(database, request.key.run_id))["call"]
        assert (step.error_message, value_of(step, "reduced")) == (None, 13)

    async def test_a_loop_ends_when_its_condition_holds(self, engine: ExecutionBackend, database: Database) -> None:
        child = await published(
            database, make_flow({"s": "Start", "e": "Echo"}, ["s.text -> e.input"], e={"mark": "x"})
        )
        params = {"until": "length(text) >= `3`", "most": 9}
        request = new_run(await store_flow(database, calling("Loop", "value", child, output="rounds", **params)), "")
        await finish(engine, request)
        step = (await step_rows(database, request.key.run_id))["call"]
        assert (step.error_message, value_of(step, "rounds")) == (None, {"rounds": 3, "holds": True})
        assert len(await child_rows(database, request.key.run_id)) == 3

    async def test_a_loop_polls_an_api_without_a_worker(self, engine: ExecutionBackend, database: Database) -> None:
        with ScriptedServer() as server:
            server.script(json_reply({"ready": False}), json_reply({"ready": True}))
            child = await published(database, make_flow({"get": "HTTPRequest"}, get={"url": server.origin}))
            params: dict[str, Any] = {"until": "ready", "most": 9, "pause_seconds": 86_400}
            version = await store_flow(database, calling("Loop", "value", child, output="reached", **params))
            request = new_run(version)
            await engine.start(request)

            async def pauses() -> bool:
                step = (await step_rows(database, request.key.run_id))["call"]
                return (step.status, step.waits_for) == ("waiting", "time")

            await until(pauses)
            assert len(server.asked) == 1
            assert await engine.pause(request.key)
            assert await engine.unpause(request.key)
            async with database.writing() as session:
                at = int(time.time() * 1_000_000)
                await wake_step(session, request.key.run_id, "call", tenant_id=version.tenant_id, at=at)
            await over(engine, request.key.run_id)
            assert (await run_row(database, request.key.run_id)).status == "completed"
            assert len(server.asked) == 2

    async def test_a_loop_is_cancelled_in_its_pause(self, engine: ExecutionBackend, database: Database) -> None:
        child = await published(database, make_chain(2))
        params: dict[str, Any] = {"until": "`false`", "most": 9, "pause_seconds": 86_400}
        request = new_run(await store_flow(database, calling("Loop", "value", child, **params)))
        await engine.start(request)

        async def pauses() -> bool:
            return bool((await step_rows(database, request.key.run_id))["call"].waits_for == "time")

        await until(pauses)
        await engine.cancel(request.key.run_id, request.key.tenant_id)
        assert (await run_row(database, request.key.run_id)).status == "cancelled"
        assert len(await child_rows(database, request.key.run_id)) == 1

    async def test_a_killed_engine_repeats_no_finished_item(
        self, make_engine: Any, database: Database, processes: Any, tmp_path: Path
    ) -> None:
        gate = make_flow(
            {"start": "Start", "work": "Tally", "gate": "Gate"},
            ["start.text -> work.input", "work.text -> gate.input"],
            work={"path": str(tmp_path / "lines")},
            gate={"folder": str(tmp_path), "name": ""},
        )
        child = await published(database, gate)
        version = await store_flow(database, calling("ForEach", "items", child, parallel=1))
        for number in (0, 1):
            (tmp_path / f"{number}.open").touch()
        process, run_id = await processes.start(version, "\n".join(str(number) for number in range(6)))
        await appears(tmp_path / "2.started")
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert [row.status for row in await child_rows(database, run_id)].count("completed") == 2
        for number in range(2, 6):
            (tmp_path / f"{number}.open").touch()
        await over(await make_engine(), run_id)
        assert (await run_row(database, run_id)).status == "completed"
        assert len(await child_rows(database, run_id)) == 6
        assert len((tmp_path / "lines").read_text().splitlines()) == 6

    async def test_a_killed_engine_fetches_no_page_again_but_the_interrupted_one(
        self, make_engine: Any, database: Database, processes: Any, tmp_path: Path
    ) -> None:
        child = await published(database, body(path=str(tmp_path / "lines")))
        with PagedServer(4, 5) as server:
            server.held = 3
            params: dict[str, Any] = {"items": "of", "next": "next", "parallel": 1}
            version = await store_flow(database, calling("ForEachPage", "url", child, **params))
            process, run_id = await processes.start(version, server.url)

            async def asked() -> bool:
                return 3 in server.pages

            await until(asked)
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert len((tmp_path / "lines").read_text().splitlines()) == 10
            server.held = 0
            await over(await make_engine(), run_id)
        row = (await step_rows(database, run_id))["call"]
        assert (row.status, row.error_message) == ("completed", None)
        assert server.pages == [1, 2, 3, 3, 4]
        assert len((tmp_path / "lines").read_text().splitlines()) == 20
        assert len(await child_rows(database, run_id)) == 20
