"""Nobody starts a run with a file that they may not open, by whichever route.

Generated from the form's field types and from the routes that take answers or files. What is no id of a file is refused
before the database is asked: on PostgreSQL `make test` sends the ids as one asker, `make test-faults` everything.
"""

import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args

import httpx2
import orjson
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute, RouteContext
from pydantic import SecretStr, TypeAdapter
from sqlalchemy import select

from headgate.entrypoints.http.declarations import declarations
from headgate.entrypoints.http.lazy_routes import load_routes
from headgate.features.files.tables import StoredFile
from headgate.features.runs.form import READERS
from headgate.features.runs.widget.tokens import VISIT_SECONDS, seal
from headgate.foundation.settings import RateLimitSettings, Settings
from headgate.graph.model import CHOICE_FIELD_TYPES, FILE_FIELD_TYPES, FormFieldType
from tests.integration.features.runs.test_widget import Visitor
from tests.support.images import png
from tests.support.people import add_key, bearer
from tests.support.properties import THOROUGH
from tests.support.team import Team, team

TYPES: tuple[str, ...] = get_args(FormFieldType)
FORM = [{"id": f"of_{one}", "type": one, **({"options": ["a"]} if one in CHOICE_FIELD_TYPES else {})} for one in TYPES]
FLOW: dict[str, Any] = {
    "name": "Take",
    "nodes": [{"id": "answers", "type": "FormInput"}, {"id": "said", "type": "ChatOutput"}],
    "edges": [{"source": "answers", "output": "text", "target": "said", "input": "input"}],
    "form": FORM,
    "settings": {"widget": {"enabled": True}},
}
KEEPS = "name: Keep\nnodes:\n  heard: ChatInput\n  kept: SaveFile\nedges:\n  heard.message -> kept.content\n"
SECRET = "the-value-of-the-variable-9Kd2"
DATA = {"of_text", "of_long_text", "of_json"}
"""Fields whose answer is data, whatever it says."""
RECEIVERS = {"form_data", "form", "file_ids", "files", "form_files"}
"""Members of a request that take answers to a form or files."""
DOORS = {
    ("POST", "/w/{flow_id}/runs"),
    ("POST", "/v1/chat/completions"),
    ("POST", "/api/v1/flows/{flow_id}/runs"),
    ("POST", "/api/v1/flows/{flow_id}/dry-run"),
    ("POST", "/api/v1/flow-runs/{run_id}/rerun"),
    ("POST", "/api/v1/flow-runs/{run_id}/rerun-plan"),
}
"""Routes that this module attacks."""
_DEFINITION = "`form` is a flow's own definition of its form, not an answer"
_BY_EDITORS = "for editors, who have files.view; what it runs is started as a run of the API is"
_OF_TRIGGERS = "features/triggers/test_triggers.py::TestOwners::test_give_away_no_file_that_only_they_see"
_OF_CHATS = "features/runs/chat/test_conversations.py::TestMessages::test_take_no_file_that_the_user_may_not_view"
ELSEWHERE = {
    ("POST", "/api/v1/flows"): _DEFINITION,
    ("PATCH", "/api/v1/flows/{flow_id}/draft"): _DEFINITION,
    ("POST", "/api/v1/codev/sessions/{session_id}/resume"): _BY_EDITORS,
    ("POST", "/api/v1/codev/sessions/{session_id}/stream"): _BY_EDITORS,
    ("PUT", "/api/v1/flows/{flow_id}/tests"): "for editors, who have files.view; features/testing/test_files.py",
    ("POST", "/api/v1/flows/{flow_id}/extract"): _DEFINITION,
    ("POST", "/api/v1/flows/{flow_id}/inline"): _DEFINITION,
    ("POST", "/api/v1/flows/{flow_id}/triggers"): _OF_TRIGGERS,
    ("PATCH", "/api/v1/triggers/{trigger_id}"): _OF_TRIGGERS,
    ("POST", "/api/v1/triggers/{trigger_id}/fire"): _OF_TRIGGERS,
    ("POST", "/api/v1/chat/conversations/{conversation_id}/messages"): _OF_CHATS,
    ("POST", "/forms/{token}/submissions"): "for visitors, by tokens of their visit; features/triggers/test_forms.py",
    ("POST", "/api/v1/agentic/assist"): _BY_EDITORS,
    ("POST", "/api/v1/agentic/assist/stream"): _BY_EDITORS,
}
Send = Callable[[str, dict[str, Any], dict[str, Any]], Any]


