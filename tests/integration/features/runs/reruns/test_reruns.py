"""Resuming and running again over the API, on a real engine and both databases."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from headgate.features.access.principal import LOCAL
from headgate.features.catalog.registry import Registry
from headgate.features.flows import service as flows
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.reruns.routes import router as reruns_router
from headgate.features.runs.routes import router as runs_router
from headgate.features.runs.transitions import RunKey
from headgate.foundation.database import Database
from headgate.graph.model import Flow, FormField, Node
from tests.integration.features.runs.conftest import MakeEngine
from tests.support.api import api
from tests.support.engine import COMPONENTS, make_chain, make_edge, make_flow, store_flow
from tests.support.rows import attempts, execute, step_rows
from tests.support.tenants import add_tenant

Client = httpx2.AsyncClient


@pytest.fixture
async def engine(make_engine: MakeEngine) -> ExecutionBackend:
    return await make_engine()


@pytest.fixture
async def client(database: Database, engine: ExecutionBackend) -> AsyncIterator[Client]:
    async with api(runs_router, reruns_router, database=database, engine=engine) as found:
        yield found


def tally(folder: Path, **params: Any) -> dict[str, Any]:
    return {"path": str(folder / "tally"), **params}


def letter(folder: Path, *, greeting: str = "hi", mend: str = "mended", label: str = "") -> Flow:
    """`topic` reads the form, `fixed` reads nothing of the run, `both` joins them, `need` fails until it is mended."""
    return Flow(
        name="Letter",
        form=(FormField(id="topic"),),
        nodes=(
            Node(id="topic", type="Tally", params=tally(folder, input="{{flow_input.topic}}")),
            Node(id="fixed", type="Tally", label=label, params=tally(folder, input=greeting)),
            Node(id="both", type="Join"),
            Node(id="need", type="Needs", params=tally(folder, file=str(folder / mend))),
        ),
        edges=tuple(
            make_edge(edge)
            for edge in ("topic.text -> both.parts", "fixed.text -> both.parts", "both.text -> need.input")
        ),
    )


async def change(database: Database, version: RunKey, flow: Flow) -> None:
    """Give the draft of a flow another content."""
    async with database.writing() as session:
        row = await flows.get_flow(session, LOCAL, version.flow_id, lock=True)
        await flows.write_draft(session, row, flow, Registry(COMPONENTS))


async def run(client: Client, version: RunKey, **body: Any) -> dict[str, Any]:
    answer = await client.post(f"/flows/{version.flow_id}/runs", json={"wait": True, **body})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def post(client: Client, path: str, status: int, **body: Any) -> dict[str, Any]:
    answer = await client.post(f"/flow-runs/{path}", json=body)
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


def whys(plan: dict[str, Any]) -> dict[str, str]:
    return {step["step_id"]: step["why"] for step in plan["steps"]}


def done(folder: Path) -> list[str]:
    return (folder / "tally").read_text().split()


class TestResume:
    async def test_in_place_goes_on_at_the_step_that_failed(
        self, client: Client, database: Database, tmp_path: Path
    ) -> None:
        first = await run(client, await store_flow(database, letter(tmp_path)), form_data={"topic": "cats"})
        assert (first["status"], first["resumes"]) == ("failed", 0)
        (tmp_path / "mended").touch()
        found = await post(client, f"{first['id']}/resume", 200, wait=True)
        assert (found["how"], found["from_step"], found["run"]["id"]) == ("in_place", "need", first["id"])
        assert (found["run"]["status"], found["run"]["text"], found["run"]["resumes"]) == ("completed", "cats+hi", 1)
        assert sorted(done(tmp_path)) == ["fixed", "need", "need", "topic"]

    @pytest.mark.parametrize("status", ["queued", "running", "completed", "cancelled"])
    async def test_is_refused_with_what_to_do_instead(
        self, client: Client, database: Database, tmp_path: Path, status: str
    ) -> None:
        first = await run(client, await store_flow(database, letter(tmp_path)))
        await execute(database, "UPDATE flow_runs SET status = :status", status=status)
        problem = await post(client, f"{first['id']}/resume", 409)
        over = status in {"completed", "cancelled"}
        assert problem["code"] == ("run_not_resumable" if over else "run_not_over")
        assert ("headgate runs rerun" in problem["remedy"]) is over
        await execute(database, "UPDATE flow_runs SET status = 'failed'")

    async def test_of_a_deleted_flow_or_a_stranger_s_run_is_not_found(
        self, client: Client, database: Database, engine: ExecutionBackend, tmp_path: Path
    ) -> None:
        first = await run(client, await store_flow(database, letter(tmp_path)))
        stranger = await add_tenant(database)
        async with api(reruns_router, principal=stranger, database=database, engine=engine) as theirs:
            for path in ("resume", "rerun-plan", "rerun"):
                assert (await theirs.post(f"/flow-runs/{first['id']}/{path}", json={})).status_code == 404
        await execute(database, "UPDATE flows SET deleted_at = 1")
        assert (await post(client, f"{first['id']}/resume", 404))["code"] == "flow_not_found"

    async def test_on_a_version_with_the_failed_step_mended_takes_over_what_was_paid(
        self, client: Client, database: Database, tmp_path: Path
    ) -> None:
        version = await store_flow(database, letter(tmp_path))
        first = await run(client, version, form_data={"topic": "cats"})
        (tmp_path / "other").touch()
        await change(database, version, letter(tmp_path, mend="other", label="Only a label"))
        found = await post(client, f"{first['id']}/resume", 200, version="draft", wait=True)
        assert (found["how"], found["from_step"], found["changed_step"]) == ("continued", "need", None)
        new = found["run"]
        assert (new["status"], new["version"], new["text"]) == ("completed", 2, "cats+hi")
        assert (new["source_run_id"], new["source_step_id"]) == (first["id"], "need")
        assert [step["reused_from_run_id"] for step in new["steps"]] == [first["id"]] * 3 + [None]
        assert await attempts(database, new["id"]) == [("need", 1, "completed")]
        assert sorted(done(tmp_path)) == ["fixed", "need", "need", "topic"]
        assert (await client.get(f"/flow-runs/{first['id']}")).json()["status"] == "failed"

    async def test_on_a_version_with_a_step_before_it_changed_starts_anew_and_says_which(
        self, client: Client, database: Database, tmp_path: Path
    ) -> None:
        version = await store_flow(database, letter(tmp_path))
        first = await run(client, version, form_data={"topic": "cats"})
        (tmp_path / "mended").touch()
        await change(database, version, letter(tmp_path, greeting="bye"))
        found = await post(client, f"{first['id']}/resume", 200, version="draft", wait=True)
        assert (found["how"], found["changed_step"]) == ("restarted", "fixed")
        assert "fixed" in found["reason"]
        assert found["run"]["text"] == "cats+bye"
        assert {step["reused_from_run_id"] for step in found["run"]["steps"]} == {None}
        assert sorted(done(tmp_path)) == ["fixed", "fixed", "need", "need", "topic", "topic"]

    async def test_on_the_same_content_is_in_place(self, client: Client, database: Database, tmp_path: Path) -> None:
        first = await run(client, await store_flow(database, letter(tmp_path)))
        (tmp_path / "mended").touch()
        found = await post(client, f"{first['id']}/resume", 200, version="draft", wait=True)
        assert (found["how"], found["run"]["id"]) == ("in_place", first["id"])


class TestRerun:
    @pytest.fixture
    async def past(self, client: Client, database: Database, tmp_path: Path) -> dict[str, Any]:
        (tmp_path / "mended").touch()
        return await run(client, await store_flow(database, letter(tmp_path)), form_data={"topic": "cats"})

    async def test_with_another_answer_does_again_what_reads_it_and_nothing_else(
        self, client: Client, database: Database, past: dict[str, Any], tmp_path: Path
    ) -> None:
        edit = {"form_data": {"topic": "dogs"}}
        plan = await post(client, f"{past['id']}/rerun-plan", 200, **edit)
        assert whys(plan) == {"topic": "input", "fixed": "unchanged", "both": "follows", "need": "follows"}
        assert plan["input_changed"]
        assert len(done(tmp_path)) == 3
        new = await post(client, f"{past['id']}/rerun", 201, wait=True, **edit)
        assert (new["status"], new["text"], new["input"]["form_data"]) == ("completed", "dogs+hi", {"topic": "dogs"})
        assert done(tmp_path)[3:] == ["topic", "need"]
        assert [one[0] for one in await attempts(database, new["id"])] == ["topic", "both", "need"]

    async def test_from_a_step_does_it_again_and_what_follows(
        self, client: Client, past: dict[str, Any], tmp_path: Path
    ) -> None:
        plan = await post(client, f"{past['id']}/rerun-plan", 200, from_step="need")
        assert whys(plan) == {"topic": "unchanged", "fixed": "unchanged", "both": "unchanged", "need": "chosen"}
        new = await post(client, f"{past['id']}/rerun", 201, from_step="need", wait=True)
        assert (new["text"], new["source_step_id"], done(tmp_path)[3:]) == ("cats+hi", "need", ["need"])

    async def test_of_a_rerun_names_the_run_that_paid_and_still_knows_who_read_the_input(
        self, client: Client, database: Database, past: dict[str, Any]
    ) -> None:
        second = await post(client, f"{past['id']}/rerun", 201, from_step="need", wait=True)
        plan = await post(client, f"{second['id']}/rerun-plan", 200, form_data={"topic": "dogs"})
        assert whys(plan) == {"topic": "input", "fixed": "unchanged", "both": "follows", "need": "follows"}
        third = await post(client, f"{second['id']}/rerun", 201, from_step="both", wait=True)
        assert (await step_rows(database, third["id"]))["topic"].reused_from_run_id == past["id"]

    async def test_with_nothing_changed_does_all_of_it(
        self, client: Client, past: dict[str, Any], tmp_path: Path
    ) -> None:
        plan = await post(client, f"{past['id']}/rerun-plan", 200)
        assert set(whys(plan).values()) == {"everything"}
        new = await post(client, f"{past['id']}/rerun", 201, wait=True)
        assert (new["text"], len(done(tmp_path))) == ("cats+hi", 6)

    async def test_of_a_cancelled_run_takes_over_what_was_paid(
        self, client: Client, past: dict[str, Any], database: Database, tmp_path: Path
    ) -> None:
        await execute(database, "UPDATE flow_runs SET status = 'cancelled'")
        await execute(database, "UPDATE flow_step_results SET status = 'cancelled' WHERE step_id = 'need'")
        plan = await post(client, f"{past['id']}/rerun-plan", 200)
        assert whys(plan)["need"] == "unfinished"
        new = await post(client, f"{past['id']}/rerun", 201, wait=True)
        assert (new["status"], done(tmp_path)[3:]) == ("completed", ["need"])

    async def test_on_another_version_does_again_what_changed_there(
        self, client: Client, past: dict[str, Any], database: Database, tmp_path: Path
    ) -> None:
        version = RunKey("", LOCAL.tenant_id, past["flow_id"], 1)
        await change(database, version, letter(tmp_path, greeting="bye"))
        plan = await post(client, f"{past['id']}/rerun-plan", 200, version="draft")
        assert (plan["version"], plan["past_version"]) == (2, 1)
        assert whys(plan) == {"topic": "unchanged", "fixed": "changed", "both": "follows", "need": "follows"}
        new = await post(client, f"{past['id']}/rerun", 201, version="draft", wait=True)
        assert new["text"] == "cats+bye"

    async def test_refuses_an_unknown_step_and_a_run_under_way(
        self, client: Client, past: dict[str, Any], database: Database
    ) -> None:
        assert (await post(client, f"{past['id']}/rerun", 404, from_step="nope"))["code"] == "step_not_found"
        assert (await post(client, f"{past['id']}/rerun", 422, form_data={"nope": 1}))["code"] == "run_input_invalid"
        await execute(database, "UPDATE flow_runs SET status = 'running'")
        assert (await post(client, f"{past['id']}/rerun-plan", 409))["code"] == "run_not_over"
        await execute(database, "UPDATE flow_runs SET status = 'completed'")

    async def test_says_what_doing_it_again_costs(self, client: Client, database: Database) -> None:
        flow = make_flow(
            {"start": "Start", "say": "Speak", "end": "Echo"}, ["start.text -> say.input", "say.text -> end.input"]
        )
        past = await run(client, await store_flow(database, flow), text="one two")
        row = '{"provider": "anthropic", "name": "claude-sonnet-4-5"}'
        await execute(database, f"UPDATE flow_step_results SET model_parameters = '{row}' WHERE step_id = 'say'")
        plan = await post(client, f"{past['id']}/rerun-plan", 200, from_step="say")
        say = plan["steps"][1]["cost"]
        assert (say["tokens_input"], say["tokens_output"]) == (3, 4)
        assert say["usd"] == pytest.approx((3 * 3.0 + 4 * 15.0) / 1_000_000)
        assert plan["redo"]["usd"] == say["usd"]
        assert (plan["saved"]["tokens_input"], plan["saved"]["usd"]) == (0, 0)
        assert say["ms"] > 0
        await execute(database, "UPDATE flow_step_results SET model_parameters = '{}' WHERE step_id = 'say'")
        plan = await post(client, f"{past['id']}/rerun-plan", 200, from_step="say")
        assert plan["redo"]["usd"] is None

    async def test_does_a_step_again_whose_component_looks_at_the_input_though_its_params_do_not(
        self, client: Client, database: Database
    ) -> None:
        flow = make_chain(3, s2={"mark": "!"})
        past = await run(client, await store_flow(database, flow), text="a")
        plan = await post(client, f"{past['id']}/rerun-plan", 200, text="b")
        assert whys(plan) == {"s1": "input", "s2": "follows", "s3": "follows"}
        assert (await post(client, f"{past['id']}/rerun", 201, text="b", wait=True))["text"] == "b!"

    async def test_leaves_the_chat_and_what_was_said_in_it(self, client: Client, database: Database) -> None:
        flow = make_flow({"start": "Start", "recall": "Recall"}, ["start.text -> recall.input"])
        version = await store_flow(database, flow)
        await run(client, version, text="one", session_id="chat")
        past = await run(client, version, text="two", session_id="chat")
        assert past["text"] == "user:one assistant:one two"
        plan = await post(client, f"{past['id']}/rerun-plan", 200, from_step="recall")
        assert whys(plan) == {"start": "input", "recall": "chosen"}
        new = await post(client, f"{past['id']}/rerun", 201, wait=True)
        assert (new["session_id"], new["text"]) == (None, "two")
