"""Who may do what with runs and their files, over the whole application and on both databases."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import httpx2
import orjson
import pytest
from fastapi import FastAPI
from sqlalchemy import event

from headgate.entrypoints.http.app import create_app
from headgate.features.access.permissions import Permission, Role
from headgate.features.access.principal import LOCAL, Access, Actor, Principal
from headgate.features.audit.tables import AuditEvent
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from headgate.foundation.settings import LimitSettings, Settings
from tests.support.rows import execute
from tests.support.tenants import ActingAs, add_colleague, add_person, add_space, add_tenant

ECHO = {
    "name": "Echo",
    "nodes": [{"id": "heard", "type": "ChatInput"}, {"id": "said", "type": "ChatOutput"}],
    "edges": [{"source": "heard", "output": "text", "target": "said", "input": "input"}],
}
FAILING = {**ECHO, "nodes": [{"id": "heard", "type": "ChatInput", "policy": {"output_type": "json"}}, ECHO["nodes"][1]]}
MISSING = "00000000-0000-7000-8000-00000000dead"
LONG = "long " * 200


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[FastAPI]:
    small = LimitSettings(max_inline_text_bytes=256, max_inline_preview_bytes=64)
    made = create_app(settings.model_copy(update={"limits": small}))
    async with made.router.lifespan_context(made):
        yield made


@dataclass
class Person:
    """Somebody, and a client that acts as them."""

    principal: Principal
    client: httpx2.AsyncClient

    async def ask(self, method: str, path: str, status: int, **more: Any) -> Any:
        answer = await self.client.request(method, path, **more)
        assert answer.status_code == status, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if "json" in answer.headers.get("content-type", "") else answer.content

    async def upload(self, name: str = "a.txt", content: bytes = b"content") -> str:
        made = await self.ask("POST", "/files", 201, files={"file": (name, content, "text/plain")})
        return str(made["id"])

    async def flow(self, definition: dict[str, Any], *, publish: bool = True) -> str:
        flow_id = str((await self.ask("POST", "/flows", 201, json={"definition": definition}))["id"])
        if publish:
            await self.ask("POST", f"/flows/{flow_id}/publish", 200, json={})
        return flow_id

    async def run(self, flow_id: str, status: int = 201, **start: Any) -> Any:
        wanted = {"text": "hello", "version": "published", "wait": True, **start}
        return await self.ask("POST", f"/flows/{flow_id}/runs", status, json=wanted)


Become = Callable[[Principal], Person]


@pytest.fixture
async def become(app: FastAPI) -> AsyncIterator[Become]:
    clients: list[httpx2.AsyncClient] = []

    def made(principal: Principal) -> Person:
        transport = httpx2.ASGITransport(app=ActingAs(app, principal), raise_app_exceptions=False)
        clients.append(httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411/api/v1", timeout=60))
        return Person(principal, clients[-1])

    yield made
    await asyncio.gather(*(client.aclose() for client in clients))


@dataclass
class Place:
    """People of one tenant: the admin, one of each role in the default space, and one of another space."""

    app: FastAPI
    become: Become
    admin: Person
    people: dict[str, Person] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Person:
        return self.people[name]

    def with_key(self, whose: str, *scopes: Permission) -> Person:
        principal = self.people[whose].principal
        return self.become(replace(principal, access=replace(principal.access, scopes=frozenset(scopes))))


@pytest.fixture
async def place(app: FastAPI, database: Database, become: Become) -> Place:
    found = Place(app, become, become(LOCAL))
    for role in (Role.VIEWER, Role.RUNNER, Role.EDITOR):
        found.people[role.value] = become(await add_colleague(database, role.value, role))
    space_id = new_id()
    stranger = Principal(
        tenant_id=LOCAL.tenant_id,
        user_id=new_id(),
        space_id=space_id,
        access=Access(roles={space_id: Role.OWNER}),
        actor=Actor("user", "stranger"),
    )
    await add_person(database, stranger, name="stranger")
    await add_space(database, stranger, name="Elsewhere")
    found.people["stranger"] = become(stranger)
    return found


@dataclass
class Things:
    """What there is to ask about: a run that is completed, one that failed, and their files."""

    flow_id: str
    run_id: str
    failed_flow_id: str
    failed_run_id: str
    upload_id: str
    artifact_id: str
    delivery_id: str

    def looks(self) -> Iterator[str]:
        """Everything that `runs.view`, `flows.view` or `files.view` shows of them."""
        run = f"/flow-runs/{self.run_id}"
        yield from (run, f"{run}/events", f"{run}/evidence", f"{run}/evidence?format=zip", f"{run}/steps/said")
        yield from (
            f"{run}/deliveries",
            f"/flows/{self.flow_id}/graph",
            f"/flows/{self.flow_id}/graph?run_id={self.run_id}",
        )
        for file_id in (self.upload_id, self.artifact_id):
            yield from (f"/files/{file_id}", f"/files/{file_id}/content")
        yield f"/artifacts/{self.artifact_id}"

    def deeds(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Everything that `runs.start` does to them, each of which must be possible."""
        run = f"/flow-runs/{self.run_id}"
        yield f"/flows/{self.flow_id}/runs", {"text": "again", "version": "published", "wait": True}
        yield f"/flows/{self.flow_id}/dry-run", {"version": "published"}
        yield f"{run}/cancel", {}
        yield f"{run}/rerun-plan", {}
        yield f"{run}/rerun", {"text": "other", "wait": True}
        yield f"{run}/redeliver", {}
        yield f"{run}/deliveries/{self.delivery_id}/redeliver", {}
        yield f"/flow-runs/{self.failed_run_id}/resume", {"wait": True}