@dataclass
class Place:
    """A published flow with a field of each type, a file of each kind that must not be opened, and who tries."""

    us: Team
    flow_id: str
    visitor: Visitor
    own: str
    """Token of the visitor's own upload."""
    foreign: dict[str, str]
    """What the visitor, and a key without `files.view`, may not use, by what it is: ids and tokens."""
    ids: frozenset[str]
    """The ids of those files."""
    run_id: str

    async def clients(self) -> dict[str, httpx2.AsyncClient]:
        """Keys of people of the space that are not for `files.view`."""
        found: dict[str, httpx2.AsyncClient] = {}
        for name, who, scopes in (
            ("a key that only runs", "runner", ["runs.start"]),
            ("a key that runs and uploads", "runner", ["runs.start", "files.upload"]),
            ("an owner's key that runs and sees runs", "owner", ["runs.start", "runs.view"]),
        ):
            key = await add_key(self.us.database, self.us.people[who], scopes=scopes)
            client = _client(self.us.app)
            client.headers.update(bearer(key))
            found[name] = client
        return found

    async def taken(self) -> set[str]:
        """Ids of the files that any run of the flow was given."""
        runs = (await self.us.get("admin", "/flow-runs", params={"flow_id": self.flow_id, "limit": 200}))["items"]
        inputs = [(await self.us.get("admin", f"/flow-runs/{run['id']}"))["input"] for run in runs]
        return {file_id for given in inputs for file_id in given["file_ids"]}


def _client(app: FastAPI) -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False, client=("192.0.2.7", 5))
    return httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411")


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings, rate_limits=RateLimitSettings(widget_per_minute=10_000)) as found:
        yield found


@pytest.fixture
async def place(us: Team) -> AsyncIterator[Place]:
    flow_id, other_flow = await _published(us, FLOW), await _published(us, FLOW | {"name": "Other"})
    assert (await us.ask("admin", "PUT", "/variables/MY_TOKEN", json={"value": SECRET})).is_success
    keeper = await us.make("editor", "/flows", spec=KEEPS)
    made = await us.make("editor", f"/flows/{keeper['id']}/runs", text="secret of a run", wait=True)
    upload = await us.ask("editor", "POST", "/files", files={"file": ("b.txt", b"an editor's", "text/plain")})
    async with _client(us.app) as http, _client(us.app) as elsewhere:
        visitor, stranger, visitor_of_other = (
            Visitor(http, flow_id),
            Visitor(elsewhere, flow_id),
            Visitor(elsewhere, other_flow),
        )
        own, theirs, of_other = [await _uploaded(one) for one in (visitor, stranger, visitor_of_other)]
        first = await visitor.run(form_data={"of_text": "x"})
        async with us.database.reading() as session:
            ids = set((await session.execute(select(StoredFile.id))).scalars())
        box = us.app.state.box
        mine = orjson.loads(box.decrypt(own.encode()).get_secret_value())
        about = {"file": mine["file"], "flow": flow_id, "visitor": mine["visitor"]}
        aged = orjson.dumps({"kind": "widget.upload", "at": int(time.time()) - VISIT_SECONDS - 60, **about}).decode()
        foreign = {f"the id of file {number}": file_id for number, file_id in enumerate(sorted(ids))}
        foreign |= {
            "a token of another visitor": theirs,
            "a token of another flow": of_other,
            "an expired token": box.encrypt(SecretStr(aged)).decode(),
            "a token for downloads": seal(box, "file", **about),
            "a token of a run": first,
            "the token of the visit": visitor.visit,
            "a changed token": own[:-6] + "AAAAAA",
            "the name of a variable": "MY_TOKEN",
            "a reference to a variable": "{{MY_TOKEN}}",
            "a name of a file": "b.txt",
        }
        assert made["output"]["file_ids"], made
        assert upload.json()["id"] in ids
        runs = (await us.get("admin", "/flow-runs", params={"flow_id": flow_id}))["items"]
        yield Place(us, flow_id, visitor, own, foreign, frozenset(ids), runs[0]["id"])


