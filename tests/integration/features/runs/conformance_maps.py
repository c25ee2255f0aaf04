"""What every execution backend must do with a step that calls a tool for each item, on every database."""

import signal
from pathlib import Path
from typing import Any

from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.foundation.database import Database
from headgate.graph.model import Flow
from tests.integration.features.runs.conformance import finish, over, until, value_of
from tests.support.engine import make_flow, new_run, store_flow
from tests.support.rows import run_row, step_rows


def mapping(path: Path, *, seconds: float = 0.0, **params: Any) -> Flow:
    """A step that calls a tool for each line of the input; each call leaves a line in a file."""
    return make_flow(
        {"start": "Start", "work": "Tally", "call": "Map", "after": "Echo"},
        ["start.text -> call.items", "work.tool -> call.each", "call.text -> after.input"],
        work={"path": str(path), "seconds": seconds},
        call={"concurrency": 1, **params},
    )


def numbers(count: int) -> list[str]:
    """Return that many items."""
    return [str(number) for number in range(count)]


class MapConformance:
    """The items of a Map are done once, in whichever attempt at the step."""

    async def test_a_killed_engine_repeats_no_finished_item(
        self, make_engine: Any, database: Database, processes: Any, tmp_path: Path
    ) -> None:
        lines = tmp_path / "lines"
        version = await store_flow(database, mapping(lines, seconds=0.05))
        process, run_id = await processes.start(version, "\n".join(numbers(60)))

        async def some() -> bool:
            return lines.exists() and len(lines.read_text().splitlines()) >= 5

        await until(some)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert len(lines.read_text().splitlines()) < 60
        await over(await make_engine(), run_id)
        step = (await step_rows(database, run_id))["call"]
        assert (step.status, step.error_message, step.attempts) == ("completed", None, 2)
        assert value_of(step, "text").split() == numbers(60)
        assert 60 <= len(lines.read_text().splitlines()) <= 61

    async def test_a_list_that_takes_longer_than_the_limit_of_an_attempt_continues_in_the_next(
        self, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        engine = await make_engine(step_timeout_seconds=4.0)
        request = new_run(await store_flow(database, mapping(tmp_path / "lines", seconds=0.25)), "\n".join(numbers(20)))
        await finish(engine, request)
        step = (await step_rows(database, request.key.run_id))["call"]
        assert (step.status, step.error_message) == ("completed", None)
        assert step.attempts > 1
        assert value_of(step, "text").split() == numbers(20)
        assert len((tmp_path / "lines").read_text().splitlines()) == 20

    async def test_failed_items_are_not_repeated_and_a_resume_repeats_the_one_that_failed_the_step(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        def needing(output: str, **params: Any) -> Flow:
            return make_flow(
                {"start": "Start", "work": "Needs", "call": "Map", "after": "Echo"},
                ["start.text -> call.items", "work.tool -> call.each", f"call.{output} -> after.input"],
                work={"file": str(tmp_path / "there"), "path": str(tmp_path / "lines")},
                call={"concurrency": 1, **params},
            )

        skipping = needing("errors", on_error="skip", attempts=2)
        request = new_run(await store_flow(database, skipping), "a\nb\nc")
        await finish(engine, request)
        errors = value_of((await step_rows(database, request.key.run_id))["call"], "errors")
        assert [(error["index"], error["item"], error["code"]) for error in errors] == [
            (0, "a", "invalid"),
            (1, "b", "invalid"),
            (2, "c", "invalid"),
        ]
        assert len((tmp_path / "lines").read_text().splitlines()) == 6
        request = new_run(await store_flow(database, needing("text")), "a\nb\nc")
        await finish(engine, request)
        assert (await run_row(database, request.key.run_id)).status == "failed"
        assert len((tmp_path / "lines").read_text().splitlines()) == 7
        (tmp_path / "there").touch()
        await engine.resume(request.key)
        await over(engine, request.key.run_id)
        assert (await run_row(database, request.key.run_id)).status == "completed"
        assert len((tmp_path / "lines").read_text().splitlines()) == 10
