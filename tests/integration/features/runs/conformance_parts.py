"""What every execution backend must do with a run of a part of its flow."""

from dataclasses import replace

import orjson

from headgate.features.runs.engine.backend import ExecutionBackend, RunRequest
from headgate.features.runs.transitions import Part, Pinned, RunKey
from headgate.foundation.database import Database
from tests.integration.features.runs.conformance import over
from tests.support.engine import make_chain, new_run, store_flow
from tests.support.rows import attempts, run_row, statuses, step_rows


def stands_in(step_id: str, text: str) -> Pinned:
    """A pinned text, as the engine stores outputs."""
    return Pinned(
        step_id, orjson.dumps({"outputs": {"text": {"type": "Text", "value": text}}, "main": "text"}).decode()
    )


def part_run(version: RunKey, part: Part) -> RunRequest:
    """A run of a part of a flow."""
    return replace(new_run(version, "given"), part=part)


class PartConformance:
    """Steps settled at birth, results of a step in the middle, the same on every engine."""

    async def test_stops_at_a_step_whose_output_is_the_result(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        version = await store_flow(database, make_chain(4))
        request = part_run(version, Part("s2", None, (), ("s3", "s4")))
        await engine.start(request)
        await over(engine, request.key.run_id)
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.output_payload["text"], row.unfinished) == ("completed", "given", 0)
        assert row.output_payload["step_ids"] == ["s2"]
        assert await statuses(database, request.key.run_id) == {
            "s1": "completed",
            "s2": "completed",
            "s3": "skipped",
            "s4": "skipped",
        }
        found = await engine.store.read(request.key.run_id, request.key.tenant_id)
        assert found is not None
        assert [step.step_id for step in found.steps if step.output_payload] == ["s2"]

    async def test_goes_on_from_what_is_pinned_and_does_nothing_before_it(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        version = await store_flow(database, make_chain(4))
        request = part_run(version, Part(None, "s3", (stands_in("s2", "pinned"),), ("s1",)))
        await engine.start(request)
        await over(engine, request.key.run_id)
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.output_payload["text"]) == ("completed", "pinned")
        assert row.part == {"only_step": None, "from_step": "s3", "pinned": ["s2"]}
        assert await attempts(database, request.key.run_id) == [("s3", 1, "completed"), ("s4", 1, "completed")]
        steps = await step_rows(database, request.key.run_id)
        assert (steps["s2"].execution_hash, steps["s2"].num_tokens_input, steps["s2"].reused_from_run_id) == (None,) * 3

    async def test_whose_first_step_is_to_be_done_knows_what_is_pinned_behind_it(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        version = await store_flow(database, make_chain(4))
        request = part_run(version, Part(None, None, (stands_in("s3", "pinned"),), ()))
        await engine.start(request)
        await over(engine, request.key.run_id)
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.output_payload["text"]) == ("completed", "pinned")
        assert sorted(one[0] for one in await attempts(database, request.key.run_id)) == ["s1", "s2", "s4"]
