"""Audit reports over HTTP: PDFs with everything that an auditor asks for, and no secret."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from functools import partial
from io import BytesIO
from typing import Any, cast

import httpx2
import pytest
from pydantic import SecretStr
from pypdf import PdfReader
from sqlalchemy.pool import QueuePool

from headgate.features.access.permissions import Role
from headgate.features.access.principal import LOCAL
from headgate.features.flows.routes import router as flows_router
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.evidence.service import Notary
from headgate.features.runs.report import service
from headgate.features.runs.report.routes import router as reports_router
from headgate.features.runs.report.service import reports_at_work
from headgate.features.runs.routes import router as runs_router
from headgate.features.secrets import service as secrets
from headgate.features.triggers.transfer import TriggerTransfer
from headgate.foundation.crypto import EvidenceSigner, SecretBox
from headgate.foundation.database import Database
from headgate.foundation.keyring import new_ring
from headgate.foundation.settings import Settings
from headgate.graph.model import Budget, Flow, FlowSettings, FormField, Node
from headgate.sandbox.documents import maker
from tests.support.api import api
from tests.support.engine import make_flow, store_flow
from tests.support.patience import PATIENCE_SECONDS
from tests.support.readiness import rules_of
from tests.support.secret_reads import NotedReads
from tests.support.tenants import add_colleague, add_tenant

_KEYS = Settings(_env_file=None, secret_key=SecretStr("A" * 43 + "="), evidence_key=SecretStr("A" * 43 + "="))
NOTARY = Notary(SecretBox(new_ring(_KEYS)), EvidenceSigner(new_ring(_KEYS)), lambda _: NotedReads())
SECRET = "correct-horse-battery"
PRIVATE = "Agda Andersson"
HOSTILE = "Ärenden | **<script>** `kod`"


def a_flow(**more: Any) -> Flow:
    """A flow with a form, a hostile name, and a secret that somebody typed into a field."""
    nodes: dict[str, str | Node] = {
        "start": "Start",
        "echo": Node(
            id="echo", type="Echo", label="Märk | det", params={"mark": f" {SECRET} [{{{{flow_input.namn}}}}]"}
        ),
        "keep": "Keep",
    }
    flow = make_flow(nodes, ["start.text -> echo.input", "echo.text -> keep.input"])
    form = (FormField(id="namn", label="Namn", private=True), FormField(id="antal", type="number", required=True))
    return flow.model_copy(update={"name": HOSTILE, "form": form, **more})


@pytest.fixture
def parts(database: Database, engine: ExecutionBackend) -> dict[str, Any]:
    known = engine.services.components
    rules = rules_of(database, known)
    return {
        "database": database,
        "engine": engine,
        "registry": known,
        "notary": NOTARY,
        "rules": rules,
        "trigger_transfer": TriggerTransfer(NOTARY.box),
        "reports_at_work": reports_at_work(),
    }


@pytest.fixture
async def client(parts: dict[str, Any]) -> AsyncIterator[httpx2.AsyncClient]:
    async with api(flows_router, runs_router, reports_router, **parts) as found:
        yield found


async def stored(database: Database, flow: Flow) -> str:
    async with database.writing() as session:
        await secrets.set_variable(session, LOCAL, NOTARY.box, name="DOOR", value=SecretStr(SECRET), secret=True)
    return (await store_flow(database, flow)).flow_id


async def run(client: httpx2.AsyncClient, flow_id: str, **more: Any) -> str:
    body = {"wait": True, "text": "hej", "form_data": {"namn": PRIVATE, "antal": 3}, **more}
    answer = await client.post(f"/flows/{flow_id}/runs", json=body)
    assert answer.status_code == 201, answer.text
    found: str = answer.json()["id"]
    return found


def text_of(answer: httpx2.Response) -> str:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/pdf"
    pages = [page.extract_text() for page in PdfReader(BytesIO(answer.content)).pages]
    return " ".join("\n".join(pages).split())


async def test_of_a_draft_tells_what_the_flow_is(client: httpx2.AsyncClient, database: Database) -> None:
    flow_id = await stored(database, a_flow())
    answer = await client.get(f"/flows/{flow_id}/report")
    found = text_of(answer)
    assert f"Audit report: {HOSTILE}" in found
    for told in ("draft, revision", "Created by", "Diagram", "Märk | det", "namn", "Required", "Echo", "start.text"):
        assert told in found
    assert SECRET not in found
    assert "attachment" in answer.headers["content-disposition"]


async def test_of_a_version_tells_its_checksum_and_stays_what_it_was(
    client: httpx2.AsyncClient, database: Database
) -> None:
    flow_id = await stored(database, a_flow())
    made = (await client.post(f"/flows/{flow_id}/publish", json={"notes": "Första utgåvan"})).json()
    draft = (await client.get(f"/flows/{flow_id}")).json()
    draft["definition"]["nodes"][1]["label"] = "Something else"
    changed = {"revision": draft["revision"], "definition": draft["definition"]}
    assert (await client.patch(f"/flows/{flow_id}/draft", json=changed)).status_code == 200
    found = text_of(await client.get(f"/flows/{flow_id}/report", params={"version": made["version"], "language": "sv"}))
    assert made["checksum"] in found.replace(" ", "")
    assert "Första utgåvan" in found
    assert "Granskningsrapport" in found
    assert "Something else" not in found
    assert (await client.get(f"/flows/{flow_id}/report", params={"version": 99})).status_code == 404


async def test_of_a_run_tells_times_and_whether_it_passed_but_no_private_answer(
    client: httpx2.AsyncClient, database: Database
) -> None:
    flow_id = await stored(database, a_flow())
    run_id = await run(client, flow_id)
    for path in (f"/flows/{flow_id}/report?run_id={run_id}", f"/flow-runs/{run_id}/report"):
        found = text_of(await client.get(path))
        for told in ("Passed", "3 completed", run_id, "ms", "hej", "withheld", "Evidence signed by key"):
            assert told in found
        assert PRIVATE not in found
        assert SECRET not in found


async def test_of_a_run_tells_what_it_used_of_its_budgets(client: httpx2.AsyncClient, database: Database) -> None:
    settings = FlowSettings(daily_budget=Budget(usd=2))
    flow_id = await stored(database, a_flow(settings=settings))
    run_id = await run(client, flow_id, budget={"tokens": 5000})
    found = text_of(await client.get(f"/flow-runs/{run_id}/report")).replace("\u00a0", " ")
    assert f"run {run_id}: 0 tokens of 5 000 tokens" in found
    assert f"flow {flow_id} that day: $0 of $2" in found


async def test_of_a_failed_run_says_why(client: httpx2.AsyncClient, database: Database) -> None:
    flow = make_flow(
        {"start": "Start", "bad": "Broken", "keep": "Keep"}, ["start.text -> bad.input", "bad.text -> keep.input"]
    )
    flow_id = await stored(database, flow)
    answer = await client.post(f"/flows/{flow_id}/runs", json={"wait": True, "text": "x"})
    run_ = answer.json()
    assert run_["status"] == "failed", run_
    found = text_of(await client.get(f"/flow-runs/{run_['id']}/report"))
    assert "Did not pass" in found
    assert run_["error"]["code"] in found


async def test_of_a_deleted_flow_a_run_still_has_one(client: httpx2.AsyncClient, database: Database) -> None:
    flow_id = await stored(database, a_flow())
    run_id = await run(client, flow_id)
    assert (await client.delete(f"/flows/{flow_id}")).status_code == 204
    assert (await client.get(f"/flows/{flow_id}/report")).status_code == 404
    assert "Passed" in text_of(await client.get(f"/flow-runs/{run_id}/report"))


async def test_a_run_of_another_flow_and_both_at_once_are_refused(
    client: httpx2.AsyncClient, database: Database
) -> None:
    flow_id, other = await stored(database, a_flow()), await stored(database, make_flow({"a": "Start"}))
    run_id = await run(client, flow_id)
    assert (await client.get(f"/flows/{other}/report", params={"run_id": run_id})).status_code == 404
    both = await client.get(f"/flows/{flow_id}/report", params={"run_id": run_id, "version": 1})
    assert both.status_code == 422


async def test_another_organisation_and_strangers_to_the_space_get_none(
    client: httpx2.AsyncClient, database: Database, parts: dict[str, Any]
) -> None:
    flow_id = await stored(database, a_flow())
    run_id = await run(client, flow_id)
    other = await add_tenant(database)
    stranger = await add_colleague(database, "Eva", Role.VIEWER, spaces=frozenset())
    for principal in (other, stranger):
        async with api(flows_router, reports_router, principal=principal, **parts) as theirs:
            for path in (
                f"/flows/{flow_id}/report",
                f"/flow-runs/{run_id}/report",
                f"/flows/{flow_id}/version-figures",
            ):
                assert (await theirs.get(path)).status_code in {403, 404}


async def test_says_how_to_get_the_packages_where_they_are_missing(
    client: httpx2.AsyncClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow_id = await stored(database, a_flow())
    monkeypatch.setattr(maker, "is_installed", lambda: False)
    answer = await client.get(f"/flows/{flow_id}/report")
    assert answer.status_code == 422
    assert answer.json()["code"] == "documents_not_installed"
    assert "pip install 'headgate[documents]'" in answer.json()["remedy"]


async def test_versions_have_their_makers_and_runs(client: httpx2.AsyncClient, database: Database) -> None:
    flow_id = await stored(database, a_flow())
    await run(client, flow_id)
    await run(client, flow_id)
    (found,) = (await client.get(f"/flows/{flow_id}/version-figures")).json()
    assert (found["version"], found["runs"], found["failed"]) == (1, 2, 0)
    assert found["made_by"]
    assert found["last_run_at"]


async def test_a_draft_and_a_version_are_exported_as_text_and_picture(
    client: httpx2.AsyncClient, database: Database
) -> None:
    flow_id = await stored(database, a_flow())
    await client.post(f"/flows/{flow_id}/publish", json={})
    svg = (await client.get(f"/flows/{flow_id}/export", params={"format": "svg"})).json()
    assert svg["content"].startswith("<svg ")
    assert "<script>" not in svg["content"]
    told = (await client.get(f"/flows/{flow_id}/export", params={"format": "json", "version": 1})).json()
    assert '"headgate_flow": 1' in told["content"]
    assert (await client.get(f"/flows/{flow_id}/export", params={"version": 7})).status_code == 404


async def test_the_diagram_of_a_run_shows_what_came_of_each_step(
    client: httpx2.AsyncClient, database: Database
) -> None:
    flow_id = await stored(database, a_flow())
    run_id = await run(client, flow_id)
    plain = await client.get(f"/flows/{flow_id}/picture")
    assert plain.headers["content-type"].startswith("image/svg+xml")
    shown = await client.get(f"/flows/{flow_id}/picture", params={"run_id": run_id})
    assert "completed, " in shown.text
    assert "completed, " not in plain.text
    assert HOSTILE.replace("<", "&lt;").replace(">", "&gt;") in shown.text


class Writing:
    """Takes the place of what writes a report's text, and takes as long as the test wants."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.begun = threading.Semaphore(0)
        self.go_on = threading.Event()
        self.connections = -1

    def __call__(self, _subject: Any) -> str:
        self.connections = cast("QueuePool", self.database.engine.pool).checkedout()
        self.begun.release()
        self.go_on.wait(PATIENCE_SECONDS)
        return "# Report"