async def _published(us: Team, definition: Mapping[str, Any]) -> str:
    flow_id = str((await us.make("editor", "/flows", definition=definition))["id"])
    await us.make("publisher", f"/flows/{flow_id}/publish")
    return flow_id


async def _uploaded(visitor: Visitor) -> str:
    await visitor.load()
    sent = await visitor.post("files", files={"file": ("a.txt", b"a visitor's", "text/plain")})
    assert sent.status_code == 201, sent.text
    return str(sent.json()["token"])


def _answers(value: str) -> Iterator[dict[str, Any]]:
    """Every place of a form, and a field that it does not have, answered with a value in every shape."""
    for field in [*(str(one["id"]) for one in FORM), "of_nothing"]:
        for shape in (value, [value], {"id": value, "name": "a", "media_type": "text/plain", "size": 1}):
            yield {field: shape}


def _members(value: str) -> Iterator[dict[str, Any]]:
    """The same as members of the request, known and unknown."""
    for name in sorted(RECEIVERS - {"form_data"}):
        for shape in ([value], {"of_file": [value]}):
            yield {name: shape}


class TestEveryDoor:
    def test_is_known_here(self, us: Team) -> None:
        load_routes(us.app)
        routes = {door for route, _ in declarations(us.app) for door in _doors(route)}
        assert routes == DOORS | ELSEWHERE.keys(), (
            "A route takes answers or files and is not attacked here (or is gone). Add it to DOORS and its request to "
            "the tests below, or to ELSEWHERE with the test that attacks it."
        )

    def test_reads_every_type_of_field(self) -> None:
        assert READERS.keys() == set(TYPES)


class TestVisitors:
    async def test_give_their_own_uploads(self, place: Place) -> None:
        sent = await place.visitor.post("files", files={"file": ("a.png", png(), "image/png")})
        assert sent.status_code == 201, sent.text
        picture = sent.json()["token"]
        await place.visitor.run(form_data={"of_file": [place.own], "of_image": picture, "of_text": "x"})
        assert len(await place.taken()) == 2

    async def test_open_nothing_else(self, place: Place) -> None:
        seen = 0
        for what, value in place.foreign.items():
            for body in (*({"form_data": one} for one in _answers(value)), *_members(value)):
                answer = await place.visitor.post("runs", json=body)
                seen += 1
                name = next(iter(body.get("form_data", {"": 0})))
                if answer.status_code == 201:
                    assert name in DATA, f"{what} started a run: {body}"
                    assert SECRET not in (await place.visitor.events(answer.json()["run"])).text
                else:
                    assert answer.status_code in {403, 422}, f"{what}: {answer.status_code} {answer.text}"
                    assert not any(file_id in answer.text for file_id in place.ids - {value})
        assert await place.taken() == set()
        assert seen >= len(place.foreign) * len(FORM) * 3