@pytest.fixture
async def things(place: Place, database: Database) -> Things:
    flow_id, failed_flow_id = await place.admin.flow(ECHO), await place.admin.flow(FAILING)
    upload = await place.admin.upload()
    run = await place.admin.run(flow_id, text=LONG, file_ids=[upload])
    failed = await place.admin.run(failed_flow_id)
    assert (run["status"], failed["status"]) == ("completed", "failed")
    made = await place.admin.ask("GET", f"/files?flow_run_id={run['id']}", 200)
    delivery = new_id()
    await execute(
        database,
        "INSERT INTO webhook_deliveries (id, tenant_id, flow_run_id, flow_id, step_id, status, target, url_shown, "
        "idempotency_key, attempts, created_at) "
        "VALUES (:id, :tenant, :run, :flow, 'said', 'failed', :target, 'x', :id, 1, 1)",
        id=delivery,
        tenant=LOCAL.tenant_id,
        run=run["id"],
        flow=flow_id,
        target=b"sealed",
    )
    return Things(flow_id, run["id"], failed_flow_id, failed["id"], upload, made["items"][0]["id"], delivery)


class TestRuns:
    async def test_are_not_there_for_people_of_other_spaces(self, place: Place, things: Things) -> None:
        stranger = place.stranger
        for path in things.looks():
            await stranger.ask("GET", path, 404)
        for path, body in things.deeds():
            await stranger.ask("POST", path, 404, json=body)
        for path in (
            "/flow-runs",
            f"/flow-runs?flow_id={things.flow_id}",
            "/files",
            f"/files?flow_run_id={things.run_id}",
        ):
            assert (await stranger.ask("GET", path, 200))["items"] == []

    async def test_are_hidden_in_the_words_for_what_never_was(self, place: Place, things: Things) -> None:
        for path, id_ in (
            (f"/flow-runs/{things.run_id}", things.run_id),
            (f"/files/{things.upload_id}", things.upload_id),
        ):
            hidden = orjson.dumps(await place.stranger.ask("GET", path, 404)).decode()
            missing = orjson.dumps(await place.stranger.ask("GET", path.replace(id_, MISSING), 404)).decode()
            assert hidden.replace(id_, MISSING) == missing

    async def test_are_seen_by_viewers_who_may_do_nothing_to_them(self, place: Place, things: Things) -> None:
        viewer = place.viewer
        for path in things.looks():
            await viewer.ask("GET", path, 200)
        for path, body in things.deeds():
            told = await viewer.ask("POST", path, 403, json=body)
            assert (told["code"], told["permission"]) == ("permission_missing", "runs.start")
        assert {run["id"] for run in (await viewer.ask("GET", "/flow-runs", 200))["items"]} == {
            things.run_id,
            things.failed_run_id,
        }
        upload = await viewer.ask("POST", "/files", 403, files={"file": ("a", b"x")})
        assert upload["permission"] == "files.upload"

    async def test_are_started_and_repeated_by_runners(self, place: Place, things: Things) -> None:
        runner = place.runner
        for path, body in things.deeds():
            answer = await runner.client.post(path, json=body)
            assert answer.is_success, f"{path}: {answer.text}"
            await place.app.state.engine.services.deliveries.settle()
        mine = [run for run in (await runner.ask("GET", "/flow-runs", 200))["items"] if run["id"] != things.run_id]
        assert {run["user_id"] for run in mine if run["flow_id"] == things.flow_id} == {runner.principal.user_id}

    async def test_of_drafts_are_for_editors(self, place: Place, things: Things) -> None:
        await place.admin.ask("PATCH", f"/flows/{things.flow_id}", 200, json={"description": "changed"})
        draft = (await place.editor.run(things.flow_id, version="draft"))["version"]
        for version in ("draft", draft):
            told = await place.runner.run(things.flow_id, 403, version=version)
            assert told["permission"] == "runs.test"
            path = f"/flows/{things.flow_id}/dry-run"
            assert (await place.runner.ask("POST", path, 403, json={"version": version}))["permission"] == "runs.test"
            await place.editor.ask("POST", path, 200, json={"version": version})
            again = f"/flow-runs/{things.run_id}/rerun"
            assert (await place.runner.ask("POST", again, 403, json={"version": version}))["permission"] == "runs.test"

    async def test_of_a_version_never_published_are_resumed_and_repeated_by_editors(self, place: Place) -> None:
        flow_id = await place.editor.flow(FAILING, publish=False)
        failed = await place.editor.run(flow_id, version="draft")
        for deed in ("resume", "rerun", "rerun-plan"):
            told = await place.runner.ask("POST", f"/flow-runs/{failed['id']}/{deed}", 403, json={})
            assert told["permission"] == "runs.test"
        await place.runner.ask("POST", f"/flow-runs/{failed['id']}/cancel", 200)
        assert (await place.editor.ask("POST", f"/flow-runs/{failed['id']}/resume", 200, json={}))["how"] == "in_place"

    async def test_answer_a_key_that_may_only_start_them(self, place: Place, things: Things) -> None:
        key = place.with_key("runner", Permission.RUNS_START)
        run = await key.run(things.flow_id)
        assert (run["status"], run["text"]) == ("completed", "hello")
        told = await key.ask("GET", f"/flow-runs/{run['id']}", 403)
        assert (told["permission"], "API key" in told["detail"]) == ("runs.view", True)
        await key.ask("POST", f"/flow-runs/{run['id']}/rerun", 201, json={"wait": True})
        await key.ask("POST", f"/flow-runs/{things.run_id}/redeliver", 200)
        await key.ask("POST", f"/flow-runs/{run['id']}/cancel", 200)
        for deed in ("pause", "continue"):
            assert (await key.ask("POST", f"/flow-runs/{run['id']}/{deed}", 409))["code"] == "run_over"

    async def test_are_shown_to_a_key_that_may_only_look(self, place: Place, things: Things) -> None:
        key = place.with_key("editor", Permission.RUNS_VIEW)
        run = f"/flow-runs/{things.run_id}"
        for path in (run, f"{run}/evidence", f"{run}/steps/said", f"{run}/deliveries", "/flow-runs", "/evidence-keys"):
            await key.ask("GET", path, 200)
        for deed in ("cancel", "pause", "continue"):
            assert (await key.ask("POST", f"{run}/{deed}", 403))["permission"] == "runs.start"


