"""Running a step alone, from a step on, and with pinned outputs: over the API, on both databases."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from headgate.features.runs import service
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.evidence.service import Notary
from headgate.features.runs.reruns.routes import router as reruns_router
from headgate.features.runs.routes import router as runs_router
from headgate.foundation.crypto import EvidenceSigner, SecretBox
from headgate.foundation.database import Database
from headgate.foundation.keyring import new_ring
from headgate.foundation.settings import Settings
from headgate.graph.model import Flow, Node, StepPolicy
from tests.integration.features.runs.conformance_parts import PartConformance
from tests.integration.features.runs.conftest import MakeEngine
from tests.support.api import api
from tests.support.engine import make_edge, store_flow
from tests.support.rows import attempts
from tests.support.secret_reads import NotedReads

Client = httpx2.AsyncClient
_KEYS = Settings(_env_file=None, secret_key=SecretStr("A" * 43 + "="), evidence_key=SecretStr("A" * 43 + "="))
NOTARY = Notary(SecretBox(new_ring(_KEYS)), EvidenceSigner(new_ring(_KEYS)), lambda _: NotedReads())


class TestEmbeddedParts(PartConformance):
    pass


@pytest.fixture
async def engine(make_engine: MakeEngine) -> ExecutionBackend:
    return await make_engine()


@pytest.fixture
async def client(database: Database, engine: ExecutionBackend) -> AsyncIterator[Client]:
    async with api(runs_router, reruns_router, database=database, engine=engine, notary=NOTARY) as found:
        yield found


def fork(folder: Path, *, refers: bool = False) -> Flow:
    """`top` feeds `left` and `right`; `low` follows `left`, and may read `top` by name."""
    kinds = {"top": "Tally", "left": "Tally", "right": "Tally", "low": "Tally"}
    params: dict[str, dict[str, Any]] = {name: {"path": str(folder / "tally")} for name in kinds}
    params["top"]["input"] = "made"
    policies = {"low": StepPolicy(input_bindings={"input": "{{top.output}}"})} if refers else {}
    return Flow(
        name="Fork",
        nodes=tuple(
            Node(id=name, type=kind, params=params[name], policy=policies.get(name, StepPolicy()))
            for name, kind in kinds.items()
        ),
        edges=tuple(
            make_edge(edge) for edge in ("top.text -> left.input", "top.text -> right.input", "left.text -> low.input")
        ),
    )


def done(folder: Path) -> list[str]:
    path = folder / "tally"
    return sorted(path.read_text().split()) if path.exists() else []


async def evidence_of(client: Client, run_id: str) -> dict[str, Any]:
    found: dict[str, Any] = (await client.get(f"/flow-runs/{run_id}/evidence")).json()
    return found


async def run(client: Client, flow_id: str, status: int = 201, **body: Any) -> dict[str, Any]:
    answer = await client.post(f"/flows/{flow_id}/runs", json={"wait": True, **body})
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


class TestParts:
    async def test_a_step_alone_is_done_with_what_stands_before_it(
        self, client: Client, database: Database, tmp_path: Path
    ) -> None:
        flow_id = (await store_flow(database, fork(tmp_path))).flow_id
        found = await run(client, flow_id, only_step="left")
        assert (found["status"], found["text"]) == ("completed", "made")
        assert found["part"] == {"only_step": "left", "from_step": None, "pinned": []}
        assert list(found["output"]["outputs"]) == ["left"]
        assert done(tmp_path) == ["left", "top"]

    async def test_from_a_step_on_with_a_pinned_output_in_place_of_what_is_before_it(
        self, client: Client, database: Database, tmp_path: Path
    ) -> None:
        flow_id = (await store_flow(database, fork(tmp_path))).flow_id
        found = await run(client, flow_id, from_step="left", pins={"top": {"text": "mine"}})
        assert (found["status"], found["text"]) == ("completed", "mine")
        assert {step["step_id"]: (step["status"], step["pinned"]) for step in found["steps"]} == {
            "top": ("completed", True),
            "left": ("completed", False),
            "right": ("skipped", False),
            "low": ("completed", False),
        }
        assert done(tmp_path) == ["left", "low"]
        step = (await client.get(f"/flow-runs/{found['id']}/steps/top")).json()
        assert (step["pinned"], step["execution_hash"], step["tries"], step["output"]["text"]) == (
            True,
            None,
            [],
            "mine",
        )
        graph = (await client.get(f"/flows/{flow_id}/graph", params={"run_id": found["id"]})).json()
        assert [node["id"] for node in graph["nodes"] if node["run"]["pinned"]] == ["top"]

    async def test_what_only_a_pinned_step_reads_is_not_done(
        self, client: Client, database: Database, tmp_path: Path
    ) -> None:
        flow_id = (await store_flow(database, fork(tmp_path))).flow_id
        await run(client, flow_id, only_step="low", pins={"left": {"text": "mine"}})
        assert done(tmp_path) == ["low"]

    async def test_what_a_step_reads_by_name_is_done(self, client: Client, database: Database, tmp_path: Path) -> None:
        flow_id = (await store_flow(database, fork(tmp_path, refers=True))).flow_id
        await run(client, flow_id, only_step="low", pins={"left": {"text": "mine"}})
        assert done(tmp_path) == ["low", "top"]

    async def test_a_rerun_takes_over_no_pinned_output_and_nothing_that_was_left_out(
        self, client: Client, database: Database, tmp_path: Path
    ) -> None:
        flow_id = (await store_flow(database, fork(tmp_path))).flow_id
        first = await run(client, flow_id, from_step="left", pins={"top": {"text": "mine"}})
        plan = (await client.post(f"/flow-runs/{first['id']}/rerun-plan", json={})).json()
        assert [step["step_id"] for step in plan["steps"] if step["reuse"]] == []
        assert {"top", "right"} <= {*plan["unknown"]}
        again = (await client.post(f"/flow-runs/{first['id']}/rerun", json={"wait": True})).json()
        assert (again["status"], again["part"], again["text"]) == ("completed", None, "made")
        assert len(await attempts(database, again["id"])) == 4

    async def test_the_evidence_says_what_was_pinned(self, client: Client, database: Database, tmp_path: Path) -> None:
        flow_id = (await store_flow(database, fork(tmp_path))).flow_id
        found = await run(client, flow_id, from_step="low", pins={"left": {"text": "mine"}})
        package = await evidence_of(client, found["id"])
        assert package["run"]["part"] == {"only_step": None, "from_step": "low", "pinned": ["left"]}
        assert {one["step_id"]: one.get("pinned", False) for one in package["step_results"]}["left"] is True
        whole = await run(client, flow_id)
        assert "part" not in (await evidence_of(client, whole["id"]))["run"]

    @pytest.mark.parametrize(
        ("body", "said"),
        [
            ({"pins": {"topp": {"text": "x"}}}, "did you mean 'top'?"),
            ({"only_step": "nope"}, "The flow has no step 'nope'"),
            ({"pins": {"top": {"text": {"a": 1}}}}, "The value pinned to 'top.text' is not valid"),
            ({"pins": {"top": {"other": "x"}}}, "has none of its outputs"),
            ({"pins": {"top": {"text": "x"}}, "version": 1}, "Only a run of the draft"),
            ({"only_step": "top", "from_step": "low"}, "not both"),
            (
                {"only_step": "top", "pins": {"top": {"text": "x"}}},
                ("there is nothing to run"),
            ),
        ],
    )
    async def test_what_cannot_be_is_refused_by_name(
        self, client: Client, database: Database, tmp_path: Path, body: dict[str, Any], said: str
    ) -> None:
        flow_id = (await store_flow(database, fork(tmp_path))).flow_id
        problem = await run(client, flow_id, 422, **body)
        assert problem["code"] == "run_input_invalid"
        assert said in problem["detail"]
        assert (await client.get("/flow-runs")).json()["items"] == []


class TestTheList:
    async def test_of_runs_is_searched_by_words_and_time(
        self, client: Client, database: Database, tmp_path: Path
    ) -> None:
        flow_id = (await store_flow(database, fork(tmp_path))).flow_id
        first = await run(client, flow_id, text="Ännu 100% klart")
        await run(client, flow_id, text="something else")

        async def found(**filters: str) -> list[str]:
            return [one["id"] for one in (await client.get("/flow-runs", params=filters)).json()["items"]]

        assert await found(search="100% KLART") == [first["id"]]
        assert await found(search="100_") == []
        assert len(await found(since="2020-01-01T00:00:00Z")) == 2
        assert await found(until="2020-01-01T00:00:00Z") == []

    async def test_of_runs_is_searched_so_many_at_a_time_and_says_where_to_go_on(
        self, client: Client, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(service, "LOOKED_THROUGH", 3)
        flow_id = (await store_flow(database, fork(tmp_path))).flow_id
        texts = ("needle 0", "hay", "hay", "needle 1", "needle 2", "hay", "hay", "hay")
        runs = [(await run(client, flow_id, text=text))["id"] for text in texts]

        async def pages(**filters: Any) -> list[list[int]]:
            found: list[list[int]] = []
            cursor: dict[str, str] = {}
            while True:
                answer = await client.get("/flow-runs", params=filters | cursor)
                found.append([runs.index(one["id"]) for one in answer.json()["items"]])
                if answer.json()["next_cursor"] is None:
                    return found
                cursor = {"cursor": answer.json()["next_cursor"]}

        assert await pages(search="needle") == [[], [4, 3], [0]]
        assert await pages(search="needle", limit=1) == [[], [4], [3], [0]]
        assert await pages(search="needle", flow_id=flow_id, status="failed") == [[]]
        assert await pages(search="no such word") == [[], [], []]
        assert await pages(limit=5) == [[7, 6, 5, 4, 3], [2, 1, 0]], "without words nothing is looked through"

    async def test_a_run_says_what_its_own_steps_took(self, client: Client, database: Database, tmp_path: Path) -> None:
        flow_id = (await store_flow(database, fork(tmp_path))).flow_id
        first = await run(client, flow_id, from_step="left", pins={"top": {"text": "mine"}})
        cost = (await client.get(f"/flow-runs/{first['id']}/cost")).json()
        assert sorted(cost["steps"]) == ["left", "low"]
        assert cost["total"]["usd"] == 0
        assert (await client.get("/flow-runs/01a1ffac-76f1-7690-a696-27d0cea7011b/cost")).status_code == 404