class TestKeysWithoutFilesView:
    async def test_open_no_file_of_their_space(self, place: Place) -> None:
        ids = {what: value for what, value in place.foreign.items() if value in place.ids}
        clients = [*(await place.clients()).items()]
        for number, (who, client) in enumerate(clients if THOROUGH else clients[:1]):
            for what, value in (place.foreign if THOROUGH and not number else ids).items():
                for door, body in _requests(place, value):
                    answer = await client.post(door, json=body)
                    assert SECRET not in answer.text, f"{who} at {door} with {what}"
                    if "dry-run" in door and answer.is_success and _names_file(body):
                        assert not answer.json()["ok"], f"{who} learns of a file at {door} with {what}: {body}"
                    assert answer.status_code < 500, f"{who} at {door} with {what}: {answer.text}"
            await client.aclose()
        assert await place.taken() == set()

    async def test_learn_nothing_of_what_exists(self, place: Place) -> None:
        never = "01890000-0000-7000-8000-000000000000"
        for client in (await place.clients()).values():
            for file_id in place.ids:
                told = []
                for one in (file_id, never):
                    answer = await client.post(f"/api/v1/flows/{place.flow_id}/runs", json=_start(of_file=one))
                    told.append((answer.status_code, answer.text.replace(one, "")))
                assert told[0] == told[1]
            await client.aclose()

    async def test_give_what_they_uploaded_themselves(self, place: Place) -> None:
        client = (await place.clients())["a key that runs and uploads"]
        upload = await client.post("/api/v1/files", files={"file": ("c.txt", b"mine", "text/plain")})
        assert upload.status_code == 201, upload.text
        answer = await client.post(f"/api/v1/flows/{place.flow_id}/runs", json=_start(of_file=upload.json()["id"]))
        assert answer.status_code == 201, answer.text
        run_id = answer.json()["id"]
        again = await client.post(f"/api/v1/flow-runs/{run_id}/rerun", json={"wait": True})
        assert answer.status_code == 201, again.text
        await client.aclose()

    async def test_rerun_no_run_with_files_that_they_may_not_see(self, place: Place) -> None:
        """Also not with those that the run was given: whoever runs it again could read them in what it makes."""
        file_id = min(place.ids)
        first = await place.us.make("admin", f"/flows/{place.flow_id}/runs", **_start(of_file=file_id), wait=True)
        client = (await place.clients())["a key that only runs"]
        others = sorted(place.ids - {file_id})
        for body in ({}, {"file_ids": [others[0]]}, {"form_data": {"of_file": others[0]}}):
            answer = await client.post(f"/api/v1/flow-runs/{first['id']}/rerun", json=body)
            assert (answer.status_code, answer.json()["code"]) == (404, "file_not_found")
        await client.aclose()


def _start(**answers: Any) -> dict[str, Any]:
    return {"form_data": answers, "version": "published"}


def _requests(place: Place, value: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """A request at each door of the API for each place that takes answers or files."""
    bodies: list[dict[str, Any]] = [
        {"file_ids": [value]},
        {"files": [value]},
        *({"form_data": one} for one in _answers(value) if not isinstance(next(iter(one.values())), list)),
    ]
    run, flow = f"/api/v1/flow-runs/{place.run_id}", f"/api/v1/flows/{place.flow_id}"
    chat = {"model": place.flow_id, "messages": [{"role": "user", "content": "x"}]}
    for body in bodies:
        yield f"{flow}/runs", {**body, "version": "published", "wait": True}
        yield f"{flow}/dry-run", {**body, "version": "published"}
        yield f"{run}/rerun", {**body, "wait": True}
        yield f"{run}/rerun-plan", body
        yield "/v1/chat/completions", {**chat, **body}


def _names_file(body: Mapping[str, Any]) -> bool:
    files = {f"of_{one}" for one in FILE_FIELD_TYPES}
    return "file_ids" in body or not files.isdisjoint(body.get("form_data", {}))


def _doors(route: RouteContext) -> Iterator[tuple[str, str]]:
    """The method and path of a route whose body takes answers or files."""
    written = route.original_route
    assert isinstance(written, APIRoute)
    for parameter in written.dependant.body_params:
        body: Any = parameter.field_info.annotation
        if RECEIVERS & _properties(TypeAdapter(body).json_schema()):
            for method in route.methods or ():
                yield method, str(route.path_format)


def _properties(schema: Mapping[str, Any]) -> set[str]:
    nested = schema.get("$defs", {}).values()
    return {name for one in (schema, *nested) for name in one.get("properties", {})}