@pytest.fixture
def writing(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Writing]:
    found = Writing(database)
    monkeypatch.setattr(service, "report", found)
    yield found
    found.go_on.set()


class TestLargeReports:
    async def test_are_refused_before_anything_is_drawn_and_say_what_to_take_instead(
        self, client: httpx2.AsyncClient, writing: Writing
    ) -> None:
        many: dict[str, str | Node] = {f"n{number}": "Start" for number in range(service.MOST_NODES + 1)}
        made = await client.post("/flows", json={"definition": make_flow(many).model_dump(mode="json")})
        assert made.status_code == 201, made.text
        flow_id = made.json()["id"]
        answer = await client.get(f"/flows/{flow_id}/report")
        assert (answer.status_code, answer.json()["code"]) == (413, "report_too_large")
        assert "Export the flow as JSON or as a diagram" in answer.json()["remedy"]
        assert writing.connections == -1, "nothing was written"
        assert (await client.get(f"/flows/{flow_id}/picture")).status_code == 200

    async def test_say_what_to_take_instead_when_they_take_too_long(
        self, client: httpx2.AsyncClient, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        flow_id = await stored(database, a_flow())
        monkeypatch.setattr(service, "make_document", partial(maker.make_document, seconds=0.01))
        answer = await client.get(f"/flows/{flow_id}/report")
        assert (answer.status_code, answer.json()["code"]) == (503, "document_timed_out")
        assert "Export the flow as JSON or as a diagram" in answer.json()["remedy"]


BACKGROUND_CONNECTIONS = 2
"""Of the work that a server repeats each second: free slots, handlers of failures."""


class TestReportsBeingMade:
    async def test_keep_nobody_waiting_and_no_connection(
        self, client: httpx2.AsyncClient, database: Database, writing: Writing
    ) -> None:
        flow_id = await stored(database, a_flow())
        report = asyncio.create_task(client.get(f"/flows/{flow_id}/report"))
        await asyncio.to_thread(writing.begun.acquire, timeout=PATIENCE_SECONDS)
        assert (await client.get(f"/flows/{flow_id}/graph")).status_code == 200
        assert not report.done()
        assert writing.connections <= BACKGROUND_CONNECTIONS
        writing.go_on.set()
        assert (await report).status_code == 200

    async def test_are_bounded_for_one_person(
        self, client: httpx2.AsyncClient, database: Database, parts: dict[str, Any], writing: Writing
    ) -> None:
        flow_id = await stored(database, a_flow())
        path = f"/flows/{flow_id}/report"
        reports = [asyncio.create_task(client.get(path)) for _ in range(service.MOST_OF_A_PERSON)]
        for _ in reports:
            await asyncio.to_thread(writing.begun.acquire, timeout=PATIENCE_SECONDS)
        refused = await client.get(path)
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_reports")
        colleague = await add_colleague(database, "Eva", Role.VIEWER)
        async with api(flows_router, reports_router, principal=colleague, **parts) as theirs:
            other = asyncio.create_task(theirs.get(path))
            await asyncio.to_thread(writing.begun.acquire, timeout=PATIENCE_SECONDS)
            writing.go_on.set()
            assert (await other).status_code == 200
        assert [(await one).status_code for one in reports] == [200] * len(reports)
        assert (await client.get(path)).status_code == 200