class TestChats:
    async def test_of_two_people_stay_apart(self, place: Place, things: Things) -> None:
        """A failed turn that another resumes on another version is no turn of their own chat."""
        failed = await place.admin.run(things.failed_flow_id, session_id="chat")
        repaired = {**ECHO, "name": "Repaired"}
        flow = await place.admin.ask("GET", f"/flows/{things.failed_flow_id}", 200)
        draft = {"definition": repaired, "revision": flow["revision"]}
        await place.admin.ask("PATCH", f"/flows/{things.failed_flow_id}/draft", 200, json=draft)
        await place.admin.ask("POST", f"/flows/{things.failed_flow_id}/publish", 200, json={})
        path = f"/flow-runs/{failed['id']}/resume"
        theirs = await place.runner.ask("POST", path, 200, json={"version": "published", "wait": True})
        assert theirs["run"]["session_id"] is None
        assert theirs["run"]["user_id"] == place.runner.principal.user_id
        own = await place.admin.ask("POST", path, 200, json={"version": "published", "wait": True})
        assert own["run"]["session_id"] == "chat"


class TestFiles:
    async def test_are_their_owners_alone_until_a_run_takes_them(self, place: Place, things: Things) -> None:
        file_id = await place.runner.upload()
        others = [place.viewer, place.editor, place.stranger, place.admin]
        for person in others:
            for path in (f"/files/{file_id}", f"/files/{file_id}/content"):
                await person.ask("GET", path, 404)
            assert file_id not in str(await person.ask("GET", "/files", 200))
        await place.runner.ask("GET", f"/files/{file_id}/content", 200)
        await place.runner.ask("POST", f"/flow-runs/{things.run_id}/rerun-plan", 200, json={"file_ids": [file_id]})
        await place.viewer.ask("GET", f"/files/{file_id}", 404)
        await place.runner.run(things.flow_id, file_ids=[file_id])
        for person in (place.viewer, place.editor, place.admin):
            await person.ask("GET", f"/files/{file_id}/content", 200)
            assert file_id in str(await person.ask("GET", "/files", 200))
        await place.stranger.ask("GET", f"/files/{file_id}", 404)

    async def test_stay_in_the_first_space_that_took_them(self, place: Place, things: Things, become: Become) -> None:
        both = place.stranger.principal
        roles = {**both.access.roles, LOCAL.space_id: Role.RUNNER}
        person = become(replace(both, access=Access(roles=roles)))
        file_id = await person.upload()
        await person.run(await person.flow(ECHO), file_ids=[file_id])
        run = await person.run(things.flow_id, file_ids=[file_id])
        assert run["input"]["file_ids"] == [file_id]
        await place.viewer.ask("GET", f"/files/{file_id}", 404)
        evidence = await place.viewer.ask("GET", f"/flow-runs/{run['id']}/evidence", 200)
        assert evidence["run"]["input"]["files"][0]["id"] == file_id

    async def test_of_a_past_run_are_taken_again_only_by_who_sees_them(
        self, place: Place, things: Things, become: Become
    ) -> None:
        both = place.stranger.principal
        person = become(replace(both, access=Access(roles={**both.access.roles, LOCAL.space_id: Role.RUNNER})))
        file_id = await person.upload()
        await person.run(await person.flow(ECHO), file_ids=[file_id])
        run = await person.run(things.flow_id, file_ids=[file_id])
        again = f"/flow-runs/{run['id']}/rerun"
        for path in (again, f"{again}-plan"):
            assert (await place.runner.ask("POST", path, 404, json={}))["code"] == "file_not_found"
        other = await place.runner.ask("POST", again, 201, json={"file_ids": [], "wait": True})
        assert (other["user_id"], other["input"]["file_ids"]) == (place.runner.principal.user_id, [])
        assert (await person.ask("POST", again, 201, json={"wait": True}))["input"]["file_ids"] == [file_id]

    async def test_of_somebody_else_are_refused_as_if_they_were_not_there(self, place: Place, things: Things) -> None:
        theirs = await place.stranger.upload()
        private = await place.editor.upload()
        asking = {**ECHO, "name": "Asks", "form": [{"id": "paper", "type": "document"}]}
        form = await place.admin.flow(asking)
        for file_id in (theirs, private, MISSING):
            starts = ((things.flow_id, {"file_ids": [file_id]}), (form, {"form_data": {"paper": file_id}}))
            for flow_id, given in starts:
                told = await place.runner.run(flow_id, 404, **given)
                assert told["code"] == "file_not_found"
            path = f"/flow-runs/{things.run_id}/rerun"
            assert (await place.runner.ask("POST", path, 404, json={"file_ids": [file_id]}))["code"] == "file_not_found"
            dry = {"version": "published", "file_ids": [file_id], "form_data": {}}
            found = await place.runner.ask("POST", f"/flows/{things.flow_id}/dry-run", 200, json=dry)
            assert [one["code"] for one in found["findings"]] == ["file_not_found"]

    async def test_of_another_space_are_read_by_no_step_that_knows_their_id(self, place: Place, things: Things) -> None:
        """An author may write any id into a flow: that makes nobody see the file."""
        secret = await place.stranger.upload("secret.txt", b"the other room's secret")
        await place.stranger.run(await place.stranger.flow(ECHO), file_ids=[secret])
        for file_id, expected in ((secret, "failed"), (things.upload_id, "completed")):
            value = {"id": file_id, "name": "a.txt", "media_type": "text/plain", "size": 1}
            nodes = [
                {"id": "read", "type": "ReadFile", "params": {"file": value}},
                {"id": "said", "type": "ChatOutput"},
            ]
            edges = [{"source": "read", "output": "text", "target": "said", "input": "input"}]
            flow_id = await place.editor.flow({"name": "Reads", "nodes": nodes, "edges": edges}, publish=False)
            run = await place.editor.run(flow_id, version="draft")
            assert run["status"] == expected, run
            assert "secret" not in orjson.dumps(run).decode().replace("secret.txt", "")
            if expected == "failed":
                assert run["error"]["code"] == "file_not_found"

    async def test_of_another_space_come_into_no_evidence(
        self, place: Place, things: Things, database: Database
    ) -> None:
        secret = await place.stranger.upload("secret.txt", b"the other room's secret")
        await place.stranger.run(await place.stranger.flow(ECHO), file_ids=[secret])
        forged = orjson.dumps({"outputs": {}, "file_ids": [secret, things.upload_id]}).decode()
        await execute(
            database,
            "UPDATE flow_step_results SET output_payload = CAST(:payload AS JSON) WHERE flow_run_id = :run"
            if database.engine.dialect.name == "postgresql"
            else "UPDATE flow_step_results SET output_payload = :payload WHERE flow_run_id = :run",
            payload=forged,
            run=things.run_id,
        )
        answer = await place.editor.client.get(f"/flow-runs/{things.run_id}/evidence?format=zip")
        assert b"content" in answer.content
        assert b"the other room's secret" not in answer.content

    async def test_of_ones_own_in_another_space_are_not_for_a_key_of_one_space(
        self, place: Place, become: Become
    ) -> None:
        both = place.stranger.principal
        roles = {**both.access.roles, LOCAL.space_id: Role.EDITOR}
        person = become(replace(both, access=Access(roles=roles)))
        taken, untaken = await person.upload(), await person.upload()
        await person.run(await person.flow(ECHO), file_ids=[taken])
        key = become(replace(both, access=Access(roles=roles, spaces=frozenset({LOCAL.space_id}))))
        assert [one["id"] for one in (await key.ask("GET", "/files", 200))["items"]] == [untaken]
        await key.ask("GET", f"/files/{taken}/content", 404)


class TestOperator:
    async def test_runs_flows_with_files_in_an_organisation_without_people(
        self, database: Database, become: Become
    ) -> None:
        """A command acts for whoever keeps the installation, who need not be anybody there."""
        there = await add_tenant(database)
        flow_id = await become(there).flow(ECHO)
        await execute(database, "DELETE FROM users WHERE tenant_id = :tenant", tenant=there.tenant_id)
        nobody = become(replace(there, user_id="", actor=Actor("command", "root")))
        file_id = await nobody.upload()
        run = await nobody.run(flow_id, file_ids=[file_id], session_id="chat")
        assert (run["status"], run["user_id"]) == ("completed", None)
        await nobody.ask("GET", f"/files/{file_id}/content", 200)
        assert (await become(LOCAL).ask("GET", "/files", 200))["items"] == []


class TestAudit:
    async def test_tells_who_uploaded_shared_and_delivered_again(
        self, place: Place, things: Things, database: Database
    ) -> None:
        file_id = await place.runner.upload("report.txt")
        await place.runner.run(things.flow_id, file_ids=[file_id])
        await place.runner.ask("POST", f"/flow-runs/{things.run_id}/redeliver", 200)
        async with database.reading() as session:
            rows = (await session.execute(AuditEvent.__table__.select().order_by(AuditEvent.seq))).all()
        mine = [row for row in rows if row.actor_id == place.runner.principal.user_id]
        told = [(row.action, row.resource_id, row.resource_name, row.space_id) for row in mine]
        assert ("file.uploaded", file_id, "report.txt", None) in told
        assert ("file.shared", file_id, "report.txt", LOCAL.space_id) in told
        assert ("delivery.redelivered", things.delivery_id, "said", LOCAL.space_id) in told
        assert sum(action == "file.shared" for action, *_ in told) == 1


DECISIONS = {
    "/api/v1/deliveries/redeliver",
    "/api/v1/approvals/{approval_id}/decision",
    "/api/v1/approvals/decisions",
    "/api/v1/flow-runs/actions",
    "/api/v1/flow-runs/{run_id}/breakpoints/continue",
    "/api/v1/approvals/{approval_id}/links",
    "/api/v1/approvals/{approval_id}/links/{link_id}",
    "/api/v1/events",
    "/api/v1/chat/conversations",
    "/api/v1/chat/conversations/{conversation_id}",
    "/api/v1/chat/conversations/{conversation_id}/messages/{run_id}/feedback",
}
"""Routes that name what a run has left or waits for, or a flow to chat with, and start nothing."""


class TestRouteContracts:
    """Who may only start runs brings inputs, never a flow."""

    def test_take_inputs_and_no_flow(self, app: FastAPI) -> None:
        document = app.openapi()
        inputs = {"text", "form_data", "file_ids", "session_id"}
        choices = {"version", "wait", "from_step", "only_step", "pins", "deadline_seconds", "budget", "priority"}
        choices |= {"stop_before", "step_through"}
        seen = set()
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                if not isinstance(operation, dict) or operation.get("x-permission") != "runs.start":
                    continue
                seen.add(f"{method} {path}")
                if path in DECISIONS:
                    continue
                if path.startswith("/v1/"):
                    continue  # of OpenAI's shape: what is not a message is ignored, as test_completions.py shows
                for kind, content in operation.get("requestBody", {}).get("content", {}).items():
                    assert kind == "application/json"
                    for schema in _objects(document, content["schema"]):
                        assert schema["additionalProperties"] is False, path
                        assert set(schema["properties"]) <= inputs | choices, path
                        for name, member in schema["properties"].items():
                            assert name in {"form_data", "pins", "budget"} or not _holds_objects(document, member), (
                                f"{path}: {name}"
                            )
        assert seen >= {
            "post /api/v1/flows/{flow_id}/runs",
            "post /api/v1/flows/{flow_id}/dry-run",
            "post /api/v1/flow-runs/{run_id}/rerun",
            "post /api/v1/flow-runs/{run_id}/rerun-plan",
            "post /api/v1/flow-runs/{run_id}/resume",
            "post /api/v1/flow-runs/{run_id}/cancel",
        }

    @pytest.mark.parametrize(
        "extra", ["definition", "flow", "nodes", "edges", "params", "code", "components", "tweaks", "model", "user_id"]
    )
    async def test_refuse_whatever_else_is_sent(self, place: Place, things: Things, extra: str) -> None:
        before = len((await place.admin.ask("GET", "/flow-runs", 200))["items"])
        for path, body in things.deeds():
            if path.rpartition("/")[2] in {"cancel", "redeliver"}:
                continue  # they take no body
            for value in (ECHO, [ECHO], "text"):
                told = await place.runner.ask("POST", path, 422, json={**body, extra: value})
                assert extra in orjson.dumps(told).decode()
        assert len((await place.admin.ask("GET", "/flow-runs", 200))["items"]) == before

    async def test_take_no_flow_as_an_answer_of_the_form(self, place: Place, things: Things) -> None:
        wrong: tuple[dict[str, Any], ...] = ({"definition": ECHO}, {"heard": {"params": {}}})
        for answers in wrong:
            told = await place.runner.run(things.flow_id, 422, form_data=answers)
            assert told["code"] == "run_input_invalid"


def _resolved(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return schema
    found: dict[str, Any] = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return found


def _objects(document: dict[str, Any], schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The objects that a body may be."""
    found = _resolved(document, schema)
    for one in found.get("anyOf", ()):
        yield from _objects(document, one)
    if found.get("type") == "object":
        yield found


def _holds_objects(document: dict[str, Any], schema: dict[str, Any]) -> bool:
    """Whether a member takes JSON objects anywhere, or anything at all."""
    found = _resolved(document, schema)
    parts = [*found.get("anyOf", ()), *found.get("oneOf", ()), *([found["items"]] if "items" in found else ())]
    if parts:
        return any(_holds_objects(document, one) for one in parts)
    return found.get("type") not in {"string", "integer", "boolean", "null", "number"} and "const" not in found


class TestCosts:
    """What permissions cost in statements; the run store's own are not SQLAlchemy's."""

    async def test_of_whoever_sees_every_space_are_nothing(self, place: Place, things: Things) -> None:
        await place.admin.run(things.flow_id)
        with statements(place.app.state.database) as sent:
            run = await place.admin.run(things.flow_id)
        assert len(sent) == 1, sent  # the version is pinned
        with statements(place.app.state.database) as sent:
            await place.admin.ask("GET", f"/flow-runs/{run['id']}", 200)
            await place.admin.ask("POST", f"/flow-runs/{run['id']}/cancel", 200)
        assert sent == []
        with statements(place.app.state.database) as sent:
            await place.admin.ask("GET", "/flow-runs", 200)
        assert len(sent) == 1
        assert "spaces" not in sent[0]
        assert "JOIN flows" not in sent[0]

    async def test_of_everybody_else_are_one_look_at_each_flow(self, place: Place, things: Things) -> None:
        runner = place.runner
        with statements(place.app.state.database) as sent:
            await runner.ask("GET", f"/flow-runs/{things.run_id}", 200)
        assert len(sent) <= 1
        run = await runner.run(things.flow_id)
        with statements(place.app.state.database) as sent:
            await runner.ask("GET", f"/flow-runs/{run['id']}", 200)
            await runner.ask("POST", f"/flow-runs/{run['id']}/cancel", 200)
        assert sent == []
        with statements(place.app.state.database) as sent:
            await runner.ask("GET", "/flow-runs", 200)
        assert len(sent) == 1


BY_THEMSELVES = (
    *("scheduled_jobs", "codev_sessions", "ORDER BY audit_heads.tenant_id", "run_slots", "failure_handlers"),
    "processes",
    *("triggers", "trigger_occurrences", "trigger_links", "knowledge_", "approval_notices", "alert_", "alerts", "slo"),
)
"""In statements that come by themselves, on a slow machine within those of a request."""


@contextmanager
def statements(database: Database) -> Iterator[list[str]]:
    """What is asked of the application's database while it lasts."""
    sent: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if not statement.startswith("BEGIN") and not any(one in statement for one in BY_THEMSELVES):
            sent.append(statement)

    engine = database.engine.sync_engine
    event.listen(engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(engine, "before_cursor_execute", note)
